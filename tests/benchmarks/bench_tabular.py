"""`tabular.train` against the bare scikit-learn fits that it reports, same process, in turn.

A table of 100,000 rows and 20 columns. ``BENCH_ROUNDS=15`` gives the figure of the notes
(default 3); with ``SCIHARNESS_BENCH_QUICK=1`` the table has 20,000 rows.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input, Table

QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
ROWS = 20_000 if QUICK else 100_000
COLUMNS = 20

Array = np.ndarray[Any, np.dtype[np.float64]]


@pytest.fixture(scope="module")
def table() -> tuple[Array, Array]:
    """Features and a target that all models can learn in part."""
    draw = np.random.default_rng(0)
    features = draw.uniform(size=(ROWS, COLUMNS))
    a, b, c, d, e = features[:, :5].T
    curved = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    return features, curved + draw.normal(size=ROWS)


@pytest.fixture(scope="module")
def data(table: tuple[Array, Array], tmp_path_factory: pytest.TempPathFactory) -> Input:
    """The same as a labelled table."""
    import pandas as pd

    features, target = table
    names = tuple(f"c{place}" for place in range(COLUMNS))
    path = tmp_path_factory.mktemp("tabular") / "data.csv"
    pd.DataFrame(features, columns=list(names)).assign(y=target).to_csv(path, index=False)
    return Input("data", path, "DATASET", "labelled_table", Table(target="y", features=names))


def train(data: Input, folder: Path, **request: Any) -> Path:
    from sciharness_tabular.plugin import train as operation
    from sciharness_tabular.requests import TrainRequest

    operation(TrainRequest(**request), Context(inputs={"data": data}, workspace=folder))
    return folder / "outputs"


def cpu(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare_fits(outputs: Path, features: Array, target: Array) -> list[Callable[[], object]]:
    """Return every reported fit, its data made beforehand: as many rows and columns."""
    selection = json.loads((outputs / "model_selection.json").read_text("utf-8"))
    fits = [fit for one in selection["candidates"] for fit in one["fits"]]
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    pairs = np.triu_indices(COLUMNS)
    wide = np.concatenate([scaled, scaled[:, pairs[0]] * scaled[:, pairs[1]]], axis=1)
    matrices = {COLUMNS: scaled, wide.shape[1]: wide}
    found: list[Callable[[], object]] = []
    for fit in [*fits, selection["final_fit"]]:
        module, name = fit["estimator"].rsplit(".", 1)
        estimator = getattr(import_module(module), name)(**fit["parameters"])
        rows = slice(0, fit["rows"])
        found.append(lambda e=estimator, m=matrices[fit["columns"]], r=rows: e.fit(m[r], target[r]))
    return found


def test_training_costs_little_more_than_the_fits_that_it_reports(
    data: Input, table: tuple[Array, Array], tmp_path: Path
) -> None:
    from threadpoolctl import threadpool_limits

    fits = bare_fits(train(data, tmp_path / "first"), *table)  # also loads and warms everything

    def bare() -> None:
        with threadpool_limits(1):  # as ours: threads that wait for each other cost more
            for fit in fits:
                fit()

    rounds = [
        (cpu(bare), cpu(lambda folder=tmp_path / str(number): train(data, folder)))
        for number in range(ROUNDS)
    ]
    usual, ours = (statistics.median(times) for times in zip(*rounds, strict=True))

    print(
        f"\ntabular.train on {ROWS:,} x {COLUMNS}: {ours:.1f} s CPU, {ours / usual:.3f} of the "
        f"{len(fits)} bare fits {usual:.1f} s, median of {ROUNDS}"
    )
    assert ours <= 1.2 * usual


@pytest.mark.parametrize("model", ["boosting", "forest"])
def test_exported_trees_predict_as_fast_as_scikit_learn(
    data: Input, table: tuple[Array, Array], tmp_path: Path, model: str
) -> None:
    from threadpoolctl import threadpool_limits

    from sciharness_publisher.inference.trees import build

    features, target = table
    outputs = train(data, tmp_path / "trained", models=(model,), folds=2, selection_rows=20_000)
    document = json.loads((outputs / "model.json").read_text("utf-8"))
    fit = json.loads((outputs / "model_selection.json").read_text("utf-8"))["final_fit"]
    module, name = fit["estimator"].rsplit(".", 1)
    estimator = getattr(import_module(module), name)(**fit["parameters"]).fit(features, target)
    columns = {f"c{i}": np.ascontiguousarray(features[:, i]) for i in range(COLUMNS)}
    predict = build(document)

    with threadpool_limits(1):
        rounds = [
            (cpu(lambda: estimator.predict(features)), cpu(lambda: predict(columns)))
            for _ in range(ROUNDS)
        ]
    usual, ours = (statistics.median(times) for times in zip(*rounds, strict=True))

    per_million = ours * 1e6 / ROWS
    print(
        f"\n{model}: {per_million:.1f} s CPU for a million rows, {ours / usual:.2f} of scikit-learn"
    )
    assert ours <= 3 * usual
