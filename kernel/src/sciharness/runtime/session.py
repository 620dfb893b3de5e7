"""A session: the open parts that one process needs to carry a run on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from sciharness.contract.steps import PlannedStep
from sciharness.logs import Logger, get_logger
from sciharness.plugins import Leasable
from sciharness.runtime.criteria import MetricValue, judge
from sciharness.runtime.lost import beat_of
from sciharness.runtime.meter import Beat, Meter
from sciharness.runtime.records import from_plain, to_plain
from sciharness.runtime.signals import Stop
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home, Transaction
from sciharness.store.owners import Owner
from sciharness.store.runs import Runs
from sciharness.workers.pool import Workers

NewEvent = tuple[str, Mapping[str, Any]]  # Any: JSON values

LOOK_SECONDS = 0.2


@define
class Session:
    """Home, record, leases and workers of one living run.

    ``tell`` takes a line for the person (stderr), ``stop`` is what signals of
    this process say. ``reasoner`` and ``executor`` are a plugin's, if the contract
    chooses one. With ``owner`` an event is refused once another process
    has taken the run over.
    """

    home: Home
    log: EventLog
    store: ArtifactStore
    leases: Mapping[str, Leasable]
    steps: Sequence[PlannedStep]
    pool: Workers
    state: RunState
    tell: Callable[[str], None] = field(default=lambda line: None)
    stop: Stop = field(factory=Stop)
    workers: int = 1
    owner: Owner | None = None
    reasoner: Leasable | None = None
    executor: Leasable | None = None
    meter: Meter = field(factory=Meter)
    log_to: Logger = field(factory=lambda: get_logger("runtime"))
    _looked: float = 0.0

    def record(self, *events: NewEvent, tx: Transaction | None = None) -> None:
        """Append events in one durable step, then take them into the state."""
        written = self.log.append(
            self.state.run_id,
            list(events),
            projection=_projection(events),
            owner=self.owner,
            tx=tx,
        )
        self.catch_up(before=written[0].seq)
        for event in written:
            self.state.apply(event.kind, event.body, event.seq, event.time)
            self.log_to.info(event.kind, run=self.state.run_id, seq=event.seq)

    def catch_up(self, before: int | None = None) -> None:
        """Take in what other processes have written into the record, such as asks."""
        if before is not None and before == self.state.seq + 1:
            return
        for event in self.log.read(self.state.run_id, after=self.state.seq):
            if before is not None and event.seq >= before:
                return
            self.state.apply(event.kind, event.body, event.seq, event.time)

    def look(self) -> None:
        """Mark that the run is at work, and hear what others ask of it; cheap, some times a second.

        Called at safe points, and again and again while an action runs.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        self.beat.mark(self.home.now())
        if Runs(self.home).count(self.state.run_id) > self.state.seq:
            self.catch_up()

    def cancelled(self) -> bool:
        """Return whether to stop at once, in the middle of an action."""
        self.look()
        return self.stop.now or (self.state.ask is not None and self.state.ask.now)

    def wanted_stop(self) -> str:
        """Return how the run is to stop at this safe point: ``pause``, ``cancel`` and so on.

        Empty to go on; ``interrupt`` is what a signal asks for.
        """
        if Runs(self.home).count(self.state.run_id) > self.state.seq:
            self.catch_up()
        if self.state.ask is not None:
            return self.state.ask.what
        return "interrupt" if self.stop.asked or self.stop.now else ""

    def judged(self, events: Sequence[NewEvent]) -> list[NewEvent]:
        """Return ``events`` with the verdicts that follow from them, if these change."""
        ahead = list(self.state.metrics)
        undefined = dict(self.state.undefined)
        for kind, body in events:
            if kind == "ActionFinished":
                ahead.extend(from_plain(MetricValue, item) for item in body["metrics"])
                undefined.update(body.get("undefined", {}))
        verdicts = judge(self.state.criteria, ahead, undefined)
        if verdicts == self.state.verdicts:
            return list(events)
        return [*events, ("CriteriaJudged", {"verdicts": to_plain(verdicts)})]

    @property
    def spend_holdout(self) -> bool:
        """Whether a person grants a look beyond the allowed ones that was not taken yet."""
        return self.state.may_spend

    def workspace(self, index: int) -> Path:
        """Return the folder of the action ``index``; it is made when first asked for."""
        folder = self.folder / str(index)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def folder(self) -> Path:
        """The folder of all that this run needs while it is at work."""
        return self.home.workspaces / self.state.run_id

    @property
    def beat(self) -> Beat:
        """The mark of the last moment at which the run was at work."""
        return beat_of(self.home, self.state.run_id)


def trusted_evaluators(leases: Mapping[str, Leasable]) -> frozenset[str]:
    """Return the evaluators that may see final labels in this installation."""
    return frozenset(name for name, lease in leases.items() if lease.trusted_metrics)


def _projection(events: Sequence[NewEvent]) -> dict[str, str]:
    projection: dict[str, str] = {}
    for kind, body in events:
        if kind in _STATUS:
            projection["status"] = _STATUS[kind]
        elif kind == "RunFinished":
            projection.update(status=body["status"], delivery="pending")
        elif kind == "DeliveryFinished":
            projection["delivery"] = body["delivery"]
    return projection


_STATUS = {
    "RunStarted": "running",
    "RunPaused": "paused",
    "RunInterrupted": "interrupted",
    "RunWaiting": "waiting_for_input",
}
