"""Written predictors against scikit-learn itself, to 1e-12, as child processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Input, read_table
from sciharness_publisher.predictor import Card, Column, model_document
from sciharness_tabular.families.base import Frame, Means
from sciharness_tabular.families.forest import Forest
from sciharness_tabular.families.trees import ExportError
from sciharness_tabular.requests import ALL_MODELS, TrainRequest
from sciharness_tabular.rows import rows_of
from sciharness_tabular.training.operation import families
from sciharness_tabular.training.verify import verify

Ran = Any  # the record of conftest.py
Train = Callable[..., Ran]
Table = Callable[..., dict[str, Any]]
Numbers = Callable[..., np.ndarray]
Predict = Callable[..., list[dict[str, str]]]
Labelled = Callable[..., Input]

CLASSIFIERS = ("linear", "quadratic", "boosting", "forest")


def fitted_again(ran: Ran, data: Input, model: str) -> Any:
    """Fit the chosen model again on all rows, by the plugin's family."""
    rows = rows_of(read_table(data))
    (family,) = families(TrainRequest(models=(model,)))  # type: ignore[arg-type]
    final = ran.json("model_selection.json")
    setting = final["candidates"][0]["setting"]
    seed = final["final_fit"]["parameters"].get("random_state", 0)
    return family.fit(rows, setting, Means(seed, 1)), rows


def fresh(features: Mapping[str, np.ndarray], count: int = 300) -> dict[str, np.ndarray]:
    """Rows within and around the training ranges, some of them training rows."""
    draw = np.random.default_rng(9)
    return {
        name: np.concatenate([column[:50], draw.uniform(column.min() - 1, column.max() + 1, count)])
        for name, column in features.items()
    }


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("model", ALL_MODELS)
def test_a_regression_is_that_of_scikit_learn(
    labelled: Labelled,
    run_train: Train,
    predict: Predict,
    model: str,
    weighted: bool,
    waves: Table,
    numbers: Numbers,
) -> None:
    columns = waves(120)
    roles = {"weights": "w"} if weighted else {}
    table = {"w": np.linspace(0.5, 3, 120), **columns} if weighted else columns
    data = labelled(table, **roles)
    asked = fresh({name: columns[name] for name in "abc"})

    ran = run_train(data, models=[model])
    found = numbers(predict(ran.folder, asked), "prediction")

    again, rows = fitted_again(ran, data, model)
    theirs = again.outputs(np.stack(list(asked.values()), axis=1))[:, 0]
    expected = theirs * rows.spread + rows.centre
    assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("names", [("no", "yes"), ("low, left", 'a "b"', "é")], ids=["two", "more"])
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_classification_is_that_of_scikit_learn(
    labelled: Labelled,
    run_train: Train,
    predict: Predict,
    model: str,
    names: tuple[str, ...],
    kinds: Table,
    numbers: Numbers,
) -> None:
    columns = kinds(150, names=names)
    data = labelled(columns, task="classification")
    asked = fresh({name: columns[name] for name in "ab"})

    ran = run_train(data, models=[model])
    found = predict(ran.folder, asked)

    again, rows = fitted_again(ran, data, model)
    chances = again.outputs(np.stack(list(asked.values()), axis=1))
    assert [row["prediction"] for row in found] == [rows.classes[i] for i in chances.argmax(axis=1)]
    expected = chances[:, 1] if len(names) == 2 else chances.max(axis=1)
    assert np.abs(numbers(found, "probability") - expected).max() <= 1e-12


def test_the_final_fit_can_be_repeated_from_its_record(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    from importlib import import_module

    columns = waves(120)
    ran = run_train(labelled(columns), models=["boosting"])
    fit = ran.json("model_selection.json")["final_fit"]

    place, name = fit["estimator"].rsplit(".", 1)
    bare = getattr(import_module(place), name)(**fit["parameters"])
    features = np.stack([columns[name] for name in "abc"], axis=1)
    bare.fit(features, columns["y"])

    document = ran.json("model.json")
    from sciharness_tabular.training.verify import exported_outputs

    # Single-precision gradients of a target that was not scaled: equal to about 1e-7.
    assert exported_outputs(document, features) == pytest.approx(bare.predict(features), rel=1e-5)


@pytest.mark.parametrize("model", ["linear", "boosting", "forest"])
@pytest.mark.parametrize("size", [2.0**-900, 2.0**900], ids=["tiny", "huge"])
def test_the_size_of_the_numbers_does_not_matter(
    labelled: Labelled, run_train: Train, model: str, size: float, waves: Table
) -> None:
    usual = waves(120)
    scaled = {name: column * size for name, column in usual.items()}

    plain = run_train(labelled(usual), models=[model], name="plain").outcome.metrics
    ran = run_train(labelled(scaled, "scaled.csv"), models=[model], name="scaled").outcome.metrics

    # Powers of two: every step of the work is the same one, only scaled.
    assert ran["r2"] == pytest.approx(plain["r2"], rel=1e-12)
    assert ran["rmse"] == pytest.approx(plain["rmse"] * size, rel=1e-12)


def test_times_of_day_in_seconds_since_1970_keep_their_digits(
    labelled: Labelled, run_train: Train
) -> None:
    from sklearn.ensemble import ExtraTreesRegressor

    draw = np.random.default_rng(3)
    time = np.round(draw.uniform(0, 60, 400), 3)
    columns = {"time [s]": 1.7e9 + time, "y": np.sin(time / 5)}
    held_out = slice(0, 100)

    # As float32, which scikit-learn's forests compare, all these times are equal.
    bare = ExtraTreesRegressor(20, random_state=0)
    bare.fit(columns["time [s]"][100:, None], columns["y"][100:])
    errors = bare.predict(columns["time [s]"][held_out, None]) - columns["y"][held_out]
    ran = run_train(labelled(columns), models=["forest"])

    assert np.sqrt(np.mean(errors**2)) > 0.5
    assert ran.outcome.metrics["rmse"] < 0.05


def test_many_rows_grow_a_forest_of_bounded_size(
    labelled: Labelled, run_train: Train, waves: Table
) -> None:
    ran = run_train(labelled(waves(6000)), models=["forest"], folds=2)

    parameters = ran.json("model_selection.json")["final_fit"]["parameters"]
    nodes = sum(len(tree["feature"]) for tree in ran.json("model.json")["trees"])
    assert parameters["bootstrap"] is True
    assert nodes < 300_000


def test_an_export_that_differs_is_a_typed_error_and_nothing_is_written(
    labelled: Labelled,
    run_train: Train,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    waves: Table,
) -> None:
    data = labelled(waves(60))
    from sciharness_tabular.families import forest

    right = forest._numbers
    monkeypatch.setattr(forest, "_numbers", lambda value: right(value) * (1 + 1e-11))

    with pytest.raises(ExportError, match="differ from scikit-learn's by .*e-1"):
        run_train(data, models=["forest"])

    assert not (tmp_path / "train" / "outputs").exists()


def test_verify_notices_a_changed_threshold_and_a_swapped_class(
    labelled: Labelled, kinds: Table
) -> None:
    rows = rows_of(read_table(labelled(kinds(80), task="classification")))
    fitted = Forest().fit(rows, {}, Means(0, 1))
    columns = tuple(Column(name, name, 0.0, 1.0) for name in "ab")
    frame = Frame("kind", None, columns, "flag", None)
    card = Card("0" * 64, 0, task="classification", classes=rows.classes)
    good = model_document(fitted.model(frame), card)

    assert verify(good, fitted, rows, 0) <= 1e-12
    for name, change in (("threshold", 0.3), ("value", 0.1)):
        trees = [dict(tree) for tree in good["trees"]]
        trees[0][name] = [one + change for one in trees[0][name]]
        with pytest.raises(ExportError):
            verify({**good, "trees": trees}, fitted, rows, 0)


def test_a_band_holds_its_share_of_rows_nobody_has_seen(
    labelled: Labelled, run_train: Train, predict: Predict, waves: Table, numbers: Numbers
) -> None:
    unseen = waves(2000, seed=77, noise=0.5)

    ran = run_train(labelled(waves(400, noise=0.5)), models=["quadratic"], interval=0.8)
    found = predict(ran.folder, {name: unseen[name] for name in "abc"})

    inside = (numbers(found, "lower") <= unseen["y"]) & (unseen["y"] <= numbers(found, "upper"))
    # 0.8 with a deviation of 0.02 from 400 calibration rows and 0.009 from 2000 rows: 3 sigma.
    assert inside.mean() == pytest.approx(0.8, abs=0.066)
    card = ran.json("model_card.json")
    assert any("one width everywhere" in limit for limit in card["limits"])


def test_too_few_rows_for_the_level_leave_the_band_out(
    labelled: Labelled, run_train: Train, predict: Predict, waves: Table
) -> None:
    ran = run_train(labelled(waves(12)), models=["linear"], interval=0.99)

    (row,) = predict(ran.folder, {"a": [1.0], "b": [0.0], "c": [0.0]})

    assert "lower" not in row
    assert any("no band" in limit for limit in ran.json("model_card.json")["limits"])


def test_rows_outside_the_ranges_are_refused_if_asked_for(
    labelled: Labelled, run_train: Train, predict: Predict, waves: Table
) -> None:
    data = labelled(waves(60))

    flagged = run_train(data, models=["linear"], name="flag")
    refusing = run_train(data, models=["linear"], name="refuse", out_of_domain="refuse")

    row = {"a": [99.0], "b": [0.0], "c": [0.0]}
    assert predict(flagged.folder, row)[0]["in_domain"] == "0"
    assert "'a': 99.0 is outside" in predict(refusing.folder, row, code=3)[0]["message"]


def test_odd_column_names_come_through(
    labelled: Labelled, run_train: Train, predict: Predict, waves: Table
) -> None:
    usual = waves(60)
    odd = {'a, "b" {x}': usual["a"], "λ|`x`": usual["b"], "class": usual["c"], "y [m]": usual["y"]}

    ran = run_train(labelled(odd, units={"y [m]": "m"}), models=["boosting"])
    rows = predict(ran.folder, {name: odd[name][:3] for name in list(odd)[:3]})

    assert len(rows) == 3
    assert ran.json("model_card.json")["target"] == {"name": "y [m]", "unit": "m", "classes": []}
