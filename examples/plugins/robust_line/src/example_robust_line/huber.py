"""Huber's regression by iteratively reweighted least squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Makes the median absolute deviation the standard deviation of normal errors.
MAD_TO_SIGMA = 1.482602218505602
SETTLED = 1e-10
FAR = 5.0  # robust standard deviations; normal errors hardly get there


@frozen(eq=False)
class Line:
    """A linear model: intercept, coefficients (k,), and the robust scale of its residuals."""

    intercept: float
    coefficients: Array
    scale: float
    outliers: int
    iterations: int
    settled: bool


def fit(
    x: Array,
    y: Array,
    *,
    tuning: float,
    max_iterations: int,
    stop: Callable[[], bool] = lambda: False,
) -> Line:
    """Return the line through ``y`` (n,) over ``x`` (n, k), rows far off it weighing less.

    A residual r of robust standard deviation s weighs min(1, tuning s / |r|).
    """
    design = np.column_stack([np.ones(len(y)), x])
    weights = np.ones(len(y))
    solution = np.zeros(design.shape[1])
    scale, settled, step = 0.0, False, 0
    while step < max_iterations and not settled and not stop():
        step += 1
        before = solution
        root = np.sqrt(weights)
        solution = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        residuals = y - design @ solution
        scale = float(MAD_TO_SIGMA * np.median(np.abs(residuals)))
        weights = _weights(residuals, tuning * scale)
        settled = bool(np.max(np.abs(solution - before)) <= SETTLED * np.max(np.abs(solution)))
    outliers = int(np.sum(np.abs(y - design @ solution) > FAR * scale))
    return Line(float(solution[0]), solution[1:], scale, outliers, step, settled)


def _weights(residuals: Array, limit: float) -> Array:
    if limit == 0.0:  # more than half of the rows lie on the line
        return np.where(residuals == 0.0, 1.0, 1e-12)
    weights: Array = np.minimum(1.0, limit / np.maximum(np.abs(residuals), limit))
    return weights
