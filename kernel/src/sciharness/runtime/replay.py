"""Replay: the recorded actions run again, their artifacts compared byte by byte.

Each action gets the inputs, the request and the pins that the record names, so
that a difference in one does not spread to those after it. A final evaluation
is made again by the same frozen predictor, which looks at nothing new; nothing
is recorded, counted or charged.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from sciharness.contract.steps import FINAL_DATA, FINAL_EVALUATION, VISIBLE_EVALUATION, PlannedStep
from sciharness.errors import IntegrityError
from sciharness.runtime import execute
from sciharness.runtime.budget import Budget
from sciharness.runtime.control import Manner, open_session, pinned_leases
from sciharness.runtime.evaluation import judge_visible, labelled_input
from sciharness.runtime.final import freeze, ledger_key
from sciharness.runtime.final_data import generate
from sciharness.runtime.inputs import resolve
from sciharness.runtime.judging import judge_frozen
from sciharness.runtime.records import ActionRecord, ArtifactRef
from sciharness.runtime.session import NewEvent, Session
from sciharness.runtime.staging import LABELS
from sciharness.runtime.state import RunState
from sciharness.store._files import hash_file
from sciharness.store.home import Home, Transaction
from sciharness.store.ledger import Ledger
from sciharness.store.vault import Vault
from sciharness.workers.pool import ActionFailed, JobResult, Workers

EQUAL, DIFFERENT, LISTED, FAILED = "equal", "different", "not compared", "failed"

# Times, or what holds times: they are listed, never compared.
UNCOMPARED = frozenset({"scientific_report", "environment", "benchmark_result"})
_BENCHMARK = "benchmark_result"
_RECEIPT = "predictor.evaluation"

Digests = dict[str, str]


@frozen
class Compared:
    """One artifact or metric of an action: what the record has, and what came now."""

    name: str
    type: str
    recorded: str | float | None
    replayed: str | float | None
    verdict: str


@frozen
class ReplayedAction:
    """One action with the comparison of all that it gave."""

    index: int
    step: str
    capability: str
    verdict: str
    reason: str
    seed: Any  # Any: a JSON value of the request
    workers: Any
    results: tuple[Compared, ...] = ()


@define
class _Rehearsal(Session):
    """A session that leaves the record alone and works in a folder of its own."""

    place: Path = Path()

    def record(self, *events: NewEvent, tx: Transaction | None = None) -> None:
        """Record nothing."""

    def look(self) -> None:
        """Hear nothing: asks are for the run itself."""

    @property
    def folder(self) -> Path:
        """The folder of this replay."""
        return self.place


def replay_run(home: Home, state: RunState, manner: Manner) -> Iterator[ReplayedAction]:
    """Run the recorded actions of a run again and yield each with its comparison.

    Raises:
        IntegrityError: a pin or a recorded input is no longer what it was.
    """
    leases = pinned_leases(home, state)
    place = Path(tempfile.mkdtemp(prefix="replay-", dir=home.workspaces))
    try:
        with Workers(place / "pool", hidden=(home.path, *manner.hidden)) as pool:
            # Without limits: what was left of a budget is no part of what is repeated.
            free = evolve(state, budget=Budget({}))
            session = open_session(home, free, None, leases, pool, manner, kind=_Rehearsal)
            session.place = place
            steps = {step.id: step for step in session.steps}
            for record in state.settled:
                yield _replayed(session, steps.get(record.step), record)
                if session.stop.asked:
                    return
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _replayed(session: Session, step: PlannedStep | None, record: ActionRecord) -> ReplayedAction:
    session.tell(f"[{record.index + 1}] {record.step}: {record.capability}")
    recorded = [
        item for item in session.state.artifacts_of(record.step) if item.action == record.index
    ]
    if step is None or record.status == "failed":
        why = "it failed in the run" if step is not None else "it is no step of the plan"
        return _verdict(record, LISTED, why)
    if step.kind == "report":
        listed = (Compared(a.name, a.type, a.sha256, None, LISTED) for a in recorded)
        return _verdict(record, LISTED, "a report is not compared", tuple(listed))
    try:
        digests, result = _again(session, step, record)
    except ActionFailed as fault:
        return _verdict(record, FAILED, str(fault))
    results = (*_compare(recorded, digests), *_compare_metrics(session.state, record, result))
    differ = any(item.verdict == DIFFERENT for item in results)
    return _verdict(record, DIFFERENT if differ else EQUAL, _limited(record, result), results)


def _again(session: Session, step: PlannedStep, record: ActionRecord) -> tuple[Digests, JobResult]:
    lease = session.leases[record.capability]
    digests: Digests = {}
    if step.kind == FINAL_EVALUATION:
        result = _judged_again(session, step, record)
    elif step.kind == VISIBLE_EVALUATION:
        result, _ = judge_visible(session, record, step)
    elif step.kind == FINAL_DATA:
        made, _ = generate(session, record, step, lease)
        assert made.prepared.final_inputs is not None and made.prepared.labels is not None
        digests["final_inputs.csv"] = hash_file(made.prepared.final_inputs).sha256
        _check_labels(session, step, made.prepared.labels)
        result = made.result
    else:
        inputs = resolve(session, step, lease.operation)
        job = execute.job_for(session, record, lease, inputs)
        result, _ = execute.work(session, record, job)
    digests.update({item.name: hash_file(item.path).sha256 for item in result.artifacts})
    return digests, result


def _judged_again(session: Session, step: PlannedStep, record: ActionRecord) -> JobResult:
    staged = labelled_input(session, step)
    predictor = freeze(session, step.id, step.bindings["predictor"].name, staged)
    known = [
        look
        for look in Ledger(session.home).looks(ledger_key(staged))
        if look.predictor == predictor.digest
    ]
    if not known:
        raise IntegrityError(
            "the ledger knows no look by this predictor, and a replay makes none",
            where=f"steps.{step.id}",
        )
    last = known[0].look >= session.state.contract.holdout.max_queries
    return judge_frozen(session, record, predictor, staged, last=last)[0]


def _check_labels(session: Session, step: PlannedStep, labels: Path) -> None:
    vault = Vault(session.home)
    key = vault.key_of(session.state.run_id, step.id)
    sealed = None if key is None else hash_file(vault.path(key, LABELS)).sha256
    if hash_file(labels).sha256 != sealed:
        raise ActionFailed("the labels made now are others than those sealed in the run")


def _compare(recorded: list[ArtifactRef], digests: Digests) -> Iterator[Compared]:
    kinds = {item.name: item.type for item in recorded}
    before = {item.name: item.sha256 for item in recorded}
    binds_times = _BENCHMARK in kinds.values()
    for name in sorted(before.keys() | digests.keys()):
        kind = kinds.get(name, "")
        listed = kind in UNCOMPARED or (binds_times and kind == _RECEIPT)
        equal = before.get(name) == digests.get(name)
        verdict = LISTED if listed else (EQUAL if equal else DIFFERENT)
        yield Compared(name, kind, before.get(name), digests.get(name), verdict)


def _compare_metrics(
    state: RunState, record: ActionRecord, result: JobResult
) -> Iterator[Compared]:
    if any(item.type == _BENCHMARK for item in result.artifacts):
        return
    before = {item.name: item.value for item in state.metrics if item.action == record.index}
    for name in sorted(before.keys() | result.metrics.keys()):
        then, now = before.get(name), result.metrics.get(name)
        yield Compared(name, "metric", then, now, EQUAL if then == now else DIFFERENT)


def _limited(record: ActionRecord, result: JobResult) -> str:
    """Return what made the action depend on the clock, if anything did."""
    asked = record.request.get("time_limit")
    if record.limited:
        return f"in the run the clock stopped it, after {record.time_limit:g} s"
    if asked is not None and result.seconds >= float(asked):
        return f"this time the clock stopped it, after {float(asked):g} s"
    return ""


def _verdict(
    record: ActionRecord, verdict: str, reason: str, results: tuple[Compared, ...] = ()
) -> ReplayedAction:
    return ReplayedAction(
        index=record.index,
        step=record.step,
        capability=record.capability,
        verdict=verdict,
        reason=reason,
        seed=record.request.get("seed"),
        workers=record.request.get("workers"),
        results=results,
    )
