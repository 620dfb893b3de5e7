"""One action: from a planned step through the gate to a worker and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from sciharness.contract.artifact_types import canonical_type
from sciharness.contract.steps import PlannedStep
from sciharness.failpoints import reach
from sciharness.plugin import Input
from sciharness.plugins import Leasable
from sciharness.requests import apply_defaults, check_request, split_common
from sciharness.runtime import gate
from sciharness.runtime.budget import Exhausted, reservation
from sciharness.runtime.deliverables import fault_of
from sciharness.runtime.executing import launch_for
from sciharness.runtime.hearing import Hearing
from sciharness.runtime.inputs import clean, input_digests
from sciharness.runtime.jobs import run_job
from sciharness.runtime.records import VERIFICATION, ActionRecord, to_plain
from sciharness.runtime.session import Session
from sciharness.runtime.settlement import usage_of
from sciharness.workers.pool import ActionFailed, Job, JobResult

_GRACE_SECONDS = 1.5


def full_request(
    session: Session, step: PlannedStep, lease: Leasable
) -> tuple[dict[str, Any], list[Any]]:  # Any: JSON values; problem records
    """Return the request of a step with all defaults, and what is wrong with it."""
    schema = lease.operation.request_schema
    problems = list(check_request(schema, step.params))
    if problems:
        return dict(step.params), problems
    request = apply_defaults(schema, step.params)
    request.setdefault("seed", session.state.contract.seed)
    request.setdefault("workers", session.workers)
    return request, []


def refused(session: Session, step: PlannedStep, request: Mapping[str, Any]) -> gate.Refusal | None:
    """Return why the gate refuses a proposed action, or ``None``."""
    contract = session.state.contract
    lease = session.leases.get(step.operation)
    if lease is None:
        return gate.check_lease(contract, step.operation) or gate.Refusal(
            "lease", f"{step.operation} is not available"
        )
    return (
        gate.check_lease(contract, step.operation)
        or gate.check_permission(contract, lease.operation.permission)
        or gate.check_constraints(contract, step.operation, request)
        or gate.check_workflow(contract, [item.type for item in lease.operation.outputs])
    )


def lacking(session: Session, lease: Leasable, *, kept_actions: int = 0) -> Exhausted | None:
    """Return the limit that leaves no room for an action; ``kept_actions`` stay reserved."""
    need = reservation(lease.operation)
    need["actions"] += kept_actions
    if session.state.asks_reasoner:
        del need["reasoner_calls"]  # counted when it was asked
    found = session.state.budget.lacking(need, session.meter.running())
    kept = kept_actions if found is not None and found.key == "actions" else 0
    return evolve(found, kept=float(kept)) if found is not None and kept else found


def begin(
    session: Session,
    step: PlannedStep,
    lease: Leasable,
    request: Mapping[str, Any],
    inputs: Mapping[str, Input],
    *,
    paid: bool = False,
) -> ActionRecord:
    """Record that an action starts and what is reserved for it.

    From now on it is either settled or stopped. A ``paid`` one was counted
    when it ran the first time.
    """
    record = ActionRecord(
        index=len(session.state.settled),
        step=step.id,
        capability=step.operation,
        status="started",
        pin=str(lease.pin),
        request=request,
        inputs=input_digests(inputs),
        time_limit=_time_limit(request.get("time_limit"), _time_left(session)),
    )
    body: dict[str, Any] = {"action": to_plain(record)}  # Any: JSON values
    body.update({"paid": True} if paid else {"reserved": reservation(lease.operation)})
    session.record(("ActionStarted", body))
    reach("action.begun", record.index)
    session.tell(f"[{record.index + 1}] {step.id}: {step.operation}")
    return record


def job_for(
    session: Session,
    record: ActionRecord,
    lease: Leasable,
    inputs: Mapping[str, Input],
    *,
    final: bool = False,
    unhurried: bool = False,
) -> Job:
    """Return the job of an action for the worker pool.

    An ``unhurried`` one is not bound by what is left of the run's wall time.
    """
    left = None if unhurried else _time_left(session)
    request, common = split_common(lease.operation.request_schema, record.request)
    workspace = session.workspace(record.index)
    clean(workspace)
    return Job(
        pin=lease.pin,
        operation=lease.operation,
        package=lease.package(),
        request=request,
        inputs=inputs,
        workspace=workspace,
        seed=int(common["seed"]),
        workers=int(common["workers"]),
        time_limit=_time_limit(common.get("time_limit"), left),
        wall_limit=_wall_limit(common.get("time_limit"), left),
        # A worker that is used again could remember what it must not know later.
        fresh=lease.operation.kind == "evaluator" or _sees_verification(inputs),
        private=final,
        launch=launch_for(session, record, lease.operation),
    )


def _time_left(session: Session) -> float | None:
    left = session.state.budget.remaining("wall_time")
    return None if left is None else max(0.0, left - session.meter.running())


def _time_limit(asked: float | None, left: float | None) -> float | None:
    known = [limit for limit in (asked, left) if limit is not None]
    return min(known) if known else None


def _wall_limit(asked: float | None, left: float | None) -> float | None:
    if left is None:
        return None
    # The operation is asked to stop when the time is up, and ended a moment later.
    own = asked * 1.25 + 10.0 if asked is not None else left
    return min(own, left) + _GRACE_SECONDS


def _sees_verification(inputs: Mapping[str, Input]) -> bool:
    return any(item.meta.get("view") == VERIFICATION for item in inputs.values())


def work(session: Session, record: ActionRecord, job: Job) -> tuple[JobResult, dict[str, float]]:
    """Run a job and return its result with the usage to settle.

    What an operation gives after the person stopped it at once is not kept:
    the action runs again when the run is resumed.

    Raises:
        ActionFailed: with the usage of the failed attempt in ``usage``.
    """
    given = run_job(session.pool, job, Hearing(session, record), session.cancelled)
    result = without_faults(canonical(given))
    reach("action.worked", record.index)
    seconds = session.meter.take()
    usage = usage_of(result.usage, seconds, result.cpu_seconds, result)
    if session.cancelled():
        raise ActionFailed(
            "was stopped", reason="cancelled", usage=result.usage, cpu_seconds=result.cpu_seconds
        )
    refusal = gate.check_workflow(session.state.contract, [item.type for item in result.artifacts])
    if refusal is not None:  # an artifact that the operation did not declare
        raise ActionFailed(
            refusal.message,
            reason="bad_artifact",
            usage=result.usage,
            cpu_seconds=result.cpu_seconds,
        )
    return result, usage


def canonical(result: JobResult) -> JobResult:
    """Return a result with the types of its artifacts in canonical spelling."""
    artifacts = (evolve(item, type=canonical_type(item.type)) for item in result.artifacts)
    return evolve(result, artifacts=tuple(artifacts))


def without_faults(result: JobResult) -> JobResult:
    """Return a result without the files that cannot be delivered; notes say which and why."""
    faults = {item.name: fault_of(item.type, item.path) for item in result.artifacts}
    notes = [f"{name} is not kept: {fault}" for name, fault in faults.items() if fault]
    kept = (item for item in result.artifacts if not faults[item.name])
    return evolve(result, artifacts=tuple(kept), notes=(*result.notes, *notes))
