"""What a training reports, on what it depends, and what it refuses."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sciharness import Input
from sciharness.errors import DataError
from sciharness_tabular.plugin import harness_capabilities

Ran = Any  # the record of conftest.py
Train = Callable[..., Ran]
Labelled = Callable[..., Input]
Table = Callable[..., dict[str, Any]]
Predict = Callable[..., list[dict[str, str]]]

QUICK = {"models": ["linear", "forest"]}


def test_all_declared_files_are_written_and_say_what_was_done(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    data = labelled(waves(100), units={"a": "m", "y": "s"})

    ran = run_train(data)

    (capability,) = (one for one in harness_capabilities() if one.operation == "train")
    card, selection = ran.json("model_card.json"), ran.json("model_selection.json")
    assert set(ran.files) == {output.name for output in capability.outputs}
    assert set(ran.outcome.metrics) <= set(capability.metrics)
    assert card["training_sha256"] == hashlib.sha256(data.path.read_bytes()).hexdigest()
    assert {one["source"] for one in card["metrics"]} == {"validation"}
    assert card["columns"][0]["unit"] == "m"
    assert card["versions"]["scikit-learn"]
    assert [one["model"] for one in selection["candidates"]] == [
        "linear", "quadratic", "cubic", "boosting", "forest",
    ]  # fmt: skip
    assert selection["chosen"] in ran.outcome.notes[0]
    assert len(selection["candidates"][3]["fits"]) == 3


def test_metrics_are_those_of_predictions_made_without_the_row(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    columns = waves(40)
    ran = run_train(labelled(columns), models=["linear"], folds=40)

    # Leave-one-out of least squares in closed form: residual / (1 - leverage).
    design = np.stack([np.ones(40), columns["a"], columns["b"], columns["c"]], axis=1)
    hat = design @ np.linalg.pinv(design)
    left_out = (columns["y"] - hat @ columns["y"]) / (1 - np.diag(hat))
    expected = np.sqrt(np.mean(left_out**2) / np.mean(columns["y"] ** 2))
    assert ran.json("model_selection.json")["candidates"][0]["setting"]["penalty"] <= 0.1
    assert ran.outcome.metrics["relative_rmse"] == pytest.approx(expected, rel=0.02)


def test_the_example_runs_and_the_guide_covers_what_it_has_to(
    labelled: Labelled, run_train: Train, kinds: Table
) -> None:
    ran = run_train(labelled(kinds(60), task="classification"), models=["forest"])

    example = [sys.executable, "minimal_example.py"]
    done = subprocess.run(example, cwd=ran.folder, capture_output=True, text=True, check=True)

    guide = (ran.folder / "usage_guide.md").read_text("utf-8")
    assert done.stdout.splitlines()[0] == "sample_id,prediction,probability,in_domain"
    assert all(f"## {part}" in guide for part in ("Input", "Output", "Domain", "Fallback"))


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_bytes_depend_on_the_seed_alone_not_on_the_number_of_workers(
    labelled: Labelled, run_train: Train, waves: Table, kinds: Table, task: str
) -> None:
    columns = waves(90) if task == "regression" else kinds(90, names=("a", "b", "c"))
    data = labelled(columns, task=task)

    one, two, other = (
        run_train(data, name=f"{workers}-{seed}", workers=workers, seed=seed).files
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )

    assert one == two
    assert one["model_selection.json"] != other["model_selection.json"]


def test_rows_of_weight_zero_are_as_if_they_were_not_there(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    columns = waves(80)
    spoilt = {name: np.concatenate([column, column]) for name, column in columns.items()}
    spoilt["y"][80:] += 100
    weights = np.concatenate([np.ones(80), np.zeros(80)])

    plain = run_train(labelled(columns), name="plain", **QUICK)
    weighted = run_train(
        labelled({"w": weights, **spoilt}, "spoilt.csv", weights="w"), name="weighted", **QUICK
    )

    assert weighted.outcome.metrics == plain.outcome.metrics
    assert weighted.files["model.json"] == plain.files["model.json"]


def test_measurement_errors_make_rough_rows_count_less(
    labelled: Labelled, run_train: Train, predict: Predict
) -> None:
    draw = np.random.default_rng(4)
    x, sigma = draw.uniform(0, 1, 200), np.where(np.arange(200) < 100, 0.01, 10.0)
    columns = {"x": x, "s": sigma, "y": 3 * x + sigma * draw.normal(size=200)}

    ran = run_train(labelled(columns, sigma="s"), models=["linear"])
    (row,) = predict(ran.folder, {"x": [1.0]})

    # The rough rows alone are off by about 10 / sqrt(100); weighed, 0.01 / sqrt(100) is left.
    assert float(row["prediction"]) == pytest.approx(3.0, abs=0.01)
    assert ran.json("model_selection.json")["weighted"] is True


def test_equal_class_weights_find_a_rare_class(labelled: Labelled, run_train: Train) -> None:
    draw = np.random.default_rng(5)
    x = np.concatenate([draw.normal(0, 1, 380), draw.normal(1.5, 1, 20)])
    data = labelled({"x": x, "kind": ["usual"] * 380 + ["rare"] * 20}, task="classification")

    plain = run_train(data, models=["linear"], name="plain").outcome.metrics
    even = run_train(data, models=["linear"], name="even", balance=True).outcome.metrics

    assert plain["balanced_accuracy"] < 0.6
    assert even["balanced_accuracy"] > 0.7


def test_groups_held_out_as_a_whole_show_what_single_rows_hide(
    labelled: Labelled, run_train: Train
) -> None:
    # Each sample has its own level and its own x: neighbours of a row give its level away.
    draw = np.random.default_rng(6)
    sample = np.repeat(np.arange(30), 10)
    x = draw.permutation(30)[sample] + 0.01 * draw.normal(size=300)
    columns = {"x": x, "sample": [f"s{one}" for one in sample], "y": draw.normal(size=30)[sample]}

    rows = run_train(
        labelled(columns, ignore=("sample",)), models=["forest"], name="rows"
    ).outcome.metrics
    groups = run_train(labelled(columns, "g.csv", group="sample"), models=["forest"], name="groups")

    assert rows["r2"] > 0.95
    assert groups.outcome.metrics["r2"] < 0.3
    folds = groups.json("model_selection.json")["folds"]
    assert folds == {"count": 3, "kept_together": "groups"}


def test_many_rows_are_compared_on_a_sample_and_fitted_whole(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    ran = run_train(labelled(waves(400)), models=["linear"], selection_rows=100)

    selection = ran.json("model_selection.json")
    assert selection["rows"] == {"visible": 400, "compared": 100}
    assert selection["final_fit"]["rows"] == 400
    assert "cross-validation on 100 of them" in ran.json("model_card.json")["limits"][0]


def test_class_names_that_are_numbers_stay_as_they_are_written(
    labelled: Labelled, run_train: Train, predict: Predict, kinds: Table
) -> None:
    data = labelled(kinds(80, names=("007", "1e1")), task="classification")

    ran = run_train(data, models=["linear"])
    rows = predict(ran.folder, {"a": [0.0, 1.0], "b": [0.0, 1.0]})

    assert [row["prediction"] for row in rows] == ["007", "1e1"]


def test_a_cancelled_training_ends_with_the_first_model(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    ran = run_train(labelled(waves(60)), cancelled=lambda: True)

    selection = ran.json("model_selection.json")
    assert selection["chosen"] == "linear"
    assert selection["stop_reason"] == "cancelled"
    assert any("cancelled" in limit for limit in ran.json("model_card.json")["limits"])


def test_many_columns_have_no_polynomial_and_many_classes_no_boosting(
    labelled: Labelled, run_train: Train
) -> None:
    draw = np.random.default_rng(7)
    wide = {f"c{place}": draw.normal(size=60) for place in range(40)}
    kind = [f"k{place % 31}" for place in range(93)]
    many = {"x": np.arange(93.0) % 31 + 0.1 * draw.normal(size=93), "kind": kind}

    columns = run_train(labelled({**wide, "y": wide["c0"]}), name="wide")
    classes = run_train(labelled(many, "many.csv", task="classification"), name="many")

    assert columns.json("model_selection.json")["not_compared"] == [
        {"model": "quadratic", "reason": "860 terms, at most 60 for 60 rows"},
        {"model": "cubic", "reason": "12340 terms, at most 60 for 60 rows"},
    ]
    assert {"model": "boosting", "reason": "31 classes, at most 30"} in classes.json(
        "model_selection.json"
    )["not_compared"]


def test_a_class_of_one_row_is_named_as_not_learnt(
    labelled: Labelled, run_train: Train, kinds: Table
) -> None:
    columns = kinds(60)
    columns["kind"][7] = "seldom"

    ran = run_train(labelled(columns, task="classification"))

    card = ran.json("model_card.json")
    assert card["target"]["classes"] == ["no", "seldom", "yes"]
    assert "Too few rows to learn these classes: 'seldom'." in card["limits"]


@pytest.mark.parametrize(
    ("columns", "roles", "message"),
    [
        ({"x": range(9), "y": range(9)}, {}, "at least 10 rows"),
        ({"x": range(12), "y": [5] * 12}, {}, "a target that varies, found 5.0"),
        ({"x": range(12), "y": ["a"] * 12}, {"task": "classification"}, "found 'a' alone"),
        ({"w": [-1] * 12, "x": range(12), "y": range(12)}, {"weights": "w"}, 'column "w"'),
        ({"s": [0] * 12, "x": range(12), "y": range(12)}, {"sigma": "s"}, 'column "s"'),
        ({"x": [-1.7e308, *[1.7e308] * 11], "y": range(12)}, {}, "double precision"),
    ],
    ids=["few", "constant", "one-class", "weight", "sigma", "span"],
)
def test_rows_that_nothing_can_be_learnt_from_are_refused(
    labelled: Labelled,
    run_train: Train,
    columns: dict[str, Any],
    roles: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(DataError, match=message):
        run_train(labelled(columns, **roles), models=["linear"])


@pytest.mark.slow
def test_a_law_with_noise_is_learnt_to_the_noise(
    labelled: Labelled, run_train: Train, predict: Predict, waves: Table, numbers: Any
) -> None:
    unseen = waves(3000, seed=8, noise=0.0)

    ran = run_train(labelled(waves(2000, noise=0.1)), iterations=300)
    found = numbers(predict(ran.folder, {name: unseen[name] for name in "abc"}), "prediction")

    assert np.sqrt(np.mean((found - unseen["y"]) ** 2)) < 0.07
    assert ran.outcome.metrics["rmse"] == pytest.approx(0.1, abs=0.02)
