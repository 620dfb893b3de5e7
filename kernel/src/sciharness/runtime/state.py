"""The state of a run: a fold over its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from sciharness.contract.records import Contract, Criterion, Step
from sciharness.runtime.budget import Budget
from sciharness.runtime.criteria import MetricValue, Verdict
from sciharness.runtime.handlers import HANDLERS, METERED
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

Body = Mapping[str, Any]  # Any: JSON values of an event

TERMINAL = frozenset({"succeeded", "failed", "budget_exhausted", "cancelled"})
RECIPE = "recipe"
UNSETTLED = frozenset({"started", "stopped"})


@define
class RunState:
    """What a run is and has, derived from its events alone.

    ``pins`` maps capability names to pin texts, ``parts`` reasoner and executor
    to theirs. ``proposals`` are the steps that a plugin's reasoner proposed, by
    ID, ``concluded`` what it said when it was done. ``undefined`` maps metrics to
    the reason why their evaluator could not define them. ``criteria`` are the
    contract's, or what a person put in their place. ``exhausted`` is the budget
    key that ended the run; ``may_spend`` a look beyond the allowed ones that a
    person granted and that was not taken yet. Actions from index
    ``chapter`` on belong to the part of the run after its budget was last
    raised. ``in_flight`` is what the running action has charged so far,
    ``metered`` the moment up to which the time of the run is charged.
    """

    run_id: str
    contract: Contract
    created: str
    contract_digest: str = ""
    pins: dict[str, str] = field(factory=dict)
    parts: dict[str, str] = field(factory=dict)
    versions: dict[str, str] = field(factory=dict)
    isolation: str = "none"
    status: str = "created"
    delivery: str = "none"
    export: str | None = None
    error: dict[str, Any] | None = None
    delivery_error: dict[str, Any] | None = None
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
    criteria: tuple[Criterion, ...] = ()
    revisions: list[Revision] = field(factory=list)
    approvals: list[Approval] = field(factory=list)
    publishers: dict[str, str] = field(factory=dict)
    packages: list[dict[str, Any]] = field(factory=list)  # Any: JSON values
    documents: list[dict[str, Any]] = field(factory=list)
    machine: dict[str, Any] = field(factory=dict)
    ask: Ask | None = None
    may_spend: bool = False
    chapter: int = 0
    proposals: dict[str, Step] = field(factory=dict)
    concluded: str | None = None
    exhausted: str = ""
    plainly_reported: bool = False
    in_flight: dict[str, float] = field(factory=dict)
    metered: str = ""
    newest: str = ""
    seq: int = -1

    @property
    def settled(self) -> list[ActionRecord]:
        """The actions that finished or failed, in order."""
        return [action for action in self.actions if action.status not in UNSETTLED]

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

    @property
    def asks_reasoner(self) -> bool:
        """Whether a plugin's reasoner proposes the actions, each by a call of its own."""
        return self.contract.reasoner.use != RECIPE

    @property
    def carried(self) -> tuple[Step, ...]:
        """The proposals of a plugin's reasoner whose actions finished, in order."""
        finished = {one.step for one in self.settled if one.status == "finished"}
        return tuple(step for name, step in self.proposals.items() if name in finished)

    @property
    def revised_after_end(self) -> bool:
        """Whether the criteria of today are others than those the run ended with."""
        return bool(self.revisions) and self.revisions[-1].ended and self.status in TERMINAL

    def apply(self, kind: str, body: Body, seq: int, time: str = "") -> None:
        """Take one event into account; unknown kinds change nothing."""
        self.seq, self.newest = seq, time
        handler = HANDLERS.get(kind)
        if handler is not None:
            handler(self, body)
        if kind in METERED:
            self.metered = time


def fold(run_id: str, events: Iterable[Any]) -> RunState:  # Any: store events
    """Return the state after ``events``, the first of which is ``RunCreated``."""
    state: RunState | None = None
    for event in events:
        if state is None:
            state = _created(run_id, event.body, event.time)
        else:
            state.apply(event.kind, event.body, event.seq, event.time)
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
        publishers=dict(body.get("publishers", {})),
        parts=dict(body["parts"]),
        versions=dict(body["versions"]),
        isolation=body["label_isolation"],
        criteria=contract.acceptance,
        budget=Budget(dict(contract.budget)),
        seq=1,
    )
