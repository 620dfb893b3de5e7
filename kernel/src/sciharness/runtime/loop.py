"""The research loop: propose, gate, run, settle, judge, report, end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from attrs import define

from sciharness.contract.steps import PlannedStep
from sciharness.errors import HarnessError, IntegrityError
from sciharness.plugins import Leasable
from sciharness.runtime import evaluation, execute
from sciharness.runtime.budget import Exhausted
from sciharness.runtime.completion import close_run, foreseen_status
from sciharness.runtime.inputs import report_inputs, resolve
from sciharness.runtime.plain_report import plain_report
from sciharness.runtime.recipe import Finish, next_step
from sciharness.runtime.records import ActionRecord, ArtifactRef, to_plain
from sciharness.runtime.redact import redact
from sciharness.runtime.session import Session
from sciharness.runtime.view import View, report_view
from sciharness.store.artifacts import artifact_id
from sciharness.workers.pool import ActionFailed

PLAIN_REPORT = "report"


class Interrupted(Exception):
    """The person asked the run to stop; it can be resumed."""


@define
class Ending:
    """How the research part of a run ended, before report and terminal event."""

    exhausted: Exhausted | None = None
    fault: HarnessError | None = None
    message: str = ""


def carry_on(session: Session) -> None:
    """Take a run from where its record stands to its terminal event.

    Raises:
        Interrupted: the run was asked to stop; the record says `interrupted`.
    """
    ending = _research(session)
    _report(session, ending)
    close_run(session, ending.exhausted, ending.fault, ending.message)


def _research(session: Session) -> Ending:
    while True:
        _stop_if_asked(session)
        proposal = next_step(
            [step for step in session.steps if step.kind != "report"], session.state
        )
        if isinstance(proposal, Finish):
            return Ending(message=proposal.message)
        ending = _attempt(session, proposal)
        if ending is not None:
            return ending


def _stop_if_asked(session: Session) -> None:
    if session.asked_to_stop() or session.cancelled():
        session.record(("RunInterrupted", {"reason": "asked to stop"}))
        raise Interrupted


def _attempt(session: Session, step: PlannedStep) -> Ending | None:
    lease = session.leases.get(step.operation)
    request: Mapping[str, Any] = step.params  # Any: JSON values
    if lease is not None:
        request, problems = execute.full_request(session, step, lease)
        if problems:
            _refuse(session, step, request, "request", "; ".join(map(str, problems)))
            return None
    refusal = execute.refused(session, step, request)
    if refusal is not None:
        _refuse(session, step, request, refusal.reason, refusal.message)
        return None
    assert lease is not None
    kept = 1 if any(item.kind == "report" for item in session.steps) else 0
    exhausted = execute.lacking(session, lease, kept_actions=kept)
    if exhausted is not None:
        return Ending(exhausted=exhausted)
    fault = _run_step(session, step, lease, request)
    return Ending(fault=fault) if isinstance(fault, IntegrityError) else None


def _refuse(
    session: Session, step: PlannedStep, request: Mapping[str, Any], reason: str, message: str
) -> None:  # Any: JSON values
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
    session: Session, step: PlannedStep, lease: Leasable, request: Mapping[str, Any]
) -> HarnessError | None:  # Any: JSON values
    started = time.monotonic()
    record: ActionRecord | None = None
    try:
        if step.kind in {"final_evaluation", "visible_evaluation"}:
            record = execute.begin(session, step, lease, request, {})
            evaluation.evaluate(session, record, step)
        elif step.kind == "final_data":
            record = execute.begin(session, step, lease, request, {})
            evaluation.make_final_data(session, record, step, lease)
        else:
            inputs = resolve(session, step, lease.operation)
            record = execute.begin(session, step, lease, request, inputs)
            _plain_action(session, record, lease, inputs)
    except HarnessError as fault:
        _settle_failure(session, step, lease, request, record, fault, time.monotonic() - started)
        return fault
    return None


def _plain_action(
    session: Session, record: ActionRecord, lease: Leasable, inputs: Mapping[str, Any]
) -> None:  # Any: Input records
    job = execute.job_for(session, record, lease, inputs)
    result, usage = execute.work(session, record, job)
    references = execute.ingest(session, record, result)
    event = execute.finished(record, result, usage, references, group=lease.operation.group)
    session.record(*session.judged([event]))


def _settle_failure(
    session: Session,
    step: PlannedStep,
    lease: Leasable,
    request: Mapping[str, Any],
    record: ActionRecord | None,
    fault: HarnessError,
    seconds: float,
) -> None:
    if isinstance(fault, ActionFailed) and fault.reason == "cancelled":
        session.record(("RunInterrupted", {"reason": "stopped during an action"}))
        raise Interrupted from fault
    if record is None:
        record = execute.begin(session, step, lease, request, {})
    session.tell(f"failed: {step.id}: {fault}")
    session.record(execute.failed(record, fault, seconds))


def _report(session: Session, ending: Ending) -> None:
    reports = [step for step in session.steps if step.kind == "report"]
    if not reports:
        _write_plain_report(session, ending)
    for step in reports:
        done = session.state.step_record(step.id)
        lease = session.leases.get(step.operation)
        if lease is None or (done is not None and done.status != "refused"):
            continue
        _stop_if_asked(session)
        _write_report(session, step, lease, ending)


def _write_report(session: Session, step: PlannedStep, lease: Leasable, ending: Ending) -> None:
    request, problems = execute.full_request(session, step, lease)
    if problems:
        _refuse(session, step, request, "request", "; ".join(map(str, problems)))
        return
    view = _closing_view(session, ending)
    started = time.monotonic()
    inputs = report_inputs(session, view)
    record = execute.begin(session, step, lease, request, inputs)
    try:
        _plain_action(session, record, lease, inputs)
    except HarnessError as fault:
        _settle_failure(session, step, lease, request, record, fault, time.monotonic() - started)


def _closing_view(session: Session, ending: Ending) -> View:
    view = report_view(session.state)
    view["status"] = foreseen_status(session.state, ending.exhausted, ending.fault)
    view["failure"] = redact(str(ending.exhausted or ending.fault or ""))
    return view


def _write_plain_report(session: Session, ending: Ending) -> None:
    if any(item.step == PLAIN_REPORT for item in session.state.artifacts):
        return
    text = plain_report(_closing_view(session, ending)).encode()
    blob = session.store.ingest_bytes(text)
    index = len(session.state.settled)
    reference = ArtifactRef(
        id=artifact_id("scientific_report", "report.md", blob.sha256, index),
        name="report.md",
        type="scientific_report",
        sha256=blob.sha256,
        size=blob.size,
        action=index,
        step=PLAIN_REPORT,
    )
    session.record(("PlainReport", {"artifacts": [to_plain(reference)]}))
