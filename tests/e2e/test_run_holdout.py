"""Which rows are sealed under each rule, and how looks at them are counted."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def fit_and_judge(bias: float = 0.0, **fields: Any) -> list[dict[str, Any]]:
    fit = {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}, "with": {"bias": bias}}
    judge = {"id": "judge", "use": "evaluation.regression"}
    return [fit, {**judge, "inputs": {"predictor": "fit", "data": "data"}}]


def rows(run: dict[str, Any], name: str) -> list[dict[str, str]]:
    (path,) = [item["path"] for item in run["artifacts"] if item["name"] == name]
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def several(fresh: Callable[..., Any]) -> Any:
    """Three predictors under max_queries 2, then another split of the same file."""
    made = fresh("several")
    made.table()
    for number in (1, 2, 3):
        made.contract(
            name=f"{number}.yaml",
            steps=fit_and_judge(number / 100),
            holdout={"fraction": 0.2, "seed": 0, "max_queries": 2},
        )
    made.contract(name="4.yaml", holdout={"order": "last"}, steps=fit_and_judge())
    return made, [made("run", f"{number}.yaml", "--json") for number in (1, 2, 3, 4)]


def test_max_queries_admits_so_many_predictors(several: Any) -> None:
    _, ended = several

    assert [done.code for done in ended[:3]] == [0, 0, 7]
    assert "2 distinct predictors" in ended[2].json["error"]["message"]


def test_check_foresees_that_the_looks_are_spent(several: Any) -> None:
    made, ended = several

    warned = made("check", "3.yaml", "--json", code=0).json["warnings"]

    (spent,) = [one for one in warned if "final labels" in one["found"]]
    assert "2 of 2 looks" in spent["found"]
    assert ended[0].json["run_id"] in spent["found"]
    assert "--spend-holdout" in spent["hint"]


def test_check_is_silent_while_a_look_is_left(fresh: Callable[..., Any]) -> None:
    made = fresh("unspent")
    made.table()
    made.contract(steps=fit_and_judge())

    warned = made("check", "c.yaml", "--json", code=0).json["warnings"]

    assert not [one for one in warned if "final labels" in one["found"]]


def test_two_splits_of_one_file_count_together(several: Any) -> None:
    _, ended = several

    assert ended[3].code == 7
    assert ended[0].json["run_id"] in ended[3].json["error"]["message"]


def test_every_look_of_a_run_is_shown(several: Any) -> None:
    made, ended = several

    (look,) = made.show(ended[1].json["run_id"])["holdout_queries"]

    assert (look["look"], look["replayed"], look["spent"]) == (2, False, False)


def test_groups_stay_whole(harness: Any) -> None:
    harness.table(batch=[number // 6 for number in range(60)])
    harness.contract(holdout={"group": "batch", "fraction": 0.2, "seed": 3})

    run = harness("run", "c.yaml", "--json", code=0).json

    visible = {row["batch"] for row in rows(run, "train-data.csv")}
    sealed = run["sealed_holdout_targets"]["data"]
    assert len(visible) == 8
    assert (sealed["rows_train"], sealed["rows_final"]) == (48, 12)
    assert "batch" not in rows(run, "final_inputs.csv")[0]


def test_order_seals_the_last_rows(harness: Any) -> None:
    source = harness.table()
    harness.contract(holdout={"order": "last", "fraction": 0.25})

    run = harness("run", "c.yaml", "--json", code=0).json

    with source.open(newline="") as stream:
        everything = list(csv.DictReader(stream))
    assert rows(run, "train-data.csv") == everything[:45]
    assert [row["a"] for row in rows(run, "final_inputs.csv")] == [r["a"] for r in everything[45:]]
    assert set(rows(run, "final_inputs.csv")[0]) == {"sample_id", "a", "b"}


def test_holdout_none_seals_nothing_and_reports(harness: Any) -> None:
    harness.table()
    harness.contract(
        holdout="none",
        capabilities=["toy.fit", "toy.count"],
        acceptance=[{"metric": "rows", "op": "==", "value": 60}],
    )

    run = harness("run", "c.yaml", "--json", code=0).json

    assert run["sealed_holdout_targets"] == {}
    assert {metric["source"] for metric in run["metrics"]} == {"reported"}


def test_verification_rows_are_shown_to_verification_steps_alone(harness: Any) -> None:
    harness.table(rows=100)
    harness.contract(
        capabilities=["toy.count", "toy.fit", "evaluation.regression", "toy.recount"],
        holdout={"fraction": 0.2, "verification": 0.1},
        workflow={"hypothesis_verification": True},
    )

    run = harness("run", "c.yaml", "--json", code=0).json

    sealed = run["sealed_holdout_targets"]["data"]
    seen = {item["capability"]: item["value"] for item in run["metrics"] if item["name"] == "rows"}
    assert seen == {"toy.count": 70.0, "toy.recount": 10.0}
    assert (sealed["rows_train"], sealed["rows_final"]) == (70, 20)


def test_judging_visible_rows_only_reports_and_freezes_nothing(harness: Any) -> None:
    harness.table()
    steps = fit_and_judge()
    steps[1]["inputs"]["data"] = "data.train"
    criterion = {"metric": "relative_rmse", "op": "<=", "value": 0.05}
    harness.contract(steps=steps, acceptance=[criterion])

    run = harness("run", "c.yaml", "--json", code=0).json

    assert {metric["source"] for metric in run["metrics"]} == {"reported"}
    assert not {"PredictorFrozen", "HoldoutQueried"} & set(harness.kinds())
    harness.contract(name="trusted.yaml", steps=steps)
    assert "no step judges it on the final rows" in harness("run", "trusted.yaml", code=3).err


def test_too_few_final_rows_are_refused(harness: Any) -> None:
    harness.table(rows=20)
    harness.contract(holdout={"fraction": 0.1})

    refused = harness("run", "c.yaml", "--json", code=3)

    assert "final rows" in str(refused.json["problems"])
    assert harness("list", "--json", code=0).json == {"runs": []}


FIT = {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}}
GENERATED: dict[str, Any] = {
    "capabilities": ["toy.fit", "toy.points", "evaluation.regression"],
    "inputs": [{"name": "data", "path": "data.csv", "role": "labelled_table"}],
    "holdout": {"generated_by": "final"},
    "steps": [
        FIT,
        {"id": "final", "use": "toy.points", "inputs": {"predictor": "fit"}, "with": {"rows": 30}},
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "final"},
        },
    ],
}


def straight(made: Any) -> None:
    """Write a table of the line that `toy.points` draws from, with one feature."""
    lines = ["x,y", *(f"{x / 7!r},{2.0 * x / 7 + 1.0!r}" for x in range(40))]
    (made.folder / "data.csv").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def generated(fresh: Callable[..., Any]) -> Any:
    made = fresh("generated")
    straight(made)
    made.contract(**GENERATED)
    refused = made("run", "c.yaml", "--json")
    made("plugin", "admit", "toy", "--trust-labels", code=0)
    return made, refused, made("run", "c.yaml", "--json"), made("run", "c.yaml", "--json")


def test_computed_labels_need_the_consent_of_a_person(generated: Any) -> None:
    _, refused, _, _ = generated

    assert refused.code == 3
    assert "--trust-labels" in str(refused.json["problems"])


def test_generated_final_data_give_a_trusted_value(generated: Any) -> None:
    _, _, ended, _ = generated

    sealed = ended.json["sealed_holdout_targets"]["final"]
    assert ended.code == 0
    assert ended.json["criteria"][0]["met"] is True
    assert sealed["rows_final"] == 30
    assert "after the predictor was frozen" in sealed["reason"]


def test_generated_labels_are_nowhere_but_in_the_vault(generated: Any) -> None:
    made, _, ended, _ = generated
    labels, *_ = made.home.glob("vault/*/labels.csv")
    texts = [line.split(",")[1] for line in labels.read_text("utf-8").splitlines()[1:]]
    stored = [path for place in ("objects", "exports") for path in (made.home / place).rglob("*")]
    contents = b"".join(path.read_bytes() for path in stored if path.is_file())
    contents += str(made.events(ended.json["run_id"])).encode()

    assert len(texts) == 30
    assert not [text for text in texts if text.encode() in contents]
    assert not [item for item in ended.json["artifacts"] if item["name"] == "points.csv"]
    assert set(rows(ended.json, "final_inputs.csv")[0]) == {"sample_id", "x"}


def test_generated_rows_follow_from_the_frozen_predictor(generated: Any) -> None:
    made, _, first, second = generated
    made.contract(
        name="other.yaml",
        **GENERATED | {"steps": [{**FIT, "with": {"bias": 0.001}}, *GENERATED["steps"][1:]]},
    )
    other = made("run", "other.yaml", "--json")

    drawn = [rows(done.json, "final_inputs.csv") for done in (first, second, other)]
    assert second.code == 0
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_looks_at_generated_labels_are_counted_too(generated: Any) -> None:
    made, _, first, second = generated
    looks = made.show(second.json["run_id"])["holdout_queries"]

    assert looks[0]["replayed"] is True
    made.contract(
        name="third.yaml",
        **GENERATED | {"steps": [{**FIT, "with": {"bias": 0.5}}, *GENERATED["steps"][1:]]},
    )
    refused = made("run", "third.yaml", "--json", code=7)
    assert first.json["run_id"] in refused.json["error"]["message"]
