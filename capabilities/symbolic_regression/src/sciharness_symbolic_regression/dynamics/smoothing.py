"""Smooth values, rates and noise of measured series, one column a node."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHANGE_SHARE = 0.5  # for noise the change is about the error, for smooth series several times it
LEAST_TIMES = 8


@frozen(eq=False)
class Smooth:
    """Values and rates (times, nodes), and the noise (nodes,) of the measured values."""

    values: Array
    rates: Array
    noise: Array


def smoothed(times: Array, measured: Array, differences: bool) -> Smooth:
    """Return smoothing splines of each column, or its own values and central differences.

    The stiffness of each spline is chosen by generalised cross-validation.
    """
    if differences:
        rates = np.asarray(np.gradient(measured, times, axis=0, edge_order=2))
        return Smooth(measured, rates, np.zeros(measured.shape[1]))
    from scipy.interpolate import make_smoothing_spline  # heavy: only for dynamics

    values, rates = measured.copy(), np.zeros(measured.shape)
    for node in np.flatnonzero(np.ptp(measured, axis=0) > 0):
        column = measured[:, node]
        centre, size = column.mean(), np.ptp(column)
        spline = make_smoothing_spline(times, (column - centre) / size)
        values[:, node] = spline(times) * size + centre
        rates[:, node] = spline.derivative()(times) * size
    return Smooth(values, rates, np.sqrt(np.square(measured - values).mean(axis=0)))


def rate_error(times: Array, measured: Array, rates: Array, differences: bool) -> float:
    """Return how much rates change when they are taken from every second value."""
    fewer = slice(None, None, 2)
    if len(times[fewer]) < LEAST_TIMES:
        return 0.0
    coarse = smoothed(times[fewer], measured[fewer], differences).rates
    inner = slice(2, -2)
    return CHANGE_SHARE * float(np.sqrt(np.mean((coarse - rates[fewer])[inner] ** 2)))
