"""Predictions that are missing, blank or no number fail the evaluation; nothing is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def spoilt(made: Any, spoil: str) -> Any:
    made.contract(
        name=f"{spoil}.yaml",
        steps=[
            {
                "id": "fit",
                "use": "toy.fit",
                "inputs": {"data": "data"},
                "with": {"spoil": spoil},
            },
            {
                "id": "judge",
                "use": "evaluation.regression",
                "inputs": {"predictor": "fit", "data": "data"},
            },
        ],
    )
    return made("run", f"{spoil}.yaml", "--json")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("missing", "1 missing"),
        ("blank", "1 of 12 cells of 'prediction'"),
        ("nan", "1 of 12 cells of 'prediction'"),
        ("crash", "the predictor gave up"),
    ],
)
def test_an_evaluation_of_spoilt_predictions_fails(harness: Any, spoil: str, said: str) -> None:
    harness.table()

    ended = spoilt(harness, spoil)

    (verdict,) = ended.json["criteria"]
    (failed,) = [event for event in harness.events() if event["kind"] == "ActionFailed"]
    assert ended.code == 1
    assert (verdict["value"], verdict["met"]) == (None, False)
    assert said in failed["body"]["action"]["message"]
    assert ended.json["budget"]["failures"]["used"] == 1
    assert not [item for item in ended.json["metrics"] if item["source"] == "trusted"]


def test_the_good_predictor_is_judged_on_every_row(harness: Any) -> None:
    harness.table()

    ended = spoilt(harness, "no")

    (path,) = [
        item["path"] for item in ended.json["artifacts"] if item["name"] == "evaluation.json"
    ]
    evaluation = json.loads(Path(path).read_text("utf-8"))
    assert ended.code == 0
    assert (evaluation["rows"], evaluation["view"]) == (12, "final")


@pytest.fixture(scope="module")
def looked(fresh: Callable[..., Any]) -> Any:
    """A predictor whose evaluation failed after its look, then another, then the first again."""
    made = fresh("looked")
    made.table()
    return made, spoilt(made, "nan"), spoilt(made, "no"), spoilt(made, "nan")


def test_a_failed_evaluation_has_used_its_look(looked: Any) -> None:
    _, first, second, _ = looked

    assert first.code == 1
    assert second.code == 7
    assert first.json["run_id"] in second.json["error"]["message"]


def test_the_same_predictor_may_fail_again_at_no_cost(looked: Any) -> None:
    _, first, _, third = looked

    assert third.code == 1
    assert third.json["criteria"] == first.json["criteria"]
