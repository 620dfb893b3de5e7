"""What each kind of event does to the state of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sciharness.contract.records import Step
from sciharness.runtime.criteria import MetricValue, Verdict
from sciharness.runtime.life_handlers import LIFE_HANDLERS, Body, Handler, charge_once
from sciharness.runtime.records import (
    ActionRecord,
    Approval,
    ArtifactRef,
    Look,
    StagedInput,
    from_plain,
)

if TYPE_CHECKING:
    from sciharness.runtime.state import RunState

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
    charge_once(state, body)
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
    charge_once(state, body)
    step = from_plain(Step, body["step"])
    state.proposals[step.id] = step


def _reasoner_failed(state: RunState, body: Body) -> None:
    charge_once(state, body)


def _reasoner_finished(state: RunState, body: Body) -> None:
    charge_once(state, body)
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


def _package_published(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    facts = ("deliverable", "plugin_id", "version", "wheel_sha256", "attestation_sha256", "review")
    state.packages.append({name: body[name] for name in facts})


def _documents_published(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    state.documents.append({name: body[name] for name in ("deliverable", "publisher", "review")})


def _plan_approved(state: RunState, body: Body) -> None:
    state.approvals.append(from_plain(Approval, body["approval"]))


HANDLERS: Mapping[str, Handler] = {
    **LIFE_HANDLERS,
    "InputAdded": _input_added,
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
    "PlanApproved": _plan_approved,
    "ReasonerFailed": _reasoner_failed,
    "ReasonerFinished": _reasoner_finished,
}
