"""Stopping a run before its end: pause, cancellation, interruption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from sciharness.runtime.plain_report import plain_report_event
from sciharness.runtime.records import ActionRecord, to_plain
from sciharness.runtime.redact import redact
from sciharness.runtime.session import NewEvent, Session
from sciharness.runtime.view import report_view
from sciharness.store.errors import StorageError

# What an attempt has cost for good, though its action will run again: a model
# that was called is paid. All else is settled once, by the attempt that ends.
SUNK = frozenset({"cpu_hours", "gpu_hours", "model_calls", "model_tokens"})


class Stopped(Exception):
    """The run stops here; the record says how, and it can be resumed or is cancelled."""


def stop_if_asked(session: Session) -> None:
    """Stop at this safe point if a person or another process asked for it.

    Raises:
        Stopped: after the event that says so was recorded.
    """
    how = session.wanted_stop()
    if how:
        stop(session, how)


def stop_action(
    session: Session, record: ActionRecord, charged: Mapping[str, float], cpu_seconds: float
) -> NoReturn:
    """Stop in the middle of an action; it runs again when the run is resumed.

    Raises:
        Stopped: after the event that says so was recorded.
    """
    how = session.wanted_stop() or "interrupt"
    stop(session, how, action_stopped(session, record, how, charged, cpu_seconds))


def action_stopped(
    session: Session,
    record: ActionRecord,
    reason: str,
    charged: Mapping[str, float],
    cpu_seconds: float,
) -> NewEvent:
    """Return the event of an attempt that was stopped: it charges what is spent for good."""
    usage = {key: amount for key, amount in charged.items() if key in SUNK}
    usage["wall_time"] = session.meter.take()
    usage["cpu_hours"] = usage.get("cpu_hours", 0.0) + cpu_seconds / 3600.0
    return ("ActionStopped", {"action": to_plain(record), "reason": reason, "usage": usage})


def stop(session: Session, how: str, *before: NewEvent) -> NoReturn:
    """Record that the run stops, together with ``before``, in one step."""
    run_id = session.state.run_id
    body: dict[str, object] = {"usage": {"wall_time": session.meter.take()}}
    if how == "pause":
        body["reason"] = "paused on request"
        hint = f"`harness resume {run_id}` goes on."
        body["error"] = _error("waiting", "the run is paused", hint)
        session.record(*before, ("RunPaused", body))
    elif how == "cancel":
        body.update(status="cancelled", reason="cancelled on request")
        view = {**report_view(session.state), "status": "cancelled", "failure": body["reason"]}
        report = plain_report_event(session, view)
        session.record(*before, report, ("RunFinished", body))
    else:
        body["reason"] = "stopped during an action" if before else "asked to stop"
        session.record(*before, ("RunInterrupted", body))
    raise Stopped(how)


def pause_for(session: Session, kind: str, message: str) -> NoReturn:
    """Pause a run that cannot go on until a person has put something right.

    Raises:
        Stopped: after the event that says so was recorded.
    """
    hint = f"`harness resume {session.state.run_id}` tries again."
    body = {
        "reason": redact(message),
        "usage": {"wall_time": session.meter.take()},
        "error": _error(kind, redact(message), hint),
    }
    session.record(("RunPaused", body))
    raise Stopped("pause")


def halt(session: Session, fault: StorageError) -> None:
    """Record that the disk failed; the event is written from the reserve if there is no room."""
    hint = f"{fault.hint} `harness resume {session.state.run_id}` goes on."
    body = {
        "reason": f"the disk failed: {fault.message}",
        "usage": {"wall_time": session.meter.take()},
        "error": _error("internal", f"{fault.where}: {fault.message}", hint),
    }
    session.record(("RunInterrupted", body))


def _error(kind: str, message: str, hint: str) -> dict[str, str]:
    return {"kind": kind, "where": "", "message": message, "hint": hint}
