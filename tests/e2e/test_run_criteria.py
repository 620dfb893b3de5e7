"""How criteria are judged: operators, sources, missing and undefined values, completion."""

from __future__ import annotations

from typing import Any

import pytest

SMALL = {"inputs": None, "holdout": "none", "capabilities": ["toy.nothing"]}


@pytest.mark.parametrize(
    ("op", "threshold", "value", "met"),
    [
        ("==", 0.3, 0.3, True),
        ("==", 0.3, 0.30000000000000004, False),
        ("==", 1, 1.0, True),
        ("<", 1, 1.0, False),
        (">=", 1e300, 1e300, True),
    ],
)
def test_a_comparison_is_exact(
    harness: Any, op: str, threshold: float, value: float, met: bool
) -> None:
    harness.contract(
        **SMALL,
        acceptance=[{"metric": "value", "op": op, "value": threshold}],
        steps=[{"id": "one", "use": "toy.nothing", "with": {"value": value}}],
    )

    ended = harness("run", "c.yaml", "--json")

    (verdict,) = ended.json["criteria"]
    assert (ended.code, verdict["met"]) == ((0, True) if met else (1, False))
    assert verdict["value"] == value
    assert (verdict["reason"] is None) is met


def test_the_newest_value_counts(harness: Any) -> None:
    values = (1, 5, 2)
    harness.contract(
        **SMALL,
        acceptance=[{"metric": "value", "op": "==", "value": 2}],
        steps=[
            {"id": f"step{value}", "use": "toy.nothing", "with": {"value": value}}
            for value in values
        ],
    )

    run = harness("run", "c.yaml", "--json", code=0).json

    assert [metric["value"] for metric in run["metrics"]] == [1.0, 5.0, 2.0]


def test_a_missing_value_meets_nothing(harness: Any) -> None:
    harness.contract(
        **{**SMALL, "capabilities": ["toy.lie"]},
        acceptance=[{"metric": "value", "op": "<=", "value": 1e9}],
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    (verdict,) = ended.json["criteria"]
    assert (verdict["value"], verdict["reason"]) == (None, "no value was produced")
    assert ended.json["status"] == "failed" and "error" not in ended.json


def test_an_unmet_run_says_the_gap_the_limit_and_how_to_go_on(harness: Any) -> None:
    harness.contract(**SMALL, acceptance=[{"metric": "value", "op": ">=", "value": 3}])

    ended = harness("run", "c.yaml", code=1)

    assert "best value: 1, 2 away from 3" in ended.err
    assert "limited by: the steps of the contract" in ended.err
    assert "harness run c.yaml" in ended.err
    assert "NOT met" in ended.out


def test_an_undefined_metric_meets_nothing_and_says_why(harness: Any) -> None:
    lines = ["x,y", *(f"{x},{x if x < 40 else 0}" for x in range(1, 51))]
    (harness.folder / "data.csv").write_text("\n".join(lines) + "\n", "utf-8")
    harness.contract(holdout={"order": "last", "fraction": 0.2})

    ended = harness("run", "c.yaml", "--json", code=1)

    (verdict,) = ended.json["criteria"]
    assert verdict["value"] is None
    assert verdict["reason"].startswith("undefined: ")
    assert "rmse" in {metric["name"] for metric in ended.json["metrics"]}


JUDGED = {
    "capabilities": ["toy.fit", "toy.judge"],
    "acceptance": [{"metric": "relative_rmse", "op": "<=", "value": 0.01, "trusted": True}],
}


def test_a_plugin_cannot_trust_itself(harness: Any) -> None:
    harness.table()
    harness.contract(**JUDGED)

    refused = harness("run", "c.yaml", "--json", code=3)

    assert "--trust-metrics" in str(refused.json["problems"])


def saw(harness: Any) -> list[str]:
    """Return what the judge noted of the labels it was given."""
    actions = [event["body"].get("action", {}) for event in harness.events()]
    return [note for one in actions for note in one.get("notes", []) if note.startswith("saw")]


def test_without_trust_it_sees_visible_rows_and_reports(harness: Any) -> None:
    harness.table()
    criterion = {"metric": "relative_rmse", "op": "==", "value": 0}
    harness.contract(**JUDGED | {"acceptance": [criterion]})

    ended = harness("run", "c.yaml", "--json", code=0)

    sources = {item["name"]: item["source"] for item in ended.json["metrics"]}
    assert sources["relative_rmse"] == "reported"
    assert saw(harness) == ["saw 48 labels"]
    assert ended.json["holdout_queries"] == []
    assert "may not see final labels" in ended.err


def test_a_person_may_trust_it(harness: Any) -> None:
    harness("plugin", "admit", "toy", "--trust-metrics", code=0)
    harness.table()
    harness.contract(**JUDGED)

    run = harness("run", "c.yaml", "--json", code=0).json

    assert run["criteria"][0]["met"] is True
    assert {item["source"] for item in run["metrics"]} == {"trusted", "reported"}
    assert saw(harness) == ["saw 12 labels"]


def test_generated_labels_are_not_shown_to_it_at_all(harness: Any) -> None:
    harness("plugin", "admit", "toy", "--trust-labels", code=0)
    lines = ["x,y", *(f"{x / 7!r},{2.0 * x / 7 + 1.0!r}" for x in range(40))]
    (harness.folder / "data.csv").write_text("\n".join(lines) + "\n", "utf-8")
    harness.contract(
        capabilities=["toy.fit", "toy.points", "toy.judge"],
        acceptance=[{"metric": "relative_rmse", "op": "==", "value": 0}],
        holdout={"generated_by": "final"},
        steps=[
            {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
            {"id": "final", "use": "toy.points", "inputs": {"predictor": "fit"}},
            {"id": "judge", "use": "toy.judge", "inputs": {"predictor": "fit", "data": "final"}},
        ],
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    assert "toy.judge may not see final labels" in ended.json["reason"]
    assert saw(harness) == []


def test_reported_values_do_not_meet_a_trusted_criterion(harness: Any) -> None:
    harness("plugin", "admit", "toy", "--trust-metrics", code=0)
    harness.table()
    judge = {"use": "evaluation.regression"}
    harness.contract(
        capabilities=["toy.fit", "toy.judge", "evaluation.regression"],
        steps=[
            {
                "id": "fit",
                "use": "toy.fit",
                "inputs": {"data": "data"},
                "with": {"spoil": "blank"},
            },
            {"id": "bad", **judge, "inputs": {"predictor": "fit", "data": "data"}},
            {
                "id": "seen",
                "use": "toy.judge",
                "inputs": {"predictor": "fit", "data": "data.train"},
            },
        ],
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    (verdict,) = ended.json["criteria"]
    named = [item for item in ended.json["metrics"] if item["name"] == "relative_rmse"]
    assert [(item["value"], item["source"]) for item in named] == [(0.0, "reported")]
    assert verdict["value"] is None and "trusted" in verdict["reason"]


COMPLETE = {
    "acceptance": [{"metric": "task_completion", "op": ">=", "value": 1, "trusted": True}],
    "workflow": {
        "required_artifacts": ["scientific_report", "predictor.evaluation"],
        "final_predictor": True,
    },
}


def test_completion_is_judged_after_the_report(harness: Any) -> None:
    harness.table()
    harness.contract(**COMPLETE)

    run = harness("run", "c.yaml", "--json", code=0).json

    assert run["metrics"][-1] == {
        "name": "task_completion",
        "value": 1.0,
        "source": "runtime",
        "capability": "runtime.completion",
    }
    assert run["criteria"][0]["met"] is True


def test_completion_fails_without_a_judged_predictor(harness: Any) -> None:
    harness.table()
    harness.contract(
        **COMPLETE,
        steps=[
            {
                "id": "fit",
                "use": "toy.fit",
                "inputs": {"data": "data"},
                "with": {"spoil": "blank"},
            },
            {
                "id": "judge",
                "use": "evaluation.regression",
                "inputs": {"predictor": "fit", "data": "data"},
            },
        ],
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    assert ended.json["criteria"][0]["met"] is False
    assert "no evaluated predictor" in ended.json["reason"]
    assert "no predictor.evaluation" in ended.json["reason"]


def test_a_met_criterion_is_not_enough_where_artifacts_are_required(harness: Any) -> None:
    harness.contract(
        **{**SMALL, "capabilities": ["toy.nothing", "toy.lie"]},
        acceptance=[{"metric": "value", "op": "==", "value": 1}],
        workflow={"required_artifacts": ["hypothesis"], "hypothesis_verification": True},
    )

    refused = harness("run", "c.yaml", "--json", code=3)

    assert "which no step makes" in str(refused.json["problems"])


def test_only_one_form_of_completion_exists(harness: Any) -> None:
    harness.contract(**SMALL, acceptance=[{"metric": "task_completion", "op": "<=", "value": 1}])

    assert "the only form of it" in harness("check", "c.yaml", code=3).err
