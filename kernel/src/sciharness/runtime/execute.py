"""One action: gate, worker, settlement."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from sciharness.contract.artifact_types import canonical_type
from sciharness.contract.steps import PlannedStep
from sciharness.errors import HarnessError
from sciharness.plugin import Input
from sciharness.plugins import Leasable
from sciharness.requests import apply_defaults, check_request, split_common
from sciharness.runtime import gate
from sciharness.runtime.budget import Exhausted, reservation
from sciharness.runtime.criteria import MetricValue
from sciharness.runtime.inputs import clean, input_digests
from sciharness.runtime.progress import progress_line
from sciharness.runtime.records import VERIFICATION, ActionRecord, ArtifactRef, to_plain
from sciharness.runtime.redact import redact, redact_all
from sciharness.runtime.session import NewEvent, Session
from sciharness.store.artifacts import artifact_id
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
        or gate.check_constraints(contract, step.operation, request)
        or gate.check_workflow(contract, [item.type for item in lease.operation.outputs])
    )


def lacking(session: Session, lease: Leasable, *, kept_actions: int = 0) -> Exhausted | None:
    """Return the limit that leaves no room for an action; ``kept_actions`` stay reserved."""
    need = reservation(lease.operation)
    need["actions"] += kept_actions
    return session.state.budget.lacking(need)


def begin(
    session: Session,
    step: PlannedStep,
    lease: Leasable,
    request: Mapping[str, Any],
    inputs: Mapping[str, Input],
) -> ActionRecord:
    """Record that an action starts; from now on it is either settled or interrupted."""
    record = ActionRecord(
        index=len(session.state.settled),
        step=step.id,
        capability=step.operation,
        status="started",
        pin=str(lease.pin),
        request=request,
        inputs=input_digests(inputs),
    )
    session.record(("ActionStarted", {"action": to_plain(record)}))
    session.tell(f"[{record.index + 1}] {step.id}: {step.operation}")
    return record


def job_for(
    session: Session,
    record: ActionRecord,
    lease: Leasable,
    inputs: Mapping[str, Input],
    *,
    final: bool = False,
) -> Job:
    """Return the job of an action for the worker pool."""
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
        time_limit=_time_limit(session, common.get("time_limit")),
        wall_limit=_wall_limit(session, common.get("time_limit")),
        # A worker that is used again could remember what it must not know later.
        fresh=lease.operation.kind == "evaluator" or _sees_verification(inputs),
        private=final,
    )


def _time_limit(session: Session, asked: float | None) -> float | None:
    left = session.state.budget.remaining("wall_time")
    known = [limit for limit in (asked, left) if limit is not None]
    return min(known) if known else None


def _wall_limit(session: Session, asked: float | None) -> float | None:
    left = session.state.budget.remaining("wall_time")
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
    started = time.monotonic()
    last = [0.0]

    def hear(message: Mapping[str, Any]) -> None:  # Any: JSON values
        now = time.monotonic()
        if "progress" in message and now - last[0] >= 1.0:
            last[0] = now
            _progress(session, record, message["progress"], now - started)

    result = canonical(session.pool.run(job, hear, session.cancelled))
    usage = usage_of(result.usage, result.seconds, result.cpu_seconds, result)
    if session.cancelled():
        raise ActionFailed("was stopped", reason="cancelled")
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


def usage_of(
    charged: Mapping[str, float], seconds: float, cpu_seconds: float, result: JobResult | None
) -> dict[str, float]:
    """Return the full usage of an action in budget keys."""
    usage = {"actions": 1.0, "wall_time": seconds}
    if cpu_seconds:
        usage["cpu_hours"] = cpu_seconds / 3600.0
    for key, amount in charged.items():
        usage[key] = usage.get(key, 0.0) + amount
    if result is None:
        usage["failures"] = 1.0
    elif any(item.type == "model" for item in result.artifacts):
        usage["training_runs"] = usage.get("training_runs", 0.0) + 1.0
    return usage


def _progress(
    session: Session, record: ActionRecord, progress: Mapping[str, Any], elapsed: float
) -> None:  # Any: JSON values
    session.tell(f"    {progress_line(progress, elapsed)}")
    session.record(("ActionProgress", {"index": record.index, **redact_all(progress)}))


def ingest(session: Session, record: ActionRecord, result: JobResult) -> list[ArtifactRef]:
    """Store the artifacts of a result and return their references, ordered by name."""
    references = []
    for produced in sorted(result.artifacts, key=lambda item: item.name):
        blob = session.store.ingest(produced.path)
        references.append(
            ArtifactRef(
                id=artifact_id(produced.type, produced.name, blob.sha256, record.index),
                name=produced.name,
                type=produced.type,
                sha256=blob.sha256,
                size=blob.size,
                action=record.index,
                step=record.step,
            )
        )
    return references


def finished(
    record: ActionRecord,
    result: JobResult,
    usage: Mapping[str, float],
    artifacts: list[ArtifactRef],
    *,
    trusted: frozenset[str] = frozenset(),
    undefined: Mapping[str, str] | None = None,
    group: str = "",
) -> NewEvent:
    """Return the event that settles a finished action."""
    spent = dict(usage)
    if group == "domain experiments":
        spent["experiments"] = spent.get("experiments", 0.0) + 1.0
    settled = evolve(
        record,
        status="finished",
        notes=tuple(redact(note) for note in result.notes),
        usage=spent,
        seconds=round(result.seconds, 3),
    )
    metrics = [
        MetricValue(
            name=name,
            value=value,
            source="trusted" if name in trusted else "reported",
            capability=record.capability,
            action=record.index,
        )
        for name, value in sorted(result.metrics.items())
    ]
    return (
        "ActionFinished",
        {
            "action": to_plain(settled),
            "artifacts": to_plain(artifacts),
            "metrics": to_plain(metrics),
            "undefined": dict(undefined or {}),
        },
    )


def failed(record: ActionRecord, fault: HarnessError, seconds: float) -> NewEvent:
    """Return the event that settles a failed action with its typed reason."""
    reason = fault.reason if isinstance(fault, ActionFailed) else fault.kind
    detail = fault.detail if isinstance(fault, ActionFailed) else ""
    charged = getattr(fault, "usage", {}) or {}
    settled = evolve(
        record,
        status="failed",
        reason=reason,
        message=redact(fault.message),
        usage=usage_of(charged, seconds, getattr(fault, "cpu_seconds", 0.0), None),
        seconds=round(seconds, 3),
    )
    return ("ActionFailed", {"action": to_plain(settled), "detail": redact(detail)})
