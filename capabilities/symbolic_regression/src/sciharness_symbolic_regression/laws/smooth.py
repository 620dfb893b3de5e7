"""A smooth stand-in for a target: how well columns explain it, and its slopes by each."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array = NDArray[np.float64]

LENGTHS = (1.0, 2.0, 4.0, 8.0)  # of the kernel, in standard deviations times root of the columns
WIDE = 3.0  # largest over smallest value from which a positive column is seen as its logarithm
RIDGES = (1e-10, 1e-7, 1e-4, 1e-2, 1e-1)


@frozen(eq=False)
class Smooth:
    """Kernel ridge regression with a Gaussian kernel on standardised columns.

    ``error`` is the root mean square of the leave-one-out residuals relative to
    the target's spread; ``slopes`` are the derivatives of the standardised
    target by the columns as given, shape (columns, rows).
    """

    error: float
    slopes: Array


def smooth(table: Array, target: Array) -> Smooth | None:
    """Return the stand-in for ``table`` (columns, rows) whose leave-one-out error is smallest.

    Wide positive columns are seen as they are or as logarithms, whichever explains more.
    Leave-one-out residuals in closed form: Rasmussen and Williams, Gaussian
    Processes for Machine Learning (2006), equation 5.12. None where a column or
    the target is constant.
    """
    wide = (table.min(axis=1) > 0) & (table.max(axis=1) > WIDE * table.min(axis=1))
    ways = [np.zeros_like(wide), wide] if wide.any() else [wide]
    found = [one for way in ways if (one := _smooth(table, target, way)) is not None]
    return min(found, key=lambda one: one.error, default=None)


def _smooth(table: Array, target: Array, logged: NDArray[np.bool_]) -> Smooth | None:
    inner = np.ones_like(table)  # slopes of what the kernel sees by the columns
    seen = table.copy()
    seen[logged], inner[logged] = np.log(table[logged]), 1.0 / table[logged]
    spread, size = seen.std(axis=1), float(target.std())
    if not (spread > 0).all() or size == 0.0:
        return None
    scaled = (seen - seen.mean(axis=1, keepdims=True)) / spread[:, None]
    wanted = (target - target.mean()) / size
    squares = (scaled * scaled).sum(axis=0)
    apart = np.maximum(squares[:, None] + squares - 2 * scaled.T @ scaled, 0.0)
    best: tuple[float, float, Array] | None = None
    for length in LENGTHS:
        width = length * length * len(table)
        values, turn = np.linalg.eigh(np.exp(-0.5 * apart / width))
        inside = turn.T @ wanted
        for ridge in RIDGES:
            inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
            strengths = turn @ (inverse * inside)
            left_out = strengths / ((turn * turn) @ inverse)
            error = float(np.sqrt(np.mean(left_out * left_out)))
            if best is None or error < best[0]:
                best = error, width, strengths
    assert best is not None
    error, width, strengths = best
    kernel = np.exp(-0.5 * apart / width) * strengths
    slopes = (kernel @ scaled.T).T - scaled * kernel.sum(axis=1)
    return Smooth(error, slopes / width / spread[:, None] * inner)
