"""The report at the end of a run: by the leased capability, else by the kernel itself.

One action is kept for it, so that a run that used up its budget is reported
too. A run that goes on after that is reported anew; its action is paid already.
"""

from __future__ import annotations

from sciharness.contract.steps import PlannedStep
from sciharness.errors import HarnessError
from sciharness.plugins import Leasable
from sciharness.runtime import execute
from sciharness.runtime.attempt import plain_action, refuse, settle_failure
from sciharness.runtime.completion import Ending, foreseen_status
from sciharness.runtime.inputs import report_inputs
from sciharness.runtime.plain_report import plain_report_event
from sciharness.runtime.redact import redact
from sciharness.runtime.session import Session
from sciharness.runtime.stopping import stop_if_asked
from sciharness.runtime.view import View, report_view
from sciharness.store.errors import StorageError


def kept_actions(session: Session) -> int:
    """Return how many actions have to be left for reports that were never written."""
    steps = [step for step in session.steps if step.kind == "report"]
    return sum(1 for step in steps if not _is_paid(session, step))


def write_reports(session: Session, ending: Ending) -> None:
    """Write what reports the run has in this chapter not written yet."""
    reports = [step for step in session.steps if step.kind == "report"]
    if not reports and not session.state.plainly_reported:
        session.record(plain_report_event(session, _closing_view(session, ending)))
    for step in reports:
        lease = session.leases.get(step.operation)
        if lease is None or _is_written(session, step):
            continue
        stop_if_asked(session)
        _write(session, step, lease, ending)


def _is_paid(session: Session, step: PlannedStep) -> bool:
    return any(record.step == step.id for record in session.state.settled)


def _is_written(session: Session, step: PlannedStep) -> bool:
    return any(
        record.step == step.id and record.index >= session.state.chapter
        for record in session.state.settled
    )


def _write(session: Session, step: PlannedStep, lease: Leasable, ending: Ending) -> None:
    request, problems = execute.full_request(session, step, lease)
    if problems:
        refuse(session, step, request, "request", "; ".join(map(str, problems)))
        return
    inputs = report_inputs(session, _closing_view(session, ending))
    paid = _is_paid(session, step)
    record = execute.begin(session, step, lease, request, inputs, paid=paid)
    try:
        plain_action(session, record, lease, inputs, paid=paid, unhurried=True)
    except StorageError:
        raise
    except HarnessError as fault:
        settle_failure(session, record, fault, paid=paid)


def _closing_view(session: Session, ending: Ending) -> View:
    view = report_view(session.state)
    view["status"] = foreseen_status(session.state, ending.exhausted, ending.fault)
    view["failure"] = redact(str(ending.exhausted or ending.fault or ""))
    return view
