"""Executors of plugins: how programs are started, within what the kernel allows."""

from __future__ import annotations

from typing import Any

import pytest

from sciharness import Launch, Program
from sciharness.runtime.programs import wrapped
from sciharness.workers.pool import ActionFailed

STEPS = [
    {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
    {
        "id": "look",
        "use": "evaluation.regression",
        "inputs": {"predictor": "fit", "data": "data.train"},
    },
    {
        "id": "judge",
        "use": "evaluation.regression",
        "inputs": {"predictor": "fit", "data": "data"},
    },
]


def test_it_covers_visible_evaluations_and_not_the_final_one(harness: Any) -> None:
    harness.contract(steps=STEPS, executor={"use": "example.six.gentle", "niceness": 7})

    run = harness("run", "c.yaml", "--json", code=0).json

    (launched,) = harness.events("ProgramLaunched")
    assert launched == {"index": 1, "purpose": "inference", "prefix": ["nice", "-n", "7"]}
    assert run["status"] == "succeeded"


def test_the_program_runs_behind_its_words(harness: Any) -> None:
    """The words in front are what is started: one that does not pass it on leaves no result."""
    harness.contract(steps=STEPS, executor={"use": "odd.loose", "prefix": ["/usr/bin/true"]})

    harness("run", "c.yaml", "--json", code=0)

    (failed,) = [one["action"] for one in harness.events("ActionFailed")]
    assert (failed["step"], failed["reason"]) == ("look", "missing_result")


def test_variables_reach_the_program(harness: Any) -> None:
    words = ["sh", "-c", 'test "$QUEUE" = short && exec "$@"', "sh"]
    executor = {"use": "odd.loose", "prefix": words, "environment": {"QUEUE": "short"}}
    harness.contract(steps=STEPS, executor=executor)

    harness("run", "c.yaml", code=0)

    assert harness.events("ActionFailed") == []


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (Launch(environment={"PATH": "/tmp"}), "'PATH' is not its to set"),
        (Launch(environment={"PYTHONPATH": "/tmp"}), "'PYTHONPATH' is not its to set"),
        (Launch(environment={"LD_PRELOAD": "/tmp/x.so"}), "'LD_PRELOAD' is not its to set"),
        (Launch(environment={"A B": "1"}), "'A B' is not its to set"),
        (Launch(wall_seconds=601.0), "may only be tightened"),
        (Launch(wall_seconds=-1.0), "may only be tightened"),
        (Launch(wall_seconds=float("nan")), "may only be tightened"),
        (Launch(memory_bytes=2**40), "may only be tightened"),
        (Launch(prefix=("",)), "an empty word"),
        (Launch(prefix=("a\0b",)), "an empty word"),
    ],
)
def test_one_that_asks_for_too_much_is_refused(launch: Launch, said: str) -> None:
    program = Program("inference", ("python", "x.py"), {"PATH": "/bin"}, 600.0, 2**33)

    with pytest.raises(ActionFailed, match=said):
        wrapped(program, launch)


def test_what_it_may_ask_for_is_what_is_started() -> None:
    program = Program("inference", ("python", "x.py"), {"PATH": "/bin"}, 600.0, None)

    command = wrapped(program, Launch(("nice",), {"QUEUE": "short"}, 60.0, 2**30))

    assert command.argv == ("nice", "python", "x.py")
    assert command.environment == {"PATH": "/bin", "QUEUE": "short"}
    assert (command.wall_seconds, command.memory_bytes) == (60.0, 2**30)


def test_one_that_fails_fails_the_action_only(harness: Any) -> None:
    harness.contract(steps=STEPS, executor={"use": "odd.loose", "wall_seconds": 1e6})

    run = harness("run", "c.yaml", "--json", code=0).json

    (failed,) = [one["action"] for one in harness.events("ActionFailed")]
    assert (failed["step"], failed["reason"]) == ("look", "nonsense")
    assert run["status"] == "succeeded"  # the final evaluation is the kernel's own


def test_its_pin_stands_in_the_lock_and_its_options_are_checked(harness: Any) -> None:
    harness.contract(executor={"use": "example.six.gentle", "niceness": 99})
    refused = harness.review("c.yaml")
    harness.contract(executor={"use": "example.six.gentle"})
    accepted = harness.review("c.yaml")

    assert [problem.path for problem in refused.problems] == ["executor.niceness"]
    assert accepted.lock().pins["executor"].startswith("example.six 1.0.0 gentle ")
