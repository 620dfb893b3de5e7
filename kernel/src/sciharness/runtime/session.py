"""A session: the open parts that one process needs to carry a run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from sciharness.contract.steps import PlannedStep
from sciharness.logs import get_logger
from sciharness.plugins import Leasable
from sciharness.runtime.criteria import MetricValue, judge
from sciharness.runtime.records import from_plain, to_plain
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.workers.pool import Workers

NewEvent = tuple[str, Mapping[str, Any]]  # Any: JSON values


@define
class Session:
    """Home, record, leases and workers of one living run.

    ``tell`` takes a line for the person (stderr); ``asked_to_stop`` says whether
    the run is to stop at the next safe point, ``cancelled`` whether at once.
    """

    home: Home
    log: EventLog
    store: ArtifactStore
    leases: Mapping[str, Leasable]
    steps: Sequence[PlannedStep]
    pool: Workers
    state: RunState
    tell: Callable[[str], None] = field(default=lambda line: None)
    cancelled: Callable[[], bool] = field(default=lambda: False)
    asked_to_stop: Callable[[], bool] = field(default=lambda: False)
    workers: int = 1
    spend_holdout: bool = False
    log_to: Any = field(factory=lambda: get_logger("runtime"))  # Any: a structlog logger

    def record(self, *events: NewEvent, tx: Any = None) -> None:  # Any: the store's transaction
        """Append events in one durable step, then take them into the state."""
        written = self.log.append(
            self.state.run_id,
            list(events),
            projection=_projection(self.state, events),
            tx=tx,
        )
        for event in written:
            self.state.apply(event.kind, event.body, event.seq)
            self.log_to.info(event.kind, run=self.state.run_id, seq=event.seq)

    def judged(self, events: Sequence[NewEvent]) -> list[NewEvent]:
        """Return ``events`` with the verdicts that follow from them, if these change."""
        ahead = list(self.state.metrics)
        undefined = dict(self.state.undefined)
        for kind, body in events:
            if kind == "ActionFinished":
                ahead.extend(from_plain(MetricValue, item) for item in body["metrics"])
                undefined.update(body.get("undefined", {}))
        verdicts = judge(self.state.contract.acceptance, ahead, undefined)
        if verdicts == self.state.verdicts:
            return list(events)
        return [*events, ("CriteriaJudged", {"verdicts": to_plain(verdicts)})]

    def workspace(self, index: int) -> Path:
        """Return the folder of the action ``index``; it is made when first asked for."""
        folder = self.home.workspaces / self.state.run_id / str(index)
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _projection(state: RunState, events: Sequence[NewEvent]) -> dict[str, str]:
    projection: dict[str, str] = {}
    for kind, body in events:
        if kind == "RunStarted":
            projection["status"] = "running"
        elif kind == "RunInterrupted":
            projection["status"] = "interrupted"
        elif kind == "RunFinished":
            projection["status"] = body["status"]
            projection["delivery"] = "pending" if body["status"] == "succeeded" else "none"
        elif kind == "DeliveryFinished":
            projection["delivery"] = body["delivery"]
    return projection
