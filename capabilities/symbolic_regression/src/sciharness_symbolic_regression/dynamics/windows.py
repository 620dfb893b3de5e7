"""Windows in time: weighted averages of a rate that need no derivative of measured values.

The average of dx/dt over a window with weights that vanish at its ends is, by
parts, minus the integral of the weights' derivative times x (the weak form; see
Messenger and Bortz, "Weak SINDy", 2021).
"""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float64]

POWER = 4  # weights are (1 - s**2)**POWER: smooth enough that sums are integrals
EXACT_UP_TO = 4  # degree of motion in time for which averages of rates are exact


@frozen(eq=False)
class Windows:
    """Windows of ``length`` times, every ``stride`` times: weights (windows, length).

    ``mean`` averages values over each window, ``slope`` gives the average of
    their rate with the same weights.
    """

    stride: int
    mean: Array
    slope: Array

    @property
    def count(self) -> int:
        """Number of windows."""
        return len(self.mean)

    @property
    def length(self) -> int:
        """Number of times in a window."""
        return int(self.mean.shape[1])

    def cut(self, values: Array) -> Array:
        """Return values (times, ...) as a view (windows, ..., length)."""
        return sliding_window_view(values, self.length, axis=0)[:: self.stride]

    def averages(self, values: Array) -> Array:
        """Return the averages (windows, ...) of values (times, ...)."""
        return np.asarray(np.einsum("k...l,kl->k...", self.cut(values), self.mean))

    def rates(self, values: Array) -> Array:
        """Return the averages (windows, ...) of the rates of values (times, ...)."""
        return np.asarray(np.einsum("k...l,kl->k...", self.cut(values), self.slope))


def windows(times: Array, half: int, stride: int) -> Windows:
    """Return windows of ``2 * half + 1`` times (half at least 2); times need not be even."""
    cut = sliding_window_view(times, 2 * half + 1)[::stride]
    radius = (cut[:, -1:] - cut[:, :1]) / 2 * (half + 1) / half
    place = (cut - (cut[:, -1:] + cut[:, :1]) / 2) / radius
    step = sliding_window_view(np.gradient(times), 2 * half + 1)[::stride]
    bump = np.maximum(1 - place * place, 0.0)
    mean = bump**POWER * step
    total = mean.sum(axis=1, keepdims=True)
    slope = 2 * POWER * place * bump ** (POWER - 1) * step / (radius * total)
    mean = mean / total
    return Windows(stride, mean, slope + _correction(place, radius, mean, slope))


def _correction(place: Array, radius: Array, mean: Array, slope: Array) -> Array:
    """Return the smallest change of slopes that makes them exact for polynomials."""
    degrees = np.arange(EXACT_UP_TO + 1)
    powers = place[:, :, None] ** degrees
    lower = place[:, :, None] ** np.maximum(degrees - 1, 0)
    wanted = np.einsum("kl,klq->kq", mean, degrees * lower) / radius
    missing = wanted - np.einsum("kl,klq->kq", slope, powers)
    gram = np.einsum("klq,klr->kqr", powers, powers)
    weights = np.linalg.solve(gram, missing[..., None])[..., 0]
    return np.asarray(np.einsum("klq,kq->kl", powers, weights))
