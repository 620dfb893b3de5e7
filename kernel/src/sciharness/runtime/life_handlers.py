"""What events of a run's life do to its state: starts, stops, asks, revisions, the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sciharness.contract.records import Criterion
from sciharness.runtime.records import Ask, Revision, from_plain

if TYPE_CHECKING:
    from sciharness.runtime.state import RunState

Body = Mapping[str, Any]  # Any: JSON values of an event
Handler = Callable[["RunState", Body], None]


def charge_once(state: RunState, body: Body) -> None:
    """Settle what an event charges beside any action."""
    state.budget.settle(body.get("usage", {}))
    state.in_flight = {}


def _started(state: RunState, body: Body) -> None:
    if state.ask is not None and state.ask.seq <= body.get("after", state.seq):
        state.ask = None
    state.status, state.reason = "running", ""
    state.error = state.delivery_error = None
    state.revisions = [evolve(item, ended=False) for item in state.revisions]
    state.machine = dict(body.get("machine", {}))
    state.may_spend = state.may_spend or bool(body.get("spend_holdout"))
    state.budget.settle(body.get("usage", {}))
    state.in_flight = {}


def _pause_asked(state: RunState, body: Body) -> None:
    if state.ask is None or state.ask.what != "cancel":
        state.ask = Ask("pause", bool(body["now"]), state.seq)


def _cancel_asked(state: RunState, body: Body) -> None:
    state.ask = Ask("cancel", True, state.seq)


def _budget_raised(state: RunState, body: Body) -> None:
    for key, change in body["changes"].items():
        state.budget.raise_limit(key, change["to"])
    if state.status == "budget_exhausted":  # a new chapter: what it ends with is reported anew
        state.exhausted = ""
        state.chapter = len(state.settled)
        state.plainly_reported = False
    state.concluded = None


def _budget_exhausted(state: RunState, body: Body) -> None:
    state.exhausted = body["key"]


def _criteria_revised(state: RunState, body: Body) -> None:
    replaced = state.criteria
    state.criteria = tuple(from_plain(Criterion, item) for item in body["acceptance"])
    state.concluded = None
    ended = state.status in {"succeeded", "failed", "budget_exhausted", "cancelled"}
    state.revisions.append(Revision(state.seq, replaced, body.get("why", ""), ended))


def _stopped(status: str) -> Handler:
    def handle(state: RunState, body: Body) -> None:
        charge_once(state, body)
        state.status, state.reason = status, body.get("reason", "")
        state.error = body.get("error")
        state.ask = None

    return handle


def _finished(state: RunState, body: Body) -> None:
    _stopped(body["status"])(state, body)
    state.delivery, state.budget.reserved = "pending", {}


def _delivered(state: RunState, body: Body) -> None:
    state.delivery = body["delivery"]
    state.export = body.get("export")
    state.delivery_error = body.get("error")


LIFE_HANDLERS: Mapping[str, Handler] = {
    "RunStarted": _started,
    "CriteriaRevised": _criteria_revised,
    "PauseAsked": _pause_asked,
    "CancelAsked": _cancel_asked,
    "BudgetExhausted": _budget_exhausted,
    "BudgetRaised": _budget_raised,
    "RunPaused": _stopped("paused"),
    "RunWaiting": _stopped("waiting_for_input"),
    "RunInterrupted": _stopped("interrupted"),
    "RunFinished": _finished,
    "DeliveryFinished": _delivered,
}
