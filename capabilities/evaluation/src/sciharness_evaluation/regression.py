"""The metrics of a regression, as they are defined for acceptance criteria."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sciharness_evaluation.measures import Measures, Measuring
from sciharness_evaluation.sums import about_mean, difference, scaled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def measure(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> Measures:
    """Return the regression metrics of ``predicted`` against ``true`` (float64, shape (n,)).

    Both hold n >= 1 finite values of any size. Metrics that are undefined on
    these rows, or too large for a float, are named with the reason instead.
    """
    rows = len(true)
    error, size, spread = difference(predicted, true), scaled(true), about_mean(true)
    squares, about_zero, about_its_mean = error.squares(), size.squares(), spread.squares()
    zero = "" if about_zero else "all true values are zero"
    equal = "" if about_its_mean else "all true values are equal"

    def ratio(other: float, exponent: int) -> float:
        return math.ldexp(math.sqrt(squares / other), error.exponent - exponent)

    def explained() -> float:
        part = math.ldexp(squares / about_its_mean, 2 * (error.exponent - spread.exponent))
        return 1.0 - part

    measured = Measuring()
    measured.add("relative_rmse", lambda: ratio(about_zero, size.exponent), zero)
    measured.add("r2", explained, equal)
    measured.add("rmse", lambda: ratio(rows, 0))
    measured.add("mae", lambda: math.ldexp(_mean_size(error.mantissas), error.exponent))
    measured.add("max_abs_error", lambda: math.ldexp(error.largest(), error.exponent))
    measured.add("nrmse_std", lambda: ratio(about_its_mean, spread.exponent), equal)
    return measured.done()


def _mean_size(values: NDArray[np.float64]) -> float:
    return math.fsum(abs(values).tolist()) / len(values)
