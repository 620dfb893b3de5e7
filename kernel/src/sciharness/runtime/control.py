"""Carrying runs on and looking at them: what commands and the Python API call."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciharness.contract.steps import plan_steps
from sciharness.errors import UsageError
from sciharness.export import build_export
from sciharness.plugins import Leasable, Plugins
from sciharness.runtime.delivery import deliver, export_files
from sciharness.runtime.loop import Interrupted, carry_on
from sciharness.runtime.session import Session
from sciharness.runtime.signals import Stop
from sciharness.runtime.state import RunState, fold
from sciharness.runtime.view import View, artifact_paths, run_view
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs
from sciharness.workers.pool import Workers
from sciharness_catalog.pins import Pin

Tell = Callable[[str], None]


def carry_run(
    home: Home,
    run_id: str,
    *,
    workers: int = 1,
    spend_holdout: bool = False,
    tell: Tell = lambda line: None,
    stop: Stop | None = None,
    hidden: tuple[Path, ...] = (),
    export_to: Path | None = None,
) -> None:
    """Carry a run to its terminal event and export it, or until it is asked to stop.

    ``hidden`` are folders beside the home that no worker may be able to read.

    Raises:
        UsageError: another living process works on it.
        IntegrityError: a pinned capability is no longer what it was.
        ContractError: workers could read the home or a hidden folder.
    """
    asked = stop or Stop()
    runs = Runs(home)
    runs.claim(run_id)
    try:
        state = fold(run_id, EventLog(home).read(run_id))
        leases = pinned_leases(home, state)
        root = home.workspaces / run_id
        with Workers(root / "pool", hidden=(home.path, *hidden)) as pool:
            pool.check_isolation()
            session = _session(home, state, leases, pool, asked, workers, spend_holdout, tell)
            session.record(("RunStarted", {"workers": workers}))
            carry_on(session)
            deliver(session)
        shutil.rmtree(root, ignore_errors=True)
        if export_to is not None:
            export_run(home, run_id, export_to)
    except Interrupted:
        return
    finally:
        runs.release(run_id)


def _session(
    home: Home,
    state: RunState,
    leases: dict[str, Leasable],
    pool: Workers,
    stop: Stop,
    workers: int,
    spend_holdout: bool,
    tell: Tell,
) -> Session:
    operations = {name: lease.operation for name, lease in leases.items()}
    types = {name: staged.type for name, staged in state.inputs.items()}
    return Session(
        home=home,
        log=EventLog(home),
        store=ArtifactStore(home),
        leases=leases,
        steps=plan_steps(state.contract, operations, types=types).steps,
        pool=pool,
        state=state,
        tell=tell,
        cancelled=lambda: stop.now,
        asked_to_stop=lambda: stop.asked,
        workers=workers,
        spend_holdout=spend_holdout,
    )


def pinned_leases(home: Home, state: RunState) -> dict[str, Leasable]:
    """Return the leases of a run, each of exactly the digest it was created with.

    Raises:
        HarnessError: naming the capability that is missing, changed or refused.
    """
    plugins = Plugins(home)
    return {name: plugins.lease(name, Pin.parse(text)) for name, text in state.pins.items()}


def state_of(home: Home, prefix: str) -> RunState:
    """Return the state of the run whose ID starts with ``prefix``.

    A run that says running while no living process owns it is interrupted.

    Raises:
        UsageError: no run fits, or several do.
    """
    run = Runs(home).find(prefix)
    state = fold(run.run_id, EventLog(home).read(run.run_id))
    if run.status == "interrupted":
        state.status = "interrupted"
    return state


def view_of(home: Home, prefix: str) -> tuple[View, RunState]:
    """Return what `show` prints of a run, with places of its artifacts, and its state."""
    state = state_of(home, prefix)
    view = run_view(state, artifact_paths(state, home.objects))
    if state.export is not None:
        view["export"] = str(home.path / state.export)
    return view, state


def export_run(home: Home, prefix: str, out: Path) -> Path:
    """Write the export of a run to a folder or ``.zip`` file and return it."""
    state = state_of(home, prefix)
    return build_export(
        home,
        state.run_id,
        out,
        state=run_view(state),
        files=export_files(EventLog(home), state.run_id),
        zip=out.suffix == ".zip",
        replace=True,
    )


def verify_run(home: Home, prefix: str) -> dict[str, Any]:  # Any: JSON values
    """Verify the chain of a run and every artifact that it names.

    Raises:
        IntegrityError: naming the first event or the artifact that is damaged.
    """
    run = Runs(home).find(prefix)
    head = EventLog(home).verify(run.run_id)
    store = ArtifactStore(home)
    state = fold(run.run_id, EventLog(home).read(run.run_id))
    digests = {item.sha256 for item in state.artifacts}
    for digest in sorted(digests):
        store.path(digest, verified=True)
    return {
        "run_id": run.run_id,
        "events": head.count,
        "head": head.hash,
        "artifacts": len(digests),
    }


def report_file(home: Home, prefix: str, name: str) -> Path:
    """Return the newest report of a run as a file with a readable name.

    Raises:
        UsageError: the run has no report of that name.
    """
    state = state_of(home, prefix)
    found = [item for item in state.artifacts if item.name == name and item.action >= 0]
    if not found:
        raise UsageError(
            f"the run has no {name}",
            where=state.run_id,
            hint="Reports are written at the end of a run; see `harness show`.",
        )
    if state.export is not None:
        exported = home.path / state.export / name
        if exported.is_file():
            return exported
    return ArtifactStore(home).path(found[-1].sha256)
