"""The state of a run: a fold over its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from sciharness.contract.records import Contract
from sciharness.runtime.budget import Budget
from sciharness.runtime.criteria import MetricValue, Verdict
from sciharness.runtime.records import ActionRecord, ArtifactRef, Look, StagedInput, from_plain

Body = Mapping[str, Any]  # Any: JSON values of an event

TERMINAL = frozenset({"succeeded", "failed", "budget_exhausted", "cancelled"})


@define
class RunState:
    """What a run is and has, derived from its events alone.

    ``pins`` maps capability names to pin texts; ``undefined`` maps metrics to
    the reason why their evaluator could not define them.
    """

    run_id: str
    contract: Contract
    created: str
    contract_digest: str = ""
    pins: dict[str, str] = field(factory=dict)
    versions: dict[str, str] = field(factory=dict)
    isolation: str = "none"
    status: str = "created"
    delivery: str = "none"
    export: str | None = None
    error: dict[str, Any] | None = None
    inputs: dict[str, StagedInput] = field(factory=dict)
    actions: list[ActionRecord] = field(factory=list)
    refusals: list[ActionRecord] = field(factory=list)
    metrics: list[MetricValue] = field(factory=list)
    artifacts: list[ArtifactRef] = field(factory=list)
    undefined: dict[str, str] = field(factory=dict)
    budget: Budget = field(factory=lambda: Budget({}))
    looks: list[Look] = field(factory=list)
    frozen: dict[str, Any] | None = None
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    seq: int = -1

    @property
    def settled(self) -> list[ActionRecord]:
        """The actions that finished or failed, in order."""
        return [action for action in self.actions if action.status != "started"]

    @property
    def setbacks(self) -> list[ActionRecord]:
        """The actions that failed and those that were refused."""
        return [*(item for item in self.actions if item.status == "failed"), *self.refusals]

    def step_record(self, step: str) -> ActionRecord | None:
        """Return the newest settled or refused action of a step, or ``None``."""
        known = [item for item in (*self.settled, *self.refusals) if item.step == step]
        return known[-1] if known else None

    def artifacts_of(self, step: str) -> list[ArtifactRef]:
        """Return the artifacts that a step has produced."""
        return [artifact for artifact in self.artifacts if artifact.step == step]

    def apply(self, kind: str, body: Body, seq: int) -> None:
        """Take one event into account; unknown kinds change nothing."""
        self.seq = seq
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, body)


def fold(run_id: str, events: Iterable[Any]) -> RunState:  # Any: store events
    """Return the state after ``events``, the first of which is ``RunCreated``."""
    state: RunState | None = None
    for event in events:
        if state is None:
            state = _created(run_id, event.body, event.time)
        else:
            state.apply(event.kind, event.body, event.seq)
        state.seq = event.seq
    if state is None:
        raise ValueError(f"run {run_id} has no events")
    return state


def _created(run_id: str, body: Body, time: str) -> RunState:
    contract = from_plain(Contract, body["contract"])
    return RunState(
        run_id=run_id,
        contract=contract,
        created=time,
        contract_digest=body["contract_digest"],
        pins=dict(body["pins"]),
        versions=dict(body["versions"]),
        isolation=body["label_isolation"],
        budget=Budget(contract.budget),
    )


def _input_added(state: RunState, body: Body) -> None:
    staged = from_plain(StagedInput, body["input"])
    state.inputs[staged.name] = staged
    state.artifacts.extend(staged.views.values())


def _started(state: RunState, body: Body) -> None:
    state.status = "running"


def _action_started(state: RunState, body: Body) -> None:
    # A second attempt of an interrupted action takes the place of the first.
    if state.actions and state.actions[-1].status == "started":
        state.actions.pop()
    else:
        state.budget.settle({"reasoner_calls": 1.0})
    state.actions.append(from_plain(ActionRecord, {**body["action"], "status": "started"}))


def _settle(state: RunState, body: Body) -> None:
    state.actions[-1] = from_plain(ActionRecord, body["action"])
    state.budget.settle(state.actions[-1].usage)


def _action_finished(state: RunState, body: Body) -> None:
    _settle(state, body)
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])
    for item in body["metrics"]:
        state.metrics.append(from_plain(MetricValue, item))
        state.undefined.pop(item["name"], None)
    state.undefined.update(body.get("undefined", {}))


def _action_refused(state: RunState, body: Body) -> None:
    state.refusals.append(from_plain(ActionRecord, body["action"]))
    state.budget.settle({"reasoner_calls": 1.0})


def _final_data_sealed(state: RunState, body: Body) -> None:
    staged = from_plain(StagedInput, body["input"])
    state.inputs[staged.name] = staged
    state.artifacts.extend(staged.views.values())


def _predictor_frozen(state: RunState, body: Body) -> None:
    state.frozen = dict(body)


def _holdout_queried(state: RunState, body: Body) -> None:
    state.looks.append(from_plain(Look, body["look"]))


def _task_completed(state: RunState, body: Body) -> None:
    state.metrics.append(from_plain(MetricValue, body["metric"]))


def _plain_report(state: RunState, body: Body) -> None:
    state.artifacts.extend(from_plain(ArtifactRef, item) for item in body["artifacts"])


def _judged(state: RunState, body: Body) -> None:
    state.verdicts = tuple(from_plain(Verdict, item) for item in body["verdicts"])


def _finished(state: RunState, body: Body) -> None:
    state.status = body["status"]
    state.reason = body.get("reason", "")
    state.error = body.get("error")
    if state.status == "succeeded":
        state.delivery = "pending"


def _interrupted(state: RunState, body: Body) -> None:
    state.status = "interrupted"


def _delivered(state: RunState, body: Body) -> None:
    state.delivery = body["delivery"]
    state.export = body.get("export")
    if body.get("error"):
        state.error = body["error"]


_HANDLERS = {
    "InputAdded": _input_added,
    "RunStarted": _started,
    "ActionStarted": _action_started,
    "ActionFinished": _action_finished,
    "ActionFailed": _settle,
    "ActionRefused": _action_refused,
    "FinalDataSealed": _final_data_sealed,
    "PlainReport": _plain_report,
    "PredictorFrozen": _predictor_frozen,
    "HoldoutQueried": _holdout_queried,
    "TaskCompleted": _task_completed,
    "CriteriaJudged": _judged,
    "RunFinished": _finished,
    "RunInterrupted": _interrupted,
    "DeliveryFinished": _delivered,
}
