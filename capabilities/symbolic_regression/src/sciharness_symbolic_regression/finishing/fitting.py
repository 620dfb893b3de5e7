"""Fit the constants of a formula in double precision by Levenberg-Marquardt.

Sums over rows use numpy's own loops, never BLAS, so that results do not depend
on the number of threads; rows are taken in blocks, so that memory stays flat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.formulas.forms import Sum, constants, with_constants
from sciharness_symbolic_regression.formulas.tape import Tape, compiled
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

BLOCK = 1 << 15
LARGE = 50_000  # rows from which on a fit starts with fewer
LAST_STEPS, LAST_ROUNDS = 5, 2  # on all rows, after a fit of fewer
HUBER = 1.345  # residuals beyond this many standard deviations count linearly
ROBUST_ROUNDS = 8
DAMPING = (1e-14, 1e14)


@frozen(eq=False)
class Normal:
    """Sums over all rows at one point: squared error, gradient, curvature."""

    error: float
    gradient: Array
    curvature: Array


def fit(form: Sum, sample: Sample, loss: str = "squared", iterations: int = 40) -> Sum | None:
    """Return the form with its constants fitted, or None where it is undefined.

    ``loss`` is ``squared`` or ``huber``; the second is fitted by re-weighting
    with the scale of the residuals, so outliers count less. A large sample is
    fitted in part first, so that few steps over all rows are left.
    """
    rounds = ROBUST_ROUNDS
    if sample.rows > LARGE:
        near = fit(form, thinned(sample, LARGE, seed=0), loss, iterations)
        if near is None:
            return None
        form, iterations, rounds = near, min(iterations, LAST_STEPS), LAST_ROUNDS
    tape = compiled(form)
    theta = np.array(constants(form), dtype=np.float64)
    fitted = _descend(tape, theta, sample, iterations)
    if fitted is None:
        return None
    for _ in range(rounds if loss == "huber" else 0):
        residuals = _values(tape, fitted, sample) - sample.target
        reweighted = evolve(sample, weights=sample.weights * robust_weights(residuals))
        again = _descend(tape, fitted, reweighted, 10)
        if again is None or np.allclose(again, fitted, rtol=1e-10, atol=0.0):
            break
        fitted = again
    return with_constants(form, fitted.tolist())


def robust_weights(residuals: Array) -> Array:
    """Return weights (rows,) in (0, 1] that make squares grow linearly far out."""
    scale = robust_scale(residuals)
    if scale == 0.0:
        return np.ones_like(residuals)
    far = np.abs(residuals) / (HUBER * scale)
    return 1.0 / np.maximum(far, 1.0)


def robust_scale(residuals: Array) -> float:
    """Return the standard deviation that the median absolute residual stands for."""
    return 1.4826 * float(np.median(np.abs(residuals)))


def values(form: Sum, sample: Sample) -> Array:
    """Return the form's values on the sample, shape (rows,)."""
    return _values(compiled(form), constants(form), sample)


def normal_sums(tape: Tape, theta: Array, sample: Sample) -> Normal | None:
    """Return error, gradient and curvature sums, or None where not finite."""
    size = tape.size
    error, gradient, curvature = 0.0, np.zeros(size), np.zeros((size, size))
    for start in range(0, sample.rows, BLOCK):
        part = slice(start, start + BLOCK)
        columns = {name: column[part] for name, column in sample.columns.items()}
        found, slopes = tape.values_and_slopes(theta, columns)
        residual = found - sample.target[part]
        with np.errstate(all="ignore"):
            weighted = slopes * sample.weights[part]
            error += float((sample.weights[part] * residual * residual).sum())
            gradient += (weighted * residual).sum(axis=1)
            curvature += np.einsum("in,jn->ij", weighted, slopes)
    if not (np.isfinite(error) and np.isfinite(gradient).all() and np.isfinite(curvature).all()):
        return None
    return Normal(error, gradient, curvature)


def _values(tape: Tape, theta: Sequence[float] | Array, sample: Sample) -> Array:
    found = np.empty(sample.rows)
    for start in range(0, sample.rows, BLOCK):
        part = slice(start, start + BLOCK)
        columns = {name: column[part] for name, column in sample.columns.items()}
        found[part] = tape.values(theta, columns)
    return found


def squared_error(tape: Tape, theta: Array, sample: Sample) -> float:
    """Return the weighted sum of squared errors; infinite where the formula is undefined."""
    error = 0.0
    for start in range(0, sample.rows, BLOCK):
        part = slice(start, start + BLOCK)
        columns = {name: column[part] for name, column in sample.columns.items()}
        with np.errstate(all="ignore"):
            residual = tape.values(theta, columns) - sample.target[part]
            error += float((sample.weights[part] * residual * residual).sum())
    return error if np.isfinite(error) else float("inf")


def _descend(tape: Tape, theta: Array, sample: Sample, iterations: int) -> Array | None:
    here = normal_sums(tape, theta, sample)
    if here is None:
        return theta if tape.size == 0 else None
    damping = 1e-4
    for _ in range(iterations):
        step = _step(here, damping)
        error = squared_error(tape, theta + step, sample) if step is not None else float("inf")
        if step is None or not error < here.error:
            damping *= 10.0
            if damping > DAMPING[1] or (step is not None and _is_tiny(step, theta)):
                break
            continue
        gained = here.error - error
        there = normal_sums(tape, theta + step, sample)
        if there is None:
            break
        theta, here = theta + step, there
        damping = max(damping / 10.0, DAMPING[0])
        if gained <= 1e-13 * here.error and _is_tiny(step, theta, 1e-8):
            break
    return theta


def _step(here: Normal, damping: float) -> Array | None:
    scale = np.sqrt(np.diag(here.curvature))
    scale[scale == 0.0] = 1.0
    matrix = here.curvature / scale[:, None] / scale + damping * np.eye(len(scale))
    try:
        return np.asarray(-np.linalg.solve(matrix, here.gradient / scale) / scale)
    except np.linalg.LinAlgError:
        return None


def _is_tiny(step: Array, theta: Array, share: float = 1e-15) -> bool:
    return bool((np.abs(step) <= share * np.abs(theta)).all())
