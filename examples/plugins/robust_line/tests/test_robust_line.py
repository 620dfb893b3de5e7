from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from example_robust_line import huber, plugin

from sciharness import testkit
from sciharness.testkit.samples import given_input

PROJECT = Path(__file__).parents[1]


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows of the example: x (64, 2) and y (64,)."""
    with (PROJECT / "sensor.csv").open(newline="") as lines:
        table = [list(map(float, row)) for row in list(csv.reader(lines))[1:65]]
    return np.array(table)[:, :2], np.array(table)[:, 2]


def test_clean_rows_give_the_line_of_least_squares() -> None:
    x = np.linspace(0.0, 1.0, 20)[:, None]
    y = 3.0 + 2.0 * x[:, 0]

    line = huber.fit(x, y, tuning=1.345, max_iterations=50)

    # Exact data: only rounding is left.
    assert line.intercept == pytest.approx(3.0, abs=1e-9)
    assert line.coefficients[0] == pytest.approx(2.0, abs=1e-9)


def test_gross_errors_move_least_squares_and_not_this_fit() -> None:
    x, y = rows()
    plain = np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0]

    line = huber.fit(x, y, tuning=1.345, max_iterations=100)

    # The rows were made with intercept 20; noise of 0.1 on 56 good rows leaves about 0.05.
    assert abs(line.intercept - 20.0) < 0.3 < abs(plain[0] - 20.0)
    assert line.outliers == 8


def test_it_stops_when_asked(tmp_path: Path) -> None:
    data = given_input("data", PROJECT / "sensor.csv", {"target": "pressure [kPa]"})

    tried = testkit.run_here(plugin, "fit", {}, {"data": data}, tmp_path, cancelled=True)

    assert tried.metrics["iterations"] == 0.0
    assert "not settled" in tried.notes[1]


def test_the_plugin_conforms() -> None:
    assert [str(one) for one in testkit.check(PROJECT) if not one.ok] == []
