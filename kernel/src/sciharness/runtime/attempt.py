"""One proposal of the reasoner: through the gate, run, settled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sciharness.contract.steps import PlannedStep
from sciharness.errors import HarnessError, IntegrityError
from sciharness.failpoints import reach
from sciharness.plugins import Leasable
from sciharness.runtime import benchmarks, evaluation, execute, final_data
from sciharness.runtime.approval import require_approval
from sciharness.runtime.budget import Exhausted
from sciharness.runtime.completion import Ending
from sciharness.runtime.inputs import resolve
from sciharness.runtime.records import ActionRecord, to_plain
from sciharness.runtime.session import Session
from sciharness.runtime.settlement import failed, finished, ingest
from sciharness.runtime.stopping import action_stopped, stop_action
from sciharness.store.errors import DiskFullError, StorageError
from sciharness.workers.pool import ActionFailed

Request = Mapping[str, Any]  # Any: JSON values

_BY_SIGNAL = frozenset({"crash", "memory"})
_MOMENT = 0.2
_NO_ROOM = ("[Errno 28]", "No space left on device", "Disk quota exceeded")


def attempt(session: Session, step: PlannedStep, *, kept_actions: int = 0) -> Ending | None:
    """Check, run and settle one proposed step; return an ending if the run cannot go on.

    ``kept_actions`` stay reserved for reports.

    Raises:
        Stopped: the run was asked to stop in the middle of the action.
        StorageError: the disk failed; the action is not settled.
    """
    lease = session.leases.get(step.operation)
    request: Request = step.params
    if lease is not None:
        request, problems = execute.full_request(session, step, lease)
        if problems:
            refuse(session, step, request, "request", "; ".join(map(str, problems)))
            return None
    refusal = execute.refused(session, step, request)
    if refusal is not None:
        refuse(session, step, request, refusal.reason, refusal.message)
        return None
    assert lease is not None
    exhausted = execute.lacking(session, lease, kept_actions=kept_actions)
    if exhausted is not None:
        return Ending(exhausted=exhausted)
    return _run_step(session, step, lease, request)


def refuse(
    session: Session, step: PlannedStep, request: Request, reason: str, message: str
) -> None:
    """Record that a proposal was refused, and tell the person."""
    record = ActionRecord(
        index=-1,
        step=step.id,
        capability=step.operation,
        status="refused",
        request=dict(request),
        reason=reason,
        message=message,
    )
    session.tell(f"refused: {step.id}: {message}")
    session.record(("ActionRefused", {"action": to_plain(record)}))


def _run_step(
    session: Session, step: PlannedStep, lease: Leasable, request: Request
) -> Ending | None:
    record: ActionRecord | None = None
    try:
        if step.kind in {"final_evaluation", "visible_evaluation"}:
            record = execute.begin(session, step, lease, request, {})
            evaluation.evaluate(session, record, step)
        elif step.kind == "final_data":
            record = execute.begin(session, step, lease, request, {})
            final_data.make_final_data(session, record, step, lease)
        else:
            inputs = resolve(session, step, lease.operation)
            require_approval(session, step, lease.operation, inputs)
            record = execute.begin(session, step, lease, request, inputs)
            if benchmarks.is_benchmark(lease.operation):
                benchmarks.run_benchmark(session, record, step, lease, inputs)
            else:
                plain_action(session, record, lease, inputs)
    except StorageError:
        raise
    except HarnessError as fault:
        if record is None:
            record = execute.begin(session, step, lease, request, {})
        return settle_failure(session, record, fault)
    reach("action.settled", record.index)
    return None


def plain_action(
    session: Session,
    record: ActionRecord,
    lease: Leasable,
    inputs: Mapping[str, Any],  # Any: Input records
    *,
    paid: bool = False,
    unhurried: bool = False,
) -> None:
    """Run an action that is no evaluation, and settle it.

    A ``paid`` one takes no further action from the budget; an ``unhurried`` one
    is not bound by what is left of the run's wall time.
    """
    job = execute.job_for(session, record, lease, inputs, unhurried=unhurried)
    result, usage = execute.work(session, record, job)
    if paid:
        del usage["actions"]
    references = ingest(session, record, result)
    event = finished(record, result, usage, references, group=lease.operation.group)
    session.record(*session.judged([event]))


def settle_failure(
    session: Session, record: ActionRecord, fault: HarnessError, *, paid: bool = False
) -> Ending | None:
    """Record how an action failed; return an ending if the run cannot go on after it.

    Raises:
        Stopped: it did not fail, it was stopped on request.
        StorageError: it failed for want of room on the disk.
    """
    charged = getattr(fault, "usage", None) or {}
    cpu_seconds = getattr(fault, "cpu_seconds", 0.0)
    reason = fault.reason if isinstance(fault, ActionFailed) else fault.kind
    if reason == "cancelled" or (reason in _BY_SIGNAL and _ends_with_us(session)):
        stop_action(session, record, charged, cpu_seconds)
    if isinstance(fault, ActionFailed) and _no_room(fault):
        raise DiskFullError(
            "no room is left on the disk", where=record.step, hint="Make room on the disk."
        ) from fault
    out_of_time = _out_of_time(session) if reason == "timeout" else None
    if out_of_time is not None:
        # The budget ended it, not a fault of its own: it runs again once there is more.
        session.tell(f"stopped: {record.step}: {out_of_time}")
        session.record(action_stopped(session, record, "budget", charged, cpu_seconds))
        return Ending(exhausted=out_of_time)
    session.tell(f"failed: {record.step}: {fault}")
    session.record(failed(session, record, fault, paid=paid))
    reach("action.settled", record.index)
    return Ending(fault=fault) if isinstance(fault, IntegrityError) else None


def _ends_with_us(session: Session) -> bool:
    """Whether a worker that died did so because all of this run is being ended.

    A shutdown, or a batch system, signals every process at once; the worker's
    end may be seen a moment before our own signal is.
    """
    time.sleep(_MOMENT)
    return session.cancelled()


def _out_of_time(session: Session) -> Exhausted | None:
    found = session.state.budget.lacking({}, session.meter.running())
    return found if found is not None and found.key == "wall_time" else None


def _no_room(fault: ActionFailed) -> bool:
    return any(sign in fault.message or sign in fault.detail for sign in _NO_ROOM)
