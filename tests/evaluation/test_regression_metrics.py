"""Regression metrics against scikit-learn and against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness_evaluation.regression import measure

# Two roundings per term and an exact sum leave a few units in the last place.
CLOSE = 1e-13

everyday = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))
anything = st.floats(allow_nan=False, allow_infinity=False)


def pairs(number: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(number, number), min_size=2, max_size=40)


def exact(rows: list[tuple[float, float]]) -> dict[str, Fraction]:
    """Return the squares and sizes that the metrics are made of, without any rounding."""
    errors = [Fraction(p) - Fraction(y) for p, y in rows]
    true = [Fraction(y) for _, y in rows]
    mean = sum(true, Fraction()) / len(true)
    return {
        "error": sum((e * e for e in errors), Fraction()),
        "size": sum((y * y for y in true), Fraction()),
        "spread": sum(((y - mean) * (y - mean) for y in true), Fraction()),
        "mae": sum(map(abs, errors), Fraction()) / len(errors),
        "max": max(map(abs, errors)),
    }


def root(value: Fraction) -> float:
    """Return the square root of a fraction of any size, infinite beyond the range of a float."""
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    mantissa = math.sqrt(value / Fraction(4) ** shift)
    return math.ldexp(mantissa, shift) if shift < 1000 else math.inf


@settings(deadline=None, max_examples=150)
@given(rows=pairs(everyday))
def test_metrics_agree_with_scikit_learn(rows: list[tuple[float, float]]) -> None:
    oracle = pytest.importorskip("sklearn.metrics")
    predicted, true = np.array(rows).T

    values = measure(predicted, true).values

    assert values["rmse"] == pytest.approx(
        oracle.root_mean_squared_error(true, predicted), rel=1e-9
    )
    assert values["mae"] == pytest.approx(oracle.mean_absolute_error(true, predicted), rel=1e-9)
    assert values["max_abs_error"] == pytest.approx(oracle.max_error(true, predicted), rel=1e-9)
    # scikit-learn's own cancellation limits r2 where the spread is small beside the values.
    if np.std(true) > 1e-6 * np.abs(true).max():
        assert values["r2"] == pytest.approx(oracle.r2_score(true, predicted), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=300)
@given(rows=pairs(anything))
def test_metrics_of_numbers_of_any_size_agree_with_exact_arithmetic(
    rows: list[tuple[float, float]],
) -> None:
    predicted, true = np.array(rows).T
    parts = exact(rows)

    values = measure(predicted, true).values

    expected = {"rmse": root(parts["error"] / len(rows))}
    if parts["size"]:
        expected["relative_rmse"] = root(parts["error"] / parts["size"])
    for name, value in expected.items():
        if 1e-290 < value < 1e300:
            assert values[name] == pytest.approx(value, rel=CLOSE)
    if 1e-290 < parts["mae"] < 1e300:
        assert values["mae"] == pytest.approx(float(parts["mae"]), rel=CLOSE)
        assert values["max_abs_error"] == pytest.approx(float(parts["max"]), rel=CLOSE)
    assert all(map(math.isfinite, values.values()))


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e308], ids=str)
def test_a_change_of_unit_leaves_the_relative_metrics_as_they_are(size: float) -> None:
    true = np.array([0.1, 0.4, -0.3, 0.9])
    predicted = np.array([0.12, 0.35, -0.2, 0.8])

    plain, changed = measure(predicted, true), measure(predicted * size, true * size)

    for name in ("relative_rmse", "r2", "nrmse_std"):
        assert changed.values[name] == pytest.approx(plain.values[name], rel=1e-12)
    assert changed.values["rmse"] == pytest.approx(plain.values["rmse"] * size, rel=1e-12)


def test_small_errors_beside_a_huge_row_are_not_lost() -> None:
    true = np.array([1e200, 1.0, 2.0])
    predicted = np.array([1e200, 1.5, 1.5])

    values = measure(predicted, true).values

    assert values["rmse"] == pytest.approx(math.sqrt(0.5 / 3))
    assert values["relative_rmse"] == pytest.approx(math.sqrt(0.5) * 1e-200)


def test_the_spread_of_nearly_equal_values_is_not_lost() -> None:
    # 1e9 + k/1024 are exact floats; a one-pass formula leaves nothing of their spread.
    steps = np.arange(1024) / 1024
    true = 1e9 + steps

    values = measure(true + 0.25, true).values

    assert values["nrmse_std"] == pytest.approx(0.25 / np.std(steps), rel=1e-12)


def test_perfect_predictions_score_exactly() -> None:
    true = np.array([3.0, -1.5, 1e-300, 1e300])

    values = measure(true, true).values

    assert values == {
        "relative_rmse": 0.0,
        "r2": 1.0,
        "rmse": 0.0,
        "mae": 0.0,
        "max_abs_error": 0.0,
        "nrmse_std": 0.0,
    }


def test_the_order_of_rows_changes_no_bit() -> None:
    random = np.random.default_rng(1)
    predicted, true = random.lognormal(0, 5, (2, 1000))
    order = random.permutation(1000)

    assert measure(predicted, true) == measure(predicted[order], true[order])


@pytest.mark.parametrize(
    ("true", "undefined"),
    [
        ([0.0, 0.0], {"relative_rmse": "all true values are zero"}),
        ([2.0, 2.0], {}),
        ([0.1, 0.1, 0.1], {}),
    ],
    ids=["zeros", "equal", "equal but not exact in binary"],
)
def test_undefined_metrics_are_named_with_the_reason(
    true: list[float], undefined: dict[str, str]
) -> None:
    measures = measure(np.ones(len(true)), np.array(true))

    expected = {
        "r2": "all true values are equal",
        "nrmse_std": "all true values are equal",
        **undefined,
    }
    assert measures.undefined == expected
    assert measures.values["rmse"] == pytest.approx(abs(1 - true[0]))


def test_a_metric_too_large_for_a_float_is_undefined_not_infinite() -> None:
    measures = measure(np.array([1e300, 1e300]), np.array([1e-300, 2e-300]))

    assert set(measures.undefined) == {"relative_rmse", "r2", "nrmse_std"}
    assert "64-bit float" in measures.undefined["relative_rmse"]
    assert measures.values["rmse"] == pytest.approx(1e300)
