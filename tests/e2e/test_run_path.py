"""From a contract to a judged result: the run, its replay, another predictor, the overruling."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STEPS = [
    {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}, "with": {"bias": 0.0}},
    {"id": "judge", "use": "evaluation.regression", "inputs": {"predictor": "fit", "data": "data"}},
]


def biased(bias: float) -> list[dict[str, Any]]:
    fit, judge = STEPS
    return [{**fit, "with": {"bias": bias}}, judge]


@pytest.fixture(scope="module")
def line(fresh: Callable[..., Any]) -> Any:
    made = fresh("line")
    made.table()
    made.contract()
    return made


@pytest.fixture(scope="module")
def first(line: Any) -> Any:
    return line("run", "c.yaml", "--json")


@pytest.fixture(scope="module")
def again(line: Any, first: Any) -> Any:
    return line("run", "c.yaml", "--json")


@pytest.fixture(scope="module")
def refused(line: Any, again: Any) -> Any:
    line.contract(name="other.yaml", steps=biased(0.01))
    return line("run", "other.yaml", "--json")


@pytest.fixture(scope="module")
def spent(line: Any, refused: Any) -> Any:
    return line("run", "other.yaml", "--spend-holdout")


def test_a_met_trusted_criterion_ends_with_code_0(first: Any) -> None:
    (verdict,) = first.json["criteria"]

    assert first.code == 0
    assert (first.json["status"], first.json["delivery"]) == ("succeeded", "succeeded")
    assert verdict["met"] is True and verdict["trusted"] is True and verdict["reason"] is None
    assert verdict["value"] <= 0.05


def test_the_run_has_the_documented_shape(first: Any, conforms: Callable[[str, Any], None]) -> None:
    conforms("run", first.json)
    assert "error" not in first.json


def test_messages_go_to_the_other_output(first: Any) -> None:
    assert first.out.startswith("{")
    assert "[1] fit: toy.fit" in first.err
    assert "[2] regression: evaluation.regression" in first.err


def test_only_the_judged_rows_give_trusted_values(first: Any) -> None:
    by_source: dict[str, set[str]] = {}
    for metric in first.json["metrics"]:
        by_source.setdefault(metric["source"], set()).add(metric["name"])

    assert by_source["reported"] == {"fit_rmse"}
    assert {"relative_rmse", "r2", "rmse", "mae", "max_abs_error"} <= by_source["trusted"]


def test_the_sealed_target_is_told(first: Any) -> None:
    sealed = first.json["sealed_holdout_targets"]["data"]

    assert sealed["target"] == "y"
    assert (sealed["rows_train"], sealed["rows_final"]) == (48, 12)
    assert sealed["reason"] and sealed["split"]


def test_artifacts_lie_where_they_are_said_to_lie(first: Any) -> None:
    from hashlib import sha256

    artifacts = first.json["artifacts"]

    assert {item["name"] for item in artifacts} >= {
        "model.json",
        "inference.py",
        "model_card.json",
        "evaluation.json",
        "report.md",
    }
    for item in artifacts:
        assert sha256(Path(item["path"]).read_bytes()).hexdigest() == item["sha256"]


def test_what_ran_is_counted(first: Any) -> None:
    budget = first.json["budget"]

    assert budget["actions"] == {"used": 2, "limit": None}
    assert budget["training_runs"]["used"] == 1
    assert budget["failures"]["used"] == 0
    assert budget["wall_time"]["used"] > 0


def test_the_lock_pins_what_was_leased(line: Any, first: Any) -> None:
    lock = json.loads((line.folder / "c.lock").read_text("utf-8"))

    assert {"toy.fit", "evaluation.regression", "reasoner", "executor"} <= set(lock["pins"])
    assert lock["inputs"].keys() == {"data"}


def test_every_record_command_agrees(
    line: Any, first: Any, again: Any, conforms: Callable[[str, Any], None]
) -> None:
    run_id = first.json["run_id"]
    shown = line("show", run_id, "--json", code=0)
    listed = line("list", "--json", code=0)

    assert shown.json == first.json
    assert line("status", run_id[:5], "--json", code=0).json == first.json
    conforms("list", listed.json)
    assert listed.json["runs"][0]["run_id"] == run_id
    assert "verified" in line("verify", "1", code=0).out


def test_events_tell_the_story_in_order(
    line: Any, first: Any, conforms: Callable[[str, Any], None]
) -> None:
    events = line.events("1")
    kinds = [event["kind"] for event in events]

    assert kinds[:2] == ["RunCreated", "InputAdded"]
    assert kinds.index("PredictorFrozen") < kinds.index("HoldoutQueried")
    assert kinds[-2:] == ["RunFinished", "DeliveryFinished"]
    for event in events:
        conforms("event", event)


def test_the_report_can_be_printed(line: Any, first: Any) -> None:
    shown = line("report", "1", "--markdown", code=0)

    assert "relative" in shown.out and "look 1" in shown.out


def test_the_same_predictor_replays_its_answer(line: Any, first: Any, again: Any) -> None:
    (look,) = [event for event in line.events("2") if event["kind"] == "HoldoutQueried"]

    assert again.code == 0
    assert again.json["run_id"] != first.json["run_id"]
    assert again.json["criteria"] == first.json["criteria"]
    assert look["body"]["look"]["replayed"] is True
    assert look["body"]["look"]["look"] == 1


def test_another_predictor_is_refused_naming_the_earlier_run(
    first: Any, refused: Any, conforms: Callable[[str, Any], None]
) -> None:
    error = refused.json["error"]

    assert refused.code == 7
    conforms("failed run", refused.json)
    assert error["kind"] == "integrity"
    assert first.json["run_id"] in error["message"]
    assert "--spend-holdout" in error["hint"]


def test_a_refused_look_gives_no_value_and_is_not_counted(line: Any, refused: Any) -> None:
    assert refused.json["criteria"][0]["value"] is None
    assert refused.json["criteria"][0]["met"] is False
    assert not any(metric["source"] == "trusted" for metric in refused.json["metrics"])
    assert "HoldoutQueried" not in line.kinds(refused.json["run_id"])


def test_a_person_may_look_once_more_and_it_is_printed(line: Any, spent: Any) -> None:
    looks = [event["body"]["look"] for event in line.events("4") if "look" in event["body"]]

    assert spent.code == 0
    assert "look 2" in spent.out
    assert [look["look"] for look in looks] == [2]
    assert looks[0]["spent"] is True
    assert "look 2" in line("report", "4", "--markdown", code=0).out


def test_both_predictors_replay_afterwards(line: Any, spent: Any) -> None:
    replayed = line("run", "other.yaml", "--json", code=0)

    assert replayed.json["criteria"][0]["met"] is True
    assert line.events("5")[-5]["kind"]  # the run is on record


def test_a_third_predictor_is_refused_again(line: Any, spent: Any) -> None:
    line.contract(name="third.yaml", steps=biased(0.02))

    ended = line("run", "third.yaml", code=7)

    assert "2 already" in ended.err
