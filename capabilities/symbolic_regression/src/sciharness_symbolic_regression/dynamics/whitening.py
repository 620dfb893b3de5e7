"""Independent errors of windows: neighbours share measured values, and laws carry their noise.

The covariance of the windows' errors follows from the noise of the values, the
windows' weights and the law's slopes by its columns (generalised least squares
as in Bortz, Messenger and Dukic, "Direct estimation of parameters in ODE models
using WENDy", 2023). Windows meet only those near them, so it is a band.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.dynamics.windows import Windows
from sciharness_symbolic_regression.formulas.tape import Tape

Array = NDArray[np.float64]

RIDGE = 1e-4  # share of the variance that counts as independent: what is not modelled
SMALL = 1e-5  # step of a derivative, relative to a column's values


class Windowed(Protocol):
    """What is known of the windows of a sample, see :mod:`.weak`."""

    @property
    def windows(self) -> Windows:
        """The windows."""

    @property
    def columns(self) -> Mapping[str, Array]:
        """Columns (times, nodes) by symbol."""

    @property
    def own(self) -> Mapping[str, Array]:
        """Slopes of columns by the node's own measured value."""

    @property
    def power(self) -> Mapping[str, Array]:
        """Variances of columns from other noise."""

    @property
    def noise(self) -> Array:
        """Noise (nodes,) of the measured values."""


@frozen(eq=False)
class Whitening:
    """Factors of covariances, one band (offsets, windows) for each node.

    ``scale`` is the geometric mean of the variances: squared errors times it
    can be compared between laws, as likelihoods are.
    """

    bands: tuple[Array, ...]
    scale: float

    def independent(self, errors: Array) -> Array:
        """Return errors (anything, windows, nodes) as independent ones of variance 1."""
        from scipy.linalg import solve_banded  # heavy: only for dynamics

        parts = [
            solve_banded((len(band) - 1, 0), band, errors[:, :, node].T, check_finite=False)
            for node, band in enumerate(self.bands)
        ]
        return np.moveaxis(np.stack(parts), (0, 1, 2), (2, 1, 0))


def whitening(weak: Windowed, tape: Tape, theta: Array) -> Whitening | None:
    """Return what makes the errors of a law's windows independent, None where it is undefined."""
    from scipy.linalg import LinAlgError, cholesky_banded  # heavy: only for dynamics

    own, power = _noise_of_law(weak, tape, theta)
    if not (np.isfinite(own).all() and np.isfinite(power).all()):
        return None
    bands = _covariances(weak, own, power)
    bands[:, 0] += RIDGE * bands[:, 0].mean()
    try:
        factors = tuple(cholesky_banded(one, lower=True, check_finite=False) for one in bands)
    except LinAlgError:
        return None
    logarithm = np.mean([np.log(one[0]).mean() for one in factors])
    return Whitening(factors, float(np.exp(2 * logarithm)))


def _noise_of_law(weak: Windowed, tape: Tape, theta: Array) -> tuple[Array, Array]:
    """Return the law's slope by the node's own value and its variance from other noise."""
    own, power = (np.zeros(next(iter(weak.columns.values())).shape) for _ in range(2))
    for name in {step.detail for step in tape.steps if step.kind == "name"}:
        if not (weak.own[name].any() or weak.power[name].any()):
            continue
        column = weak.columns[name]
        step = SMALL * float(np.abs(column).max())
        above, below = (
            tape.values(theta, {**weak.columns, name: column + way * step}) for way in (1, -1)
        )
        slope = (above - below) / (2 * step)
        own += slope * weak.own[name]
        power += slope * slope * weak.power[name]
    return own, power


def _covariances(weak: Windowed, own: Array, power: Array) -> Array:
    """Return covariances as bands (nodes, offsets, windows)."""
    cut = weak.windows
    mean, slope = cut.mean[:, None, :], cut.slope[:, None, :]
    direct = (slope - mean * cut.cut(own)) * weak.noise[:, None]
    carried = mean * np.sqrt(cut.cut(power))
    offsets = -(-cut.length // cut.stride)
    bands = np.zeros((len(weak.noise), offsets, cut.count))
    for offset in range(min(offsets, cut.count)):
        far, rest = offset * cut.stride, cut.count - offset
        for part in (direct, carried):
            bands[:, offset, :rest] += np.einsum(
                "knl,knl->nk", part[:rest, :, far:], part[offset:, :, : cut.length - far]
            )
    return bands
