"""Sums that neither overflow nor depend on the order of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen
class Scaled:
    """Values as ``mantissas * 2**exponent`` with every mantissa in [-1, 1].

    Powers of two scale without rounding, so squares of 1e200 or 1e-200 are
    summed without overflow or loss. All zeros have the exponent 0.
    """

    mantissas: NDArray[np.float64]
    exponent: int

    def total(self) -> float:
        """Return the exactly rounded sum of the mantissas."""
        return math.fsum(self.mantissas.tolist())

    def squares(self) -> float:
        """Return the sum of the squared mantissas."""
        return math.fsum((self.mantissas * self.mantissas).tolist())

    def largest(self) -> float:
        """Return the largest absolute mantissa."""
        return float(abs(self.mantissas).max())


def scaled(values: NDArray[np.float64], exponent: int = 0) -> Scaled:
    """Return ``values * 2**exponent`` with mantissas of at most 1."""
    import numpy as np

    own = math.frexp(float(np.abs(values).max()))[1]
    return Scaled(np.ldexp(values, -own), exponent + own)


def difference(left: NDArray[np.float64], right: NDArray[np.float64]) -> Scaled:
    """Return ``left - right`` where the plain difference might overflow."""
    import numpy as np

    both = math.frexp(float(max(np.abs(left).max(), np.abs(right).max())))[1]
    return scaled(np.ldexp(left, -both) - np.ldexp(right, -both), both)


def about_mean(values: NDArray[np.float64]) -> Scaled:
    """Return the deviations of ``values`` from their mean; exactly zero if all are equal."""
    import numpy as np

    whole = scaled(values)
    if float(values.min()) == float(values.max()):
        return Scaled(np.zeros_like(values), 0)
    centred = whole.mantissas - whole.total() / len(values)
    # The rounded mean leaves a small common shift, taken out by a second pass.
    centred -= math.fsum(centred.tolist()) / len(values)
    return scaled(centred, whole.exponent)


def mean(values: NDArray[np.float64]) -> float:
    """Return the mean of ``values``."""
    whole = scaled(values)
    return math.ldexp(whole.total() / len(values), whole.exponent)


def deviation(values: NDArray[np.float64]) -> float:
    """Return the population standard deviation of ``values``."""
    spread = about_mean(values)
    return math.ldexp(math.sqrt(spread.squares() / len(values)), spread.exponent)
