"""Carrying runs on, from where their record stands to the end or to the next stop."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import evolve, field, frozen

from sciharness.contract.steps import plan_steps, sealed_from_others
from sciharness.errors import UsageError
from sciharness.failpoints import reach
from sciharness.plugins import PARTS, Leasable, Plugins, naming_pin
from sciharness.runtime.delivery import delivered, publish_packages
from sciharness.runtime.looking import export_run
from sciharness.runtime.loop import carry_on
from sciharness.runtime.lost import lost_usage
from sciharness.runtime.machine import machine_facts
from sciharness.runtime.session import NewEvent, Session, trusted_evaluators
from sciharness.runtime.signals import Stop
from sciharness.runtime.state import TERMINAL, RunState, fold
from sciharness.runtime.stopping import Stopped, halt
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.errors import StorageError, disk_faults
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.owners import Owner
from sciharness.store.runs import Run, Runs
from sciharness.workers.pool import Workers
from sciharness_catalog.pins import Pin

Tell = Callable[[str], None]
Kind = TypeVar("Kind", bound=Session)

UNDELIVERED = frozenset({"pending", "failed"})
UNFINISHED = frozenset({"created", "interrupted", "paused", "waiting_for_input"})


@frozen
class Manner:
    """How a run is carried: threads per action, what a person allows, who hears of it.

    ``hidden`` are folders beside the home that no worker may be able to read.
    """

    workers: int = 1
    spend_holdout: bool = False
    tell: Tell = lambda line: None
    stop: Stop = field(factory=Stop)
    hidden: tuple[Path, ...] = ()


def carry_run(
    home: Home,
    run_id: str,
    manner: Manner,
    *,
    allowed: frozenset[str] = UNFINISHED,
    first: Callable[[RunState], Sequence[NewEvent]] = lambda state: (),
    export_to: Path | None = None,
) -> None:
    """Carry a run to its terminal event and export it, or until it is asked to stop.

    ``first`` gives events that become durable together with the start, once
    nobody else can work on the run. Where only the delivery is left, that is done.

    Raises:
        UsageError: another living process works on it, or its status is not
            one of ``allowed``.
        IntegrityError: a pinned capability is no longer what it was.
        ContractError: workers could read the home or a hidden folder.
        StorageError: the disk failed so badly that not even that could be recorded.
    """
    owner = _claim(home, run_id, allowed)
    reach("run.claimed")
    try:
        state = fold(run_id, EventLog(home).read(run_id))
        if state.status not in TERMINAL or state.status in allowed:
            state = _carry(home, state, owner, manner, first(state))
        if state.status in TERMINAL and state.delivery in UNDELIVERED:
            _deliver(home, state, owner)
            if export_to is not None:
                export_run(home, run_id, export_to)
    finally:
        Runs(home).release(run_id)
    reach("run.released")


def _deliver(home: Home, state: RunState, owner: Owner) -> None:
    log = EventLog(home)

    def record(event: NewEvent) -> None:
        for stored in log.append(state.run_id, [event], owner=owner):
            state.apply(stored.kind, stored.body, stored.seq, stored.time)

    fault = publish_packages(home, state, record)
    kind, body = delivered(home, state, fault)
    projection = {"delivery": body["delivery"]}
    log.append(state.run_id, [(kind, body)], projection=projection, owner=owner)
    reach("run.delivered")


def deliver_late(home: Home, run_id: str) -> None:
    """Do the delivery of an ended run that lacks it, as its owner.

    Raises:
        UsageError: another living process works on it, or it lacks nothing.
    """
    carry_run(home, run_id, Manner(), allowed=frozenset())


def pinned_leases(home: Home, state: RunState) -> dict[str, Leasable]:
    """Return the leases of a run, each of exactly the digest it was created with.

    Raises:
        HarnessError: naming the capability that is missing, changed or refused.
    """
    plugins = Plugins(home)
    leases = {}
    for name, text in state.pins.items():
        with naming_pin(plugins, Pin.parse(text)) as pin:
            leases[name] = plugins.lease(name, pin)
    return leases


def pinned_parts(home: Home, state: RunState) -> dict[str, Leasable]:
    """Return the reasoner and the executor that plugins bring, by exact digest as well.

    Raises:
        HarnessError: naming the one that is missing, changed or refused.
    """
    plugins = Plugins(home)
    chosen = {"reasoner": state.contract.reasoner, "executor": state.contract.executor}
    parts = {}
    for part, choice in chosen.items():
        if choice.use != PARTS[part]:
            with naming_pin(plugins, Pin.parse(state.parts[part])) as pin:
                parts[part] = plugins.role(part, choice.use, pin)
    return parts


def _claim(home: Home, run_id: str, allowed: frozenset[str]) -> Owner:
    with home.writing() as tx:
        owner = Runs(home).claim(run_id, tx)
        run = Runs(home).get(run_id, tx)
        if not (_status(run) in allowed or is_undelivered(run)):
            raise UsageError(
                f"the run is {run.status}",
                where=run_id,
                hint=_HINTS.get(run.status, "`harness run CONTRACT --fresh` starts anew."),
            )
    return owner


def is_undelivered(run: Run) -> bool:
    """Whether a run has ended, but its delivery has not, or has failed."""
    return run.status in TERMINAL and run.delivery in UNDELIVERED


def _status(run: Run) -> str:
    # Claimed by this process: what it says of itself is what a dead owner left.
    return "interrupted" if run.recorded == "running" else run.recorded


def _carry(
    home: Home, state: RunState, owner: Owner, manner: Manner, first: Sequence[NewEvent]
) -> RunState:
    leases, parts = pinned_leases(home, state), pinned_parts(home, state)
    root = home.workspaces / state.run_id
    root.mkdir(parents=True, exist_ok=True)
    after = state.seq
    with Workers(root / "pool", hidden=(home.path, *manner.hidden)) as pool:
        pool.check_isolation()
        session = open_session(home, state, owner, leases, pool, manner, kind=Session)
        session.reasoner, session.executor = parts.get("reasoner"), parts.get("executor")
        session.record(*first, _start(home, state, manner, after))
        try:
            with disk_faults("workspace"):
                carry_on(session)
        except Stopped:
            pass
        except StorageError as fault:
            halt(session, fault)
    if state.status in TERMINAL and not any(one.status == "stopped" for one in state.actions):
        shutil.rmtree(root, ignore_errors=True)
    return state


def _start(home: Home, state: RunState, manner: Manner, after: int) -> NewEvent:
    """Return the event of a start; it charges what a killed attempt has cost.

    Asks up to event ``after`` were meant for an earlier owner.
    """
    return (
        "RunStarted",
        {
            "workers": manner.workers,
            "machine": machine_facts(),
            "after": after,
            "usage": lost_usage(home, state),
            "spend_holdout": manner.spend_holdout,
        },
    )


def open_session(
    home: Home,
    state: RunState,
    owner: Owner | None,
    leases: dict[str, Leasable],
    pool: Workers,
    manner: Manner,
    *,
    kind: type[Kind],
) -> Kind:
    """Return a session of ``kind`` for a run, with its plan made anew from the contract."""
    operations = {name: lease.operation for name, lease in leases.items()}
    contract = state.contract
    if state.asks_reasoner:  # what was proposed takes the place of a plan
        contract = evolve(contract, steps=state.carried)
    types = {name: staged.type for name, staged in state.inputs.items()}
    return kind(
        home=home,
        log=EventLog(home),
        store=ArtifactStore(home),
        leases=leases,
        steps=sealed_from_others(
            plan_steps(contract, operations, types=types).steps, trusted_evaluators(leases)
        ),
        pool=pool,
        state=state,
        tell=manner.tell,
        stop=manner.stop,
        workers=manner.workers,
        owner=owner,
    )


_HINTS = {
    "budget_exhausted": "`harness budget RUN --add KEY=N` raises the limit and goes on.",
    "created": "`harness start RUN` starts it.",
}
