"""Delivery: what the user gets after the research ended."""

from __future__ import annotations

from sciharness.errors import HarnessError
from sciharness.export import build_export
from sciharness.runtime.redact import redact
from sciharness.runtime.session import Session
from sciharness.runtime.view import run_view
from sciharness.store.events import EventLog


def deliver(session: Session) -> None:
    """Export a finished run; a failure is recorded and leaves the research as it is."""
    state = session.state
    succeeded = state.status == "succeeded"
    place = f"exports/{state.run_id}"
    body: dict[str, object]
    try:
        build_export(
            session.home,
            state.run_id,
            session.home.path / place,
            state=run_view(state),
            files=export_files(session.log, state.run_id),
            replace=True,
        )
        body = {"delivery": "succeeded" if succeeded else "none", "export": place}
    except (HarnessError, OSError) as fault:
        body = {"delivery": "failed" if succeeded else "none", "export": None}
        hint = f"Write it elsewhere with `harness export {state.run_id} --out FILE.zip`."
        message = redact(f"the export failed: {fault}")
        body["error"] = {"kind": "delivery", "where": "", "message": message, "hint": hint}
    session.record(("DeliveryFinished", body))


def export_files(log: EventLog, run_id: str) -> dict[str, bytes]:
    """Return contract and lock of a run as they stand at the root of its export."""
    created = next(iter(log.read(run_id))).body
    return {
        str(created["contract_name"]): str(created["contract_text"]).encode(),
        "contract.lock": str(created["lock"]).encode(),
    }
