"""What each kind of event does to the state of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sciharness.contract.records import Criterion, Step
from sciharness.runtime.criteria import MetricValue, Verdict
from sciharness.runtime.records import (
    ActionRecord,
    Approval,
    ArtifactRef,
    Ask,
    Look,
    Revision,
    StagedInput,
    from_plain,
)

if TYPE_CHECKING:
    from sciharness.runtime.state import RunState

Body = Mapping[str, Any]  # Any: JSON values of an event
Handler = Callable[["RunState", Body], None]

# With these the time of the run is charged up to their own moment.
METERED = frozenset(
    {
        "RunStarted",
        "ActionProposed",
        "ReasonerFailed",
        "ReasonerFinished",
        "ActionFinished",
        "ActionFailed",
        "ActionStopped",
        "RunPaused",
        "RunWaiting",
        "RunInterrupted",
        "RunFinished",
    }
)


def _input_added(state: RunState, body: Body) -> None:
    staged = from_plain(StagedInput, body["input"])
    state.inputs[staged.name] = staged
    state.artifacts.extend(staged.views.values())


def _started(state: RunState, body: Body) -> None:
    if state.ask is not None and state.ask.seq <= body.get("after", state.seq):
        state.ask = None
    state.status, state.reason, state.error = "running", "", None
    state.revisions = [evolve(item, ended=False) for item in state.revisions]
    state.machine = dict(body.get("machine", {}))
    state.may_spend = state.may_spend or bool(body.get("spend_holdout"))
    state.budget.settle(body.get("usage", {}))
    state.in_flight = {}


def _action_started(state: RunState, body: Body) -> None:
    # A further attempt of an unfinished action takes the place of the one before.
    if state.actions and state.actions[-1].status in {"started", "stopped"}:
        state.actions.pop()
    elif not body.get("paid"):
        _count_call(state)
    state.actions.append(from_plain(ActionRecord, {**body["action"], "status": "started"}))
    state.budget.reserved = dict(body.get("reserved", {}))
    state.in_flight = {}


def _action_charged(state: RunState, body: Body) -> None:
    state.in_flight = dict(body["charged"])


def _action_stopped(state: RunState, body: Body) -> None:
    _charge_once(state, body)
    if state.actions and state.actions[-1].status == "started":
        record = {**body["action"], "status": "stopped", "reason": body["reason"]}
        state.actions[-1] = from_plain(ActionRecord, record)


def _settle(state: RunState, body: Body) -> None:
    state.actions[-1] = from_plain(ActionRecord, body["action"])
    state.budget.settle(state.actions[-1].usage)
    state.budget.reserved = {}
    state.in_flight = {}


def _action_finished(state: RunState, body: Body) -> None:
    _settle(state, body)
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    for item in body["metrics"]:
        state.metrics.append(from_plain(MetricValue, item))
        state.undefined.pop(item["name"], None)
    state.undefined.update(body.get("undefined", {}))


def _action_refused(state: RunState, body: Body) -> None:
    state.refusals.append(from_plain(ActionRecord, body["action"]))
    _count_call(state)


def _count_call(state: RunState) -> None:
    """Count the call that proposed an action; a plugin's reasoner was counted when asked."""
    if not state.asks_reasoner:
        state.budget.settle({"reasoner_calls": 1.0})


def _action_proposed(state: RunState, body: Body) -> None:
    _charge_once(state, body)
    step = from_plain(Step, body["step"])
    state.proposals[step.id] = step


def _reasoner_failed(state: RunState, body: Body) -> None:
    _charge_once(state, body)


def _reasoner_finished(state: RunState, body: Body) -> None:
    _charge_once(state, body)
    state.concluded = body["message"]


def _final_data_sealed(state: RunState, body: Body) -> None:
    _input_added(state, body)


def _predictor_frozen(state: RunState, body: Body) -> None:
    state.frozen = dict(body)


def _holdout_queried(state: RunState, body: Body) -> None:
    look = from_plain(Look, body["look"])
    state.looks.append(look)
    if look.spent and not look.replayed:
        state.may_spend = False


def _task_completed(state: RunState, body: Body) -> None:
    state.metrics.append(from_plain(MetricValue, body["metric"]))


def _plain_report(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    state.plainly_reported = True


def _judged(state: RunState, body: Body) -> None:
    state.verdicts = tuple(from_plain(Verdict, item) for item in body["verdicts"])


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
        _charge_once(state, body)
        state.status, state.reason = status, body.get("reason", "")
        state.error = body.get("error")
        state.ask = None

    return handle


def _finished(state: RunState, body: Body) -> None:
    _stopped(body["status"])(state, body)
    state.delivery, state.budget.reserved = "pending", {}


def _package_published(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    facts = ("deliverable", "plugin_id", "version", "wheel_sha256", "attestation_sha256", "review")
    state.packages.append({name: body[name] for name in facts})


def _documents_published(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    state.documents.append({name: body[name] for name in ("deliverable", "publisher", "review")})


def _plan_approved(state: RunState, body: Body) -> None:
    state.approvals.append(from_plain(Approval, body["approval"]))


def _charge_once(state: RunState, body: Body) -> None:
    state.budget.settle(body.get("usage", {}))
    state.in_flight = {}


def _delivered(state: RunState, body: Body) -> None:
    state.delivery = body["delivery"]
    state.export = body.get("export")
    earlier = state.error if (state.error or {}).get("kind") != "delivery" else None
    state.error = body.get("error") or earlier


HANDLERS: Mapping[str, Handler] = {
    "InputAdded": _input_added,
    "RunStarted": _started,
    "ActionProposed": _action_proposed,
    "ActionStarted": _action_started,
    "ActionCharged": _action_charged,
    "ActionStopped": _action_stopped,
    "ActionFinished": _action_finished,
    "ActionFailed": _settle,
    "ActionRefused": _action_refused,
    "FinalDataSealed": _final_data_sealed,
    "PlainReport": _plain_report,
    "PackagePublished": _package_published,
    "DocumentsPublished": _documents_published,
    "PredictorFrozen": _predictor_frozen,
    "HoldoutQueried": _holdout_queried,
    "TaskCompleted": _task_completed,
    "CriteriaJudged": _judged,
    "CriteriaRevised": _criteria_revised,
    "PauseAsked": _pause_asked,
    "CancelAsked": _cancel_asked,
    "BudgetExhausted": _budget_exhausted,
    "BudgetRaised": _budget_raised,
    "PlanApproved": _plan_approved,
    "ReasonerFailed": _reasoner_failed,
    "ReasonerFinished": _reasoner_finished,
    "RunPaused": _stopped("paused"),
    "RunWaiting": _stopped("waiting_for_input"),
    "RunInterrupted": _stopped("interrupted"),
    "RunFinished": _finished,
    "DeliveryFinished": _delivered,
}
