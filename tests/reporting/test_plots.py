"""Plots: axes fit any data, drawing is deterministic, large tables stay small."""

from __future__ import annotations

import math
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from sciharness_reporting import plots
from sciharness_reporting.axes import fitting, tick_words
from sciharness_reporting.text import duration, number
from sciharness_reporting.visible import SHOWN, histogram, spread_out, trend

Report = Callable[[Any], Any]

values = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=400)
@generated(data=st.lists(values, min_size=1, max_size=20), log=st.booleans(), zero=st.booleans())
def test_an_axis_holds_its_values_and_has_distinct_round_ticks(
    data: list[float], log: bool, zero: bool
) -> None:
    axis = fitting("x", data, log=log, zero=zero)

    if axis is None:
        assert max(map(abs, data)) >= 1e300
        return
    places = [axis.place(value) for value in data]
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    words, _ = tick_words(axis)
    assert len(set(words)) == len(words) == len(axis.ticks())
    assert 1 <= len(words) <= 14
    assert all(axis.low <= tick * (1 + 1e-6) + 1e-300 or tick <= axis.high for tick in axis.ticks())


@pytest.mark.parametrize(
    ("low", "high", "words", "factor"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"], ""),
        (0.001, 0.004, ["0.0010", "0.0015", "0.0020", "0.0025", "0.0030", "0.0035", "0.0040"], ""),
        (0, 3e-6, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"], "\u00d710⁻⁶"),
        (-20000, 20000, ["\u221220000", "\u221210000", "0", "10000", "20000"], ""),
        (0, 5e8, ["0", "1", "2", "3", "4", "5"], "\u00d710⁸"),
    ],
)
def test_ticks_are_written_short(low: float, high: float, words: list[str], factor: str) -> None:
    axis = fitting("x", [low, high])

    assert axis is not None
    assert tick_words(axis) == (words, factor)


@settings(deadline=None, max_examples=100)
@generated(points=st.lists(st.tuples(values, values), min_size=1, max_size=15))
def test_any_points_give_well_formed_plots(points: list[tuple[float, float]]) -> None:
    figures = [
        plots.predicted_measured(points, "y <&>", ""),
        plots.pareto(points, 0, {"mean": points[0][1]}, "error"),
        plots.residuals(points, [(x, y, 1.0) for x, y in points], "y", ""),
        plots.curve(points, points, "x", "y", ""),
    ]

    for figure in figures:
        if figure is not None:
            ElementTree.fromstring(figure.svg)
            assert "nan" not in figure.svg
            assert "inf" not in figure.svg


def test_a_plot_by_itself_is_dark_on_white() -> None:
    figure = plots.predicted_measured([(1, 1), (2, 2.1)], "y", "")

    assert figure is not None
    assert 'fill="#ffffff"' in figure.svg
    assert "var(" not in figure.svg


def test_drawn_rows_are_few_spread_out_and_keep_the_extremes() -> None:
    size = np.zeros(1_000_000)
    size[[123_457, 999_998]] = [5.0, 4.0]

    rows = spread_out(len(size), size)

    assert len(rows) <= SHOWN
    assert {0, 123_457, 999_998, 999_999} <= set(rows.tolist())
    assert np.array_equal(rows, spread_out(len(size), size))
    assert np.array_equal(spread_out(7), np.arange(7))


def test_the_trend_of_residuals_follows_their_bins() -> None:
    predicted = np.linspace(0, 1, 400)

    found = trend(predicted, predicted**2)

    means = [mean for _, mean, _ in found]
    assert len(means) == 16
    assert means == sorted(means)
    assert trend(predicted[:10], predicted[:10]) == []


@pytest.mark.parametrize(
    "column",
    [[], [math.nan], [1.0], [1.0, math.nan, 2.0], [-1.7e308, 1.7e308]],
    ids=["none", "nan", "one", "gap", "huge"],
)
def test_histograms_count_what_is_finite(column: list[float]) -> None:
    counts = histogram(np.array(column))

    assert sum(counts) in (0, sum(map(math.isfinite, column)))


def test_a_large_table_gives_a_small_page(report: Report, given: Any) -> None:
    rows = np.tile(given.rows, (1, 500))

    start = time.process_time()
    written = report(evolve(given, rows=rows))

    assert "120,000 drawn" in written.html
    assert len(written.html) < 400_000
    assert time.process_time() - start < 20


@settings(deadline=None)
@generated(value=values)
def test_numbers_are_written_so_that_they_read_back(value: float) -> None:
    words = number(value, 6).replace("\u2212", "-").replace(",", "")
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    if "\u00d710" in words:
        mantissa, exponent = words.split("\u00d710")
        words = f"{mantissa}e{exponent.translate(raised)}"

    assert float(words) == pytest.approx(value, rel=1e-5, abs=0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.004, "0.00 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (3599.6, "1 h 0 min")],
)
def test_durations_are_written_in_their_largest_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words
