"""How far a formula can be believed: intervals of constants, residual pattern, prediction band."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.finishing.fitting import normal_sums, robust_weights, values
from sciharness_symbolic_regression.formulas.forms import Sum, constants
from sciharness_symbolic_regression.formulas.tape import compiled
from sciharness_symbolic_regression.formulas.written import order_of
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

LEVEL = 0.95
BAND_LEVEL = 0.9
RESOLVED = 1e-12  # of the target's spread: what sums in double precision resolve
WIDEST = 1e-14  # smallest relative curvature that is told from none
PATTERN_ROWS = 20_000
PATTERN_COLUMNS = 50
SUSPICIOUS = 0.01


@frozen
class Constant:
    """A constant with its confidence interval at :data:`LEVEL`."""

    value: float
    low: float
    high: float


def intervals(form: Sum, sample: Sample, loss: str = "squared") -> tuple[Constant, ...]:
    """Return the free constants in the order of the written formula, with intervals.

    The intervals come from the curvature at the fit and the scatter of the
    residuals (Student's t), so they hold for near-linear dependence on the
    constants, given that the structure is right.
    """
    theta = np.array(constants(form), dtype=np.float64)
    places = list(order_of(form))
    tape = compiled(form)
    if loss == "huber":
        errors = values(form, sample) - sample.target
        sample = evolve(sample, weights=sample.weights * robust_weights(errors))
    sums = normal_sums(tape, theta, sample) if tape.size else None
    if sums is None:
        return tuple(Constant(value, value, value) for value in theta[places].tolist())
    freedom = max(sample.rows - tape.size, 1)
    deviations = np.sqrt(sums.error / freedom * np.diag(covariance(sums.curvature)))
    half = np.minimum(student(freedom) * deviations, np.finfo(float).max / 4)
    return tuple(
        Constant(value, value - width, value + width)
        for value, width in zip(theta[places].tolist(), half[places].tolist(), strict=True)
    )


def band(errors: Array) -> float | None:
    """Return the half width that holds 90 % of these errors, or None with fewer than ten.

    The quantile is the one that makes the band hold for a new row drawn alike.
    """
    count = len(errors)
    rank = math.ceil((count + 1) * BAND_LEVEL)
    if count < 10 or rank > count:
        return None
    return float(np.sort(np.abs(errors))[rank - 1])


@frozen
class Pattern:
    """Tests on residuals; each value is the probability of chance, small means structure left.

    ``order`` is the runs test along the prediction, ``columns`` the rank
    correlation of residuals with each column, ``spread`` that of their size
    with the prediction. ``exact`` means there is no residual to speak of.
    """

    exact: bool
    order: float
    spread: float
    columns: Mapping[str, float]

    def sentences(self) -> tuple[str, ...]:
        """Return what a reader has to know, in sentences; empty if nothing is suspicious."""
        if self.exact:
            return ()
        found = []
        limit = SUSPICIOUS / max(1, len(self.columns))
        if self.order < SUSPICIOUS:
            found.append(f"Residuals are not random along the prediction (p = {self.order:.1g}).")
        for name, chance in self.columns.items():
            if chance < limit:
                found.append(f"Residuals still depend on {name} (p = {chance:.1g}).")
        if self.spread < SUSPICIOUS:
            found.append(f"Scatter changes with the prediction (p = {self.spread:.1g}).")
        return tuple(found)


def pattern(form: Sum, sample: Sample) -> Pattern:
    """Return tests of the residuals of a fitted form, on at most 20,000 rows."""
    sample = thinned(sample, PATTERN_ROWS, seed=0)
    predicted = values(form, sample)
    errors = (predicted - sample.target) * np.sqrt(sample.weights)
    exact = bool(np.abs(errors).max() <= 10 * sample.noise_floor)
    columns = list(sample.columns.items())[:PATTERN_COLUMNS]
    return Pattern(
        exact,
        _runs_chance(errors[np.argsort(predicted, kind="stable")]),
        _rank_chance(np.abs(errors), predicted),
        {name: _rank_chance(errors, column) for name, column in columns},
    )


def resolution(sample: Sample) -> float:
    """Return the error of a row below which there is nothing but rounding, or known noise."""
    rounding = 8 * float(np.finfo(float).eps * np.abs(sample.target).max())
    return max(RESOLVED * sample.spread, rounding, sample.noise)


def covariance(curvature: Array) -> Array:
    """Return the inverse of a curvature; where it has none, a wide one."""
    scale = np.sqrt(np.diag(curvature))
    scale[scale == 0.0] = 1.0
    strengths, directions = np.linalg.eigh(curvature / scale[:, None] / scale)
    strengths = np.maximum(strengths, WIDEST * max(float(strengths.max()), 1.0))
    inverse = np.einsum("ik,jk->ij", directions / strengths, directions)
    return np.asarray(inverse / scale[:, None] / scale)


def student(freedom: int, level: float = LEVEL) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import stdtrit  # light part of a heavy package

    return float(stdtrit(freedom, 0.5 + level / 2))


def region(constants: int, freedom: int, level: float = LEVEL) -> float:
    """Return the squared size of the joint confidence region of some constants."""
    from scipy.special import fdtri  # as above

    return constants * float(fdtri(constants, freedom, level))


def _runs_chance(ordered: Array) -> float:
    """Return the Wald-Wolfowitz probability for the signs of ordered residuals."""
    signs = ordered > np.median(ordered)
    above, below = int(signs.sum()), int((~signs).sum())
    count = above + below
    if above < 2 or below < 2:
        return 1.0
    runs = 1 + int((signs[1:] != signs[:-1]).sum())
    mean = 2 * above * below / count + 1
    variance = (mean - 1) * (mean - 2) / (count - 1)
    return _two_sided((runs - mean) / math.sqrt(variance)) if variance > 0 else 1.0


def _rank_chance(left: Array, right: Array) -> float:
    """Return the probability of Spearman's rank correlation under independence."""
    a, b = _ranks(left), _ranks(right)
    a, b = a - a.mean(), b - b.mean()
    power = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if len(left) < 4 or power == 0.0:
        return 1.0
    return _two_sided(float((a * b).sum()) / power * math.sqrt(len(left) - 1))


def _ranks(numbers: Array) -> Array:
    """Return ranks from 0; equal numbers share their mean rank."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts + 1) / 2)[place], dtype=np.float64)


def _two_sided(deviations: float) -> float:
    return math.erfc(abs(deviations) / math.sqrt(2))
