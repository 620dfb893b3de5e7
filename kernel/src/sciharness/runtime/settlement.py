"""Settling an action: what it has cost, its artifacts in the store, the event that says so."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from sciharness.errors import HarnessError
from sciharness.failpoints import reach
from sciharness.runtime.criteria import MetricValue
from sciharness.runtime.records import ActionRecord, ArtifactRef, to_plain
from sciharness.runtime.redact import redact
from sciharness.runtime.session import NewEvent, Session
from sciharness.store.artifacts import artifact_id
from sciharness.workers.pool import ActionFailed, JobResult


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
    reach("action.ingested", record.index)
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


def failed(
    session: Session, record: ActionRecord, fault: HarnessError, *, paid: bool = False
) -> NewEvent:
    """Return the event that settles a failed action with its typed reason."""
    reason = fault.reason if isinstance(fault, ActionFailed) else fault.kind
    detail = fault.detail if isinstance(fault, ActionFailed) else ""
    charged = getattr(fault, "usage", {}) or {}
    seconds = session.meter.take()
    usage = usage_of(charged, seconds, getattr(fault, "cpu_seconds", 0.0), None)
    if paid:
        del usage["actions"]
    settled = evolve(
        record,
        status="failed",
        reason=reason,
        message=redact(fault.message),
        usage=usage,
        seconds=round(seconds, 3),
    )
    return ("ActionFailed", {"action": to_plain(settled), "detail": redact(detail)})
