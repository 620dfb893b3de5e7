"""Losses to choose by, and metrics as the evaluation plugin defines them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciharness_tabular.rows import Array, Codes, Rows

REGRESSION = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std")
CLASSIFICATION = ("balanced_accuracy", "accuracy", "auc", "brier")


def losses(outputs: Array, rows: Rows) -> Array:
    """Return the weighted squared error of each row, of all outputs together.

    For regression over the variance of the target; for classification the sum
    of (probability - 1 if the row is of the class else 0)^2 over the classes.
    """
    if not rows.classes:
        mean = np.average(rows.target, weights=rows.weights)
        variance = np.average(np.square(rows.target - mean), weights=rows.weights)
        return np.asarray(rows.weights * np.square(outputs[:, 0] - rows.target) / variance)
    truth = rows.target[:, None] == np.arange(len(rows.classes))
    return np.asarray(rows.weights * np.square(outputs - truth).sum(axis=1), dtype=np.float64)


def metrics(outputs: Array, rows: Rows) -> Mapping[str, float]:
    """Return the metrics that are defined and finite, rows unweighted, in the target's unit."""
    if rows.classes:
        found = _of_classes(outputs, np.asarray(rows.target, dtype=np.int64))
    else:
        found = _of_numbers(outputs[:, 0], rows)
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _of_numbers(outputs: Array, rows: Rows) -> dict[str, float]:
    errors = outputs - rows.target
    rmse = _root_mean_square(errors)
    # About zero in the target's unit, divided by its spread like everything here.
    size = _root_mean_square(rows.target + rows.centre / rows.spread)
    deviation = _root_mean_square(rows.target - np.mean(rows.target))
    found = {
        "rmse": rmse * rows.spread,
        "mae": float(np.mean(np.abs(errors))) * rows.spread,
        "max_abs_error": float(np.abs(errors).max()) * rows.spread,
    }
    if size > 0:
        found["relative_rmse"] = rmse / size
    if deviation > 0:
        found["r2"] = 1.0 - (rmse / deviation) ** 2
        found["nrmse_std"] = rmse / deviation
    return {name: found[name] for name in REGRESSION if name in found}


def _of_classes(chances: Array, true: Codes) -> dict[str, float]:
    right = chances.argmax(axis=1) == true
    counts = np.bincount(true)
    hits = np.bincount(true, weights=right)
    found = {
        "balanced_accuracy": float(np.mean(hits[counts > 0] / counts[counts > 0])),
        "accuracy": float(np.mean(right)),
    }
    if chances.shape[1] == 2:
        found["auc"] = _auc(chances[:, 1], true)
        found["brier"] = float(np.mean(np.square(chances[:, 1] - true)))
    return found


def _auc(chances: Array, true: Codes) -> float:
    """Return the chance that a row of the second class ranks above one of the first."""
    first, second = np.sort(chances[true == 0]), chances[true == 1]
    wins = np.searchsorted(first, second, "left") + np.searchsorted(first, second, "right")
    return float(wins.sum()) / (2.0 * len(first) * len(second)) if len(first) else math.nan


def _root_mean_square(numbers: NDArray[np.floating[Any]]) -> float:
    return math.sqrt(float(np.mean(np.square(numbers))))
