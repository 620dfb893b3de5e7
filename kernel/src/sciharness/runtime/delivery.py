"""Delivery: what the user gets after the research ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sciharness.contract.records import Publication
from sciharness.errors import DeliveryError, HarnessError, IntegrityError
from sciharness.export import build_export
from sciharness.failpoints import reach
from sciharness.runtime.redact import redact
from sciharness.runtime.state import RunState
from sciharness.runtime.view import run_view
from sciharness.store.events import EventLog
from sciharness.store.home import Home

if TYPE_CHECKING:
    from sciharness.runtime.session import NewEvent

_UNNAMED = Publication(id="")


def publish_packages(
    home: Home, state: RunState, record: Callable[[NewEvent], None]
) -> HarnessError | None:
    """Publish what the contract of a succeeded run asks for; return what went wrong.

    Each package is recorded before the run is exported, so that the export holds it.
    """
    done = {made["deliverable"] for made in (*state.packages, *state.documents)}
    if state.status != "succeeded" or not set(state.contract.deliver) - done:
        return None
    from sciharness.runtime.publishing import (  # only runs that deliver packages need it
        Published,
        install_published,
        publish,
    )

    try:
        EventLog(home).verify(state.run_id)  # a package is made from a record that is whole
        for package in publish(home, state):
            if package.deliverable not in done:
                record(package.event())
            wanted = state.contract.publish.get(package.deliverable, _UNNAMED)
            if wanted.install and isinstance(package, Published):
                install_published(home, package)
    except HarnessError as fault:
        return fault
    reach("run.published")
    return None


def delivered(home: Home, state: RunState, fault: HarnessError | None = None) -> NewEvent:
    """Export an ended run and return the event that says so.

    A failure, of the export or ``fault`` of a package, is told in that event,
    as ``integrity`` if bytes or statements differ, and leaves the research as it is.
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
        if fault is not None:
            body = {"delivery": "failed", "export": place}
            body["error"] = _told(f"a package failed: {fault}", fault.where, fault.hint, fault)
    except (HarnessError, OSError) as failure:
        body = {"delivery": "failed" if succeeded else "none", "export": None}
        hint = (
            f"`harness resume {state.run_id}` tries again; `harness export {state.run_id}"
            " --out FILE.zip` writes it elsewhere."
        )
        body["error"] = _told(f"the export failed: {failure}", "", hint, fault, failure)
    reach("run.exported")
    return ("DeliveryFinished", body)


def _told(message: str, where: str, hint: str, *faults: Exception | None) -> dict[str, str]:
    """Return what went wrong; bytes that differ are more than a delivery that failed."""
    differ = any(isinstance(fault, IntegrityError) for fault in faults)
    kind = IntegrityError.kind if differ else DeliveryError.kind
    return {"kind": kind, "where": where, "message": redact(message), "hint": redact(hint)}


def export_files(log: EventLog, run_id: str) -> dict[str, bytes]:
    """Return contract and lock of a run, and what is to know of its packages, as files."""
    created = next(iter(log.read(run_id))).body
    files = {
        str(created["contract_name"]): str(created["contract_text"]).encode(),
        "contract.lock": str(created["lock"]).encode(),
    }
    packages = [event.body for event in log.read(run_id) if event.kind == "PackagePublished"]
    if packages:
        from sciharness.runtime.package_page import PAGE, package_page  # few runs have one

        files[PAGE] = package_page(packages).encode()
    return files
