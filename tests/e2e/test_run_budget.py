"""Each budget key stops a run once it is used up; what was done is kept and reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

CHARGED = (
    "solver_calls",
    "training_samples",
    "model_calls",
    "model_tokens",
    "reasoner_tokens",
    "code_generations",
    "code_repairs",
    "repair_attempts",
    "gpu_hours",
)


def exhausted(
    harness: Any, budget: Mapping[str, object], steps: list[dict[str, Any]], **fields: Any
) -> Any:
    from_steps = dict.fromkeys(step["use"] for step in steps)
    values = {"capabilities": list(from_steps), "steps": steps, "budget": budget, **fields}
    criterion = {"metric": "value", "op": ">=", "value": 2}  # never met
    harness.contract(
        **{"inputs": None, "holdout": "none", "acceptance": [criterion], **values},
    )
    return harness("run", "c.yaml", "--json")


def assert_ended_by(ended: Any, key: str) -> None:
    """A run that a limit ended tells which one, in its report too, and is exported."""
    assert ended.code == 5, ended
    run = ended.json
    (report,) = [item["path"] for item in run["artifacts"] if item["name"] == "report.md"]
    assert run["status"] == "budget_exhausted"
    assert run["error"]["kind"] == "budget" and key in run["error"]["message"]
    assert key in Path(report).read_text("utf-8").replace("\\", "")
    assert Path(run["export"], "report.md").is_file()


@pytest.mark.parametrize("key", CHARGED)
def test_a_charged_key_stops_the_next_action(
    harness: Any, key: str, conforms: Callable[[str, Any], None]
) -> None:
    steps = [
        {"id": "one", "use": "toy.charge", "with": {"usage": {key: 3}}},
        {"id": "two", "use": "toy.nothing"},
    ]

    ended = exhausted(harness, {key: 2}, steps)

    assert_ended_by(ended, key)
    conforms("failed run", ended.json)
    assert ended.json["budget"][key] == {"used": 3, "limit": 2}  # the overrun is charged truly
    assert ended.json["budget"]["actions"]["used"] == 1


NOTHING = [{"id": f"step{number}", "use": "toy.nothing"} for number in range(3)]
EXPERIMENTS = [{"id": f"step{number}", "use": "toy.experiment"} for number in range(3)]
LIES = [{"id": f"step{number}", "use": "toy.lie"} for number in range(3)]


@pytest.mark.parametrize(
    ("budget", "steps", "used"),
    [
        ({"actions": 2}, NOTHING, 2),
        ({"experiments": 1}, EXPERIMENTS, 1),
        ({"failures": 1}, LIES, 1),
        ({"reasoner_calls": 2}, NOTHING, 2),
    ],
    ids=["actions", "experiments", "failures", "reasoner_calls"],
)
def test_a_counted_key_stops_before_it_is_passed(
    harness: Any, budget: dict[str, int], steps: list[dict[str, Any]], used: int
) -> None:
    (key,) = budget

    ended = exhausted(harness, budget, steps)

    assert_ended_by(ended, key)
    assert ended.json["budget"][key] == {"used": used, "limit": budget[key]}


def test_training_runs_are_counted_by_the_models_made(harness: Any) -> None:
    harness.table()
    steps = [
        {"id": f"fit{bias}", "use": "toy.fit", "inputs": {"data": "data"}, "with": {"bias": bias}}
        for bias in (0, 1, 2)
    ]
    inputs = [{"name": "data", "path": "data.csv", "role": "labelled_table"}]
    criterion = {"metric": "fit_rmse", "op": "<", "value": 0}

    ended = exhausted(harness, {"training_runs": 2}, steps, inputs=inputs, acceptance=[criterion])

    assert_ended_by(ended, "training_runs")
    assert ended.json["budget"]["training_runs"] == {"used": 2, "limit": 2}


def test_cpu_time_is_measured(harness: Any) -> None:
    ended = exhausted(harness, {"cpu_hours": 1e-9}, NOTHING)

    assert_ended_by(ended, "cpu_hours")
    assert ended.json["budget"]["actions"]["used"] == 1
    assert ended.json["budget"]["cpu_hours"]["used"] > 1e-9


def test_wall_time_asks_a_long_action_to_stop(harness: Any) -> None:
    steps = [
        {"id": "long", "use": "toy.note", "with": {"pause": 60}},
        {"id": "next", "use": "toy.note"},
    ]

    ended = exhausted(harness, {"wall_time": "1s"}, steps)

    used = ended.json["budget"]["wall_time"]
    assert_ended_by(ended, "wall_time")
    assert used["limit"] == 1 and 1.0 <= used["used"] < 10.0
    assert ended.json["budget"]["actions"]["used"] == 1


def test_wall_time_ends_an_action_that_does_not_listen(harness: Any) -> None:
    steps = [
        {"id": "long", "use": "toy.note", "with": {"pause": 60, "stubborn": True}},
        {"id": "next", "use": "toy.note"},
    ]

    ended = exhausted(harness, {"wall_time": "1s"}, steps)

    assert_ended_by(ended, "wall_time")
    assert 1.0 <= ended.json["budget"]["wall_time"]["used"] < 10.0
    assert [item["name"] for item in ended.json["artifacts"]] == ["report.md"]


def test_a_failure_counts_and_tells_what_it_had_charged(harness: Any) -> None:
    steps = [
        {"id": "one", "use": "toy.charge", "with": {"usage": {"solver_calls": 7}, "fail": True}},
        {"id": "two", "use": "toy.nothing"},
    ]

    ended = exhausted(harness, {"solver_calls": 7, "failures": 5}, steps)

    assert ended.code == 1  # 7 of 7 are used; the second step needs none
    assert ended.json["budget"]["solver_calls"]["used"] == 7
    assert ended.json["budget"]["failures"]["used"] == 1
    assert ended.json["budget"]["actions"]["used"] == 2


def test_the_record_of_an_exhausted_run_is_whole(harness: Any) -> None:
    ended = exhausted(harness, {"actions": 1}, NOTHING)

    harness("verify", "1", code=0)
    harness("verify", ended.json["export"], code=0)
    assert harness.kinds().count("BudgetExhausted") == 1
    assert harness.show() == ended.json
    assert "budget_exhausted" in harness("resume", "1", code=2).err


def test_one_action_is_kept_for_the_report(harness: Any) -> None:
    steps = [*NOTHING[:2], {"id": "more", "use": "toy.nothing"}]

    ended = exhausted(
        harness,
        {"actions": 3},
        steps,
        capabilities=["toy.nothing", "reporting.write"],
    )

    names = {item["name"] for item in ended.json["artifacts"]}
    assert_ended_by(ended, "actions")
    assert {"report.md", "report.html"} <= names
    assert ended.json["budget"]["actions"] == {"used": 3, "limit": 3}


def test_without_a_limit_everything_runs(harness: Any) -> None:
    for budget in ("unlimited", None, {}):
        harness.contract(
            inputs=None,
            holdout="none",
            capabilities=["toy.nothing"],
            steps=NOTHING,
            acceptance=[{"metric": "value", "op": "==", "value": 1}],
            budget=budget,
            name=f"{budget}.yaml",
        )

        run = harness("run", f"{budget}.yaml", "--json", code=0).json

        assert run["budget"]["actions"] == {"used": 3, "limit": None}
