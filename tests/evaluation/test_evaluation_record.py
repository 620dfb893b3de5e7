"""What evaluation.json tells, and what it does not tell of sealed rows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sciharness import canonical_json
from sciharness_evaluation.plugin import harness_evaluators

Judge = Callable[..., Any]


def rows(count: int) -> tuple[list[float], list[float]]:
    random = np.random.default_rng(3)
    true = random.normal(size=count)
    return (true + 0.1 * random.normal(size=count)).tolist(), true.tolist()


def test_the_record_is_canonical_and_defines_every_metric(judge: Judge) -> None:
    judged = judge("regression", *rows(30), train_mean=0.5)

    assert judged.written == canonical_json(judged.record)
    assert judged.record["metrics"] == judged.outcome.metrics
    assert set(judged.record["definitions"]) == set(judged.outcome.metrics)
    assert judged.record["baseline"]["metrics"]["rmse"] > judged.record["metrics"]["rmse"]


def test_the_record_tells_which_rows_were_judged(judge: Judge) -> None:
    judged = judge("regression", *rows(12), view="final")

    assert judged.record["view"] == "final"


@pytest.mark.parametrize("meta", [{}, {"last_query": False}, {"last_query": "true"}], ids=str)
def test_before_the_last_query_only_metrics_are_told(judge: Judge, meta: dict[str, Any]) -> None:
    judged = judge("regression", *rows(30), {"lower": [0] * 30, "upper": [1] * 30}, **meta)

    assert not {"bins", "interval_coverage"} & set(judged.record)


@pytest.mark.parametrize("meta", [{"last_query": True}, {"visible": True}], ids=str)
@pytest.mark.parametrize("count", [10, 19, 57, 400])
def test_bins_hold_at_least_ten_rows_and_all_of_them(
    judge: Judge, count: int, meta: dict[str, Any]
) -> None:
    predicted, true = rows(count)

    bins = judge("regression", predicted, true, **meta).record["bins"]

    sizes = [one["n"] for one in bins]
    assert min(sizes) >= 10 and sum(sizes) == count
    assert sum(one["n"] * one["true_mean"] for one in bins) == pytest.approx(sum(true))
    assert [one["predicted_mean"] for one in bins] == sorted(one["predicted_mean"] for one in bins)


def test_bins_are_means_and_deviations_of_their_rows(judge: Judge) -> None:
    predicted, true = rows(40)
    order = np.argsort(predicted)[:10]
    residual = np.array(true)[order] - np.array(predicted)[order]

    first = judge("regression", predicted, true, last_query=True).record["bins"][0]

    assert first == pytest.approx(
        {
            "n": 10,
            "predicted_mean": np.mean(np.array(predicted)[order]),
            "true_mean": np.mean(np.array(true)[order]),
            "residual_mean": np.mean(residual),
            "residual_std": np.std(residual),
        }
    )


def test_fewer_than_ten_rows_give_no_bin(judge: Judge) -> None:
    judged = judge("regression", *rows(9), {"lower": [0] * 9, "upper": [1] * 9}, last_query=True)

    assert judged.record["bins"] == []
    assert "interval_coverage" not in judged.record


def test_intervals_and_domain_marks_are_counted(judge: Judge) -> None:
    predicted, true = rows(20)
    columns = {
        "lower": [value - 1 for value in true],
        "upper": [value + 1 for value in true[:5]] + [value - 0.5 for value in true[5:]],
        "in_domain": [0] * 3 + [1] * 17,
    }

    record = judge("regression", predicted, true, columns, last_query=True).record

    assert record["interval_coverage"] == 0.25
    assert record["rows_outside_domain"] == 3


def test_confusion_leaves_out_classes_of_fewer_than_ten_rows(judge: Judge) -> None:
    true = ["a"] * 12 + ["b"] * 9

    record = judge("classification", ["a"] * 21, true, classes=["a", "b"], last_query=True).record

    assert record["confusion"] == [{"true": "a", "n": 12, "predicted": [12, 0]}]


def test_huge_values_are_measured_without_bins(judge: Judge) -> None:
    judged = judge("regression", [1.7e308] * 10, [-1.7e308] * 10, last_query=True)

    assert judged.record["bins"] == []
    assert judged.outcome.metrics["relative_rmse"] == pytest.approx(2.0)
    assert "64-bit float" in judged.record["undefined"]["rmse"]


def test_every_declared_metric_is_reported_or_named_undefined(judge: Judge) -> None:
    for evaluator in harness_evaluators():
        judged = judge(evaluator.operation, ["1", "2"], ["1", "1"])

        assert set(judged.record["metrics"]) | set(judged.record["undefined"]) == set(
            evaluator.metrics
        )
        assert evaluator.trusted_metrics == evaluator.metrics


def test_describing_the_plugin_loads_no_numpy() -> None:
    program = (
        "import sys, sciharness_evaluation.plugin as p; p.harness_evaluators();"
        "sys.exit('numpy' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_large_tables_are_judged_in_full(judge: Judge) -> None:
    predicted, true = rows(200_000)

    judged = judge("regression", predicted, true, last_query=True)

    assert judged.record["rows"] == 200_000
    assert len(judged.record["bins"]) == 20
