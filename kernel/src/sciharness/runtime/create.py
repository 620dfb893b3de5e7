"""Creating a run: review, lock, inputs staged and sealed, one first durable step."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from sciharness.contract.inputs import InputFacts
from sciharness.contract.lock import check_lock, contract_digest, lock_path, write_lock
from sciharness.contract.read import examine_contract
from sciharness.contract.records import Contract
from sciharness.errors import DataError
from sciharness.failpoints import reach
from sciharness.plugins import Leasable
from sciharness.runtime.records import to_plain
from sciharness.runtime.review import Review, pins_of, review_contract
from sciharness.runtime.staging import Staged, stage_input
from sciharness.runtime.state import fold
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import TERMINAL, Run, Runs
from sciharness.store.vault import Vault
from sciharness.workers.confinement import probe
from sciharness.workers.pool import Workers
from sciharness_catalog.dependencies import dependency_versions

Tell = Callable[[str], None]


def create_run(home: Home, path: Path, *, tell: Tell = lambda line: None) -> str:
    """Check a contract, pin it, stage its inputs, and return the ID of a new run.

    Nothing is left behind if it is refused. ``contract.lock`` is written
    beside the contract, or compared if it is there.

    Raises:
        HarnessError: of the kind that the problems stand for.
    """
    review = review_contract(home, path)
    for warning in review.warnings:
        tell(f"warning: {warning}")
    review.check()
    lock = review.lock()
    check_lock(lock_path(path), lock, str(path))
    contract = review.reading.contract
    assert contract is not None and review.preflight is not None
    scratch = Path(tempfile.mkdtemp(prefix="stage-", dir=home.temporary))
    try:
        check_isolation(home, scratch / "pool", path.resolve().parent)
        staged = [
            stage_input(home, contract, facts, path.parent, scratch)
            for facts in review.preflight.inputs
        ]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    write_lock(lock_path(path), lock, str(path))
    return _record(home, path, review, contract, staged)


def _record(
    home: Home, path: Path, review: Review, contract: Contract, staged: list[Staged]
) -> str:
    assert review.reading.document is not None
    digest = contract_digest(review.reading.document)
    created = {
        "contract": to_plain(contract),
        "contract_name": path.name,
        "contract_text": path.read_text("utf-8"),
        "contract_digest": digest,
        "pins": pins_of(review.leases),
        "parts": review.parts,
        "publishers": {name: str(one.pin) for name, one in sorted(review.publishers.items())},
        "lock": review.lock().to_text(),
        "versions": versions({**review.leases, **review.roles}),
        "label_isolation": probe(),
        "warnings": [str(item) for item in review.warnings],
    }
    events = [("RunCreated", created), *(item.event() for item in staged)]
    reach("run.staged")
    with home.writing() as tx:
        run_id = Runs(home).new_run_id(tx)
        EventLog(home).create(
            run_id,
            events,
            projection={"title": contract.title, "contract": digest, "status": "created"},
            tx=tx,
        )
        for item in staged:
            if item.vault_key:
                Vault(home).bind(run_id, item.staged.name, item.vault_key, tx=tx)
    reach("run.created")
    return run_id


def check_isolation(home: Home, root: Path, *hidden: Path) -> None:
    """Confirm that no worker could read the home or one of the ``hidden`` folders.

    Raises:
        ContractError: one lies beneath a folder that workers may read.
    """
    with Workers(root, hidden=(home.path, *hidden)) as pool:
        pool.check_isolation()


def versions(leases: Mapping[str, Leasable]) -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "sciharness": version("sciharness"),
        "sciharness-catalog": version("sciharness-catalog"),
    }
    for lease in leases.values():
        distribution = lease.package().package.distribution
        found[distribution] = lease.pin.version
        found.update(dependency_versions(distribution))
    return dict(sorted(found.items()))


def unfinished_run(home: Home, path: Path, tell: Tell = lambda line: None) -> str | None:
    """Return the newest unfinished run of the same contract and inputs, or ``None``.

    A run whose inputs differ from the files of today is not continued; which
    one changed is told.
    """
    reading = examine_contract(path)
    if reading.document is None or reading.contract is None:
        return None
    runs = Runs(home).listing(contract_digest(reading.document))
    waiting = [run for run in runs if run.status not in TERMINAL or run.delivery == "pending"]
    if not waiting:
        _tell_of_more(runs[-1:], tell)
        return None
    newest = waiting[-1]
    changed = _changed_inputs(home, newest.run_id, path.parent)
    if changed:
        tell(
            f"the unfinished run {newest.run_id} is left as it is:"
            f" {', '.join(changed)} changed since; a new run starts"
        )
        return None
    return newest.run_id


def _tell_of_more(newest: list[Run], tell: Tell) -> None:
    for run in newest:
        if run.status == "budget_exhausted":
            tell(
                f"run {run.run_id} of this contract ended at its budget; `harness budget"
                f" {run.run_id} --add KEY=N` goes on with it; a new run starts"
            )


def _changed_inputs(home: Home, run_id: str, folder: Path) -> list[str]:
    from sciharness.contract.inputs import input_facts

    state = fold(run_id, EventLog(home).read(run_id))
    changed = []
    for item in state.contract.inputs:
        try:
            facts: InputFacts | None = input_facts(item.name, folder / item.path)
        except DataError:
            facts = None
        if facts is None or facts.sha256 != state.inputs[item.name].sha256:
            changed.append(item.name)
    return changed
