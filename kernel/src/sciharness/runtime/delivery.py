"""Delivery: what the user gets after the research ended."""

from __future__ import annotations

from sciharness.errors import HarnessError
from sciharness.export import build_export
from sciharness.failpoints import reach
from sciharness.runtime.redact import redact
from sciharness.runtime.session import NewEvent
from sciharness.runtime.state import RunState
from sciharness.runtime.view import run_view
from sciharness.store.events import EventLog
from sciharness.store.home import Home


def delivered(home: Home, state: RunState) -> NewEvent:
    """Export an ended run and return the event that says so.

    A failure is told in that event and leaves the research as it is.
    """
    succeeded = state.status == "succeeded"
    place = f"exports/{state.run_id}"
    body: dict[str, object]
    try:
        build_export(
            home,
            state.run_id,
            home.path / place,
            state=run_view(state),
            files=export_files(EventLog(home), state.run_id),
            replace=True,
        )
        body = {"delivery": "succeeded" if succeeded else "none", "export": place}
    except (HarnessError, OSError) as fault:
        body = {"delivery": "failed" if succeeded else "none", "export": None}
        hint = f"Write it elsewhere with `harness export {state.run_id} --out FILE.zip`."
        message = redact(f"the export failed: {fault}")
        body["error"] = {"kind": "delivery", "where": "", "message": message, "hint": hint}
    reach("run.exported")
    return ("DeliveryFinished", body)


def export_files(log: EventLog, run_id: str) -> dict[str, bytes]:
    """Return contract and lock of a run as they stand at the root of its export."""
    created = next(iter(log.read(run_id))).body
    return {
        str(created["contract_name"]): str(created["contract_text"]).encode(),
        "contract.lock": str(created["lock"]).encode(),
    }
