"""Asks: what one process wants of a run that another process works on.

An ask is an event. The owner sees it at its next safe point and, a few times a
second, while an action runs. Where no living process owns the run, what is
asked is done here and now.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sciharness.errors import UsageError
from sciharness.runtime.control import deliver_late
from sciharness.runtime.lost import lost_usage
from sciharness.runtime.state import TERMINAL, fold
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Run, Runs

_LOOK_SECONDS = 0.1


def ask_to_pause(home: Home, run_id: str, *, now: bool = False) -> str:
    """Ask a run to pause and return its status: ``running`` until its owner has paused it.

    With ``now`` a running action is stopped, with everything it has started;
    it runs again after the resume.

    Raises:
        UsageError: the run has ended, or was never started.
    """
    log = EventLog(home)
    with home.writing() as tx:
        run = Runs(home).get(run_id, tx)
        if run.status in TERMINAL:
            raise _refusal(run, "there is nothing to pause")
        if run.is_owned:
            log.append(run_id, [("PauseAsked", {"now": now})], tx=tx)
            return "running"
        if run.status == "interrupted":
            state = fold(run_id, log.read(run_id))
            body = {"reason": "paused on request", "usage": lost_usage(home, state)}
            log.append(run_id, [("RunPaused", body)], projection={"status": "paused"}, tx=tx)
            # If the owner lives after all, where we cannot see it, it is told by its next event.
            Runs(home).claim(run_id, tx)
            Runs(home).release(run_id, tx)
            return "paused"
    if run.status in {"paused", "waiting_for_input"}:
        return run.status
    raise _refusal(run, "there is nothing to pause")


def ask_to_cancel(home: Home, run_id: str) -> str:
    """Ask a run to end at once and return its status: ``cancelled`` if nobody works on it.

    What it has done is kept and exported.

    Raises:
        UsageError: the run has ended.
    """
    with home.writing() as tx:
        run = Runs(home).get(run_id, tx)
        if run.status in TERMINAL:
            raise _refusal(run, "there is nothing to cancel")
        if run.is_owned:
            EventLog(home).append(run_id, [("CancelAsked", {})], tx=tx)
            return "running"
        owner = Runs(home).claim(run_id, tx)
        state = fold(run_id, EventLog(home).read(run_id))
        body: dict[str, object] = {"status": "cancelled", "reason": "cancelled on request"}
        body["usage"] = lost_usage(home, state)
        projection = {"status": "cancelled", "delivery": "pending"}
        events = [("CancelAsked", {}), ("RunFinished", body)]
        EventLog(home).append(run_id, events, projection=projection, owner=owner, tx=tx)
    deliver_late(home, run_id)
    return "cancelled"


def wait_for_answer(
    home: Home,
    run_id: str,
    seconds: float | None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Wait until the owner of a run has let go of it; return the status it then has.

    After ``seconds`` (``None``: never) the status of that moment is returned.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    while True:
        run = Runs(home).get(run_id)
        if not run.is_owned or (ends is not None and time.monotonic() >= ends):
            return run.status
        sleep(_LOOK_SECONDS)


def _refusal(run: Run, message: str) -> UsageError:
    return UsageError(
        f"the run is {run.status}: {message}", where=run.run_id, hint="See `harness status`."
    )
