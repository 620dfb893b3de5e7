"""kill -9 at every named step and at random moments: the result is that of an undisturbed run."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from acknowledged import lost

import sciharness
from sciharness.failpoints import NAMES, VARIABLE
from sciharness.runtime.looking import view_of
from sciharness.store.events import EventLog
from sciharness.store.fsck import fsck
from sciharness.store.home import Home
from sciharness.store.runs import TERMINAL, Runs

KILLS = int(os.environ.get("HARNESS_TEST_KILLS", "300"))
KILLED = -signal.SIGKILL

STEPS = [
    {"id": "note", "use": "toy.note"},
    {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
    {"id": "judge", "use": "evaluation.regression", "inputs": {"predictor": "fit", "data": "data"}},
    {"id": "more", "use": "toy.note", "with": {"text": "more"}},
]
CONTRACT: dict[str, Any] = {
    "capabilities": ["toy.note", "toy.fit", "evaluation.regression"],
    "steps": STEPS,
    "budget": {"actions": 10, "wall_time": "1h"},
}
# Reached only where a package is published or installed.
ELSEWHERE = ("run.published", "install.")
# The quick tests take one step of each kind; the slow ones take all.
QUICK = {
    "run.created",
    "action.begun",
    "action.ingested",
    "commit.ready",
    "look.spent",
    "run.ended",
}
POINTS = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in NAMES
    if not name.startswith(ELSEWHERE)
]
# Settled once in the whole run, however often it was killed.
COUNTED = ("actions", "failures", "solver_calls", "training_runs", "reasoner_calls")


def outcome(home: Home, run_id: str) -> Mapping[str, Any]:
    """Return all of a run that must not depend on its having been killed."""
    view, state = view_of(home, run_id)
    return {
        "status": view["status"],
        "delivery": view["delivery"],
        "artifacts": sorted(
            item["id"] for item in view["artifacts"] if item["type"] != "scientific_report"
        ),
        "metrics": view["metrics"],
        "criteria": view["criteria"],
        "budget": {key: view["budget"][key]["used"] for key in COUNTED},
        "settled": [action.step for action in state.settled],
        "looks": [(look.look, look.replayed) for look in state.looks],
    }


@pytest.fixture(scope="module")
def case(fresh: Callable[..., Any]) -> Callable[[], Any]:
    """A maker of homes with the contract and its data."""

    def make() -> Any:
        made = fresh("killed")
        made.table()
        made.contract(**CONTRACT)
        return made

    return make


@pytest.fixture(scope="module")
def undisturbed(case: Callable[[], Any]) -> Mapping[str, Any]:
    made = case()
    made("run", "c.yaml", code=0)
    with Home.open(made.home) as home:
        (run,) = Runs(home).listing()
        return outcome(home, run.run_id)


def check(made: Any, said: str, undisturbed: Mapping[str, Any]) -> None:
    """One whole run, equal to the undisturbed one; nothing lost, broken or charged twice."""
    with Home.open(made.home) as home:
        runs = Runs(home).listing()
        assert fsck(home).problems == ()
        assert len(runs) == 1 and not runs[0].is_owned
        assert lost(home, said) == 0
        assert outcome(home, runs[0].run_id) == undisturbed
        kinds = [event.kind for event in EventLog(home).read(runs[0].run_id)]
        assert kinds.count("RunFinished") == 1
        (looks,) = home.connection().execute("SELECT count(*) FROM looks").fetchone()
        assert looks == 1


def test_every_named_step_is_somewhere_in_the_code_and_none_is_unnamed() -> None:
    sources = Path(sciharness.__file__).parent.rglob("*.py")
    reached = {
        name for source in sources for name in re.findall(r'reach\("([a-z.]+)"', source.read_text())
    }

    assert reached == set(NAMES)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_named_step_changes_nothing(
    case: Callable[[], Any], undisturbed: Mapping[str, Any], point: str
) -> None:
    made = case()

    killed = made("-v", "run", "c.yaml", **{VARIABLE: point})
    ended = made("-v", "run", "c.yaml")

    assert killed.code == KILLED, f"{point} was not reached: {killed.err}"
    assert ended.code == 0, ended.err
    if point not in {"run.delivered", "run.released"}:  # then the first had done it all
        check(made, killed.err + ended.err, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(STEPS)))
@pytest.mark.parametrize("point", ["action.begun", "action.worked", "action.ingested"])
def test_a_kill_in_any_action_changes_nothing(
    case: Callable[[], Any], undisturbed: Mapping[str, Any], point: str, number: int
) -> None:
    made = case()

    killed = made("-v", "run", "c.yaml", **{VARIABLE: f"{point}@{number}"})
    ended = made("-v", "run", "c.yaml")

    assert killed.code == KILLED
    assert ended.code == 0, ended.err
    check(made, killed.err + ended.err, undisturbed)


def killed_after(made: Any, seconds: float) -> tuple[bool, str]:
    """Run the contract, kill the command after a time; say whether it still lived, and stderr."""
    process = made.start("-v", "run", "c.yaml")
    try:
        return False, process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return True, process.communicate()[1]


def is_over(made: Any) -> bool:
    """Whether the run has ended and was delivered."""
    with Home.open(made.home) as home:
        runs = Runs(home).listing()
        return bool(runs) and runs[0].status in TERMINAL and runs[0].delivery != "pending"


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(
    case: Callable[[], Any], undisturbed: Mapping[str, Any]
) -> None:
    moments = random.Random(20)
    kills = runs = 0
    began = time.monotonic()
    while kills < KILLS:
        made, said = case(), ""
        for _ in range(3):  # the same run is killed up to three times
            if not is_over(made):
                died, err = killed_after(made, 0.2 + 2.0 * moments.random())
                said, kills = said + err, kills + died
        while not is_over(made):
            said += made("-v", "run", "c.yaml").err
        check(made, said, undisturbed)
        runs += 1
    print(
        f"\n{kills} kills of {runs} runs, all equal to the undisturbed one,"
        f" {time.monotonic() - began:.0f} s: acknowledged events lost 0, chain breaks 0,"
        " stuck runs 0, double charges 0"
    )
