"""A plugin that lies or breaks fails alone: other steps go on and the home stays usable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LIES = {
    "nan": "bad_metric",
    "bool": "bad_metric",
    "text": "bad_metric",
    "undeclared": "undeclared_metric",
    "crash": ("crash", "memory"),
    "error": "error",
    "data": "data",
    "request": "request",
    "artifact": ("bad_artifact", "missing_result"),
}


@pytest.fixture(scope="module")
def lied(fresh: Callable[..., Any]) -> Any:
    """One run of all lies, each followed by an honest step."""
    made = fresh("lied")
    steps = []
    for how in (*LIES, "prints"):
        steps.append({"id": how, "use": "toy.lie", "with": {"how": how}})
        steps.append({"id": f"after_{how}", "use": "toy.note"})
    made.contract(
        inputs=None,
        holdout="none",
        capabilities=["toy.lie", "toy.note"],
        acceptance=[{"metric": "value", "op": ">=", "value": 1}],
        steps=steps,
    )
    return made, made("run", "c.yaml", "--json")


def test_each_lie_has_its_typed_reason(lied: Any) -> None:
    made, _ = lied
    failed = {
        event["body"]["action"]["step"]: event["body"]["action"]["reason"]
        for event in made.events()
        if event["kind"] == "ActionFailed"
    }

    assert failed.keys() == LIES.keys()
    for how, reason in failed.items():
        assert reason in LIES[how], how


def test_the_steps_in_between_are_not_affected(lied: Any) -> None:
    made, ended = lied
    finished = [
        event["body"]["action"]["step"]
        for event in made.events()
        if event["kind"] == "ActionFinished"
    ]

    assert finished == [*(f"after_{how}" for how in LIES), "prints", "after_prints"]
    assert ended.json["budget"]["failures"]["used"] == len(LIES)
    assert ended.json["budget"]["actions"]["used"] == 2 * len(LIES) + 2


def test_no_lie_became_a_value(lied: Any) -> None:
    _, ended = lied

    assert {item["value"] for item in ended.json["metrics"]} == {1.0}
    assert {item["name"] for item in ended.json["metrics"]} == {"value"}
    assert "stolen.txt" not in {item["name"] for item in ended.json["artifacts"]}


def test_what_is_printed_does_not_reach_the_output(lied: Any) -> None:
    _, ended = lied

    assert "xxxx" not in ended.out


def test_the_home_is_usable_afterwards(lied: Any) -> None:
    made, ended = lied

    made("verify", "1", code=0)
    made("verify", ended.json["export"], code=0)
    made.contract(
        inputs=None,
        holdout="none",
        capabilities=["toy.nothing"],
        acceptance=[{"metric": "value", "op": "==", "value": 1}],
        name="honest.yaml",
    )
    assert made("run", "honest.yaml", code=0)
    assert made("doctor", "--fsck", "--json", code=0).json["home"]["problems"] == []


def test_nothing_is_left_of_the_workers(lied: Any) -> None:
    made, _ = lied

    assert list((made.home / "workspaces").iterdir()) == []
    assert list((made.home / "tmp").iterdir()) == []


def test_a_run_of_failures_alone_fails_with_their_reasons(harness: Any) -> None:
    harness.contract(
        inputs=None,
        holdout="none",
        capabilities=["toy.lie"],
        acceptance=[{"metric": "value", "op": ">=", "value": 1}],
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    assert "an error on request" in ended.json["reason"]
    assert "an error on request" in ended.err
