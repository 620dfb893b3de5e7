"""Candidates in weak form: constants and losses from averages over windows of time.

The search works on slopes of smoothing splines, which flatten what turns
sharply; here each candidate is fitted and judged again without any derivative
of measured values, see :mod:`sciharness_symbolic_regression.dynamics.windows`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import complexity, names_in
from sciharness_symbolic_regression.dynamics.samples import BLOCKS, Samples
from sciharness_symbolic_regression.dynamics.whitening import Whitening, whitening
from sciharness_symbolic_regression.dynamics.windows import Windows, windows
from sciharness_symbolic_regression.finishing.candidates import Candidate, losses
from sciharness_symbolic_regression.finishing.credibility import LEVEL, Constant
from sciharness_symbolic_regression.finishing.fitting import robust_scale, robust_weights
from sciharness_symbolic_regression.formulas.forms import Sum, constants, shape, with_constants
from sciharness_symbolic_regression.formulas.tape import Tape, compiled
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.rows import symbols_of
from sciharness_symbolic_regression.samples.sample import Rows, derived_seed

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST_TIMES = 40
PER_SERIES = 40  # half a window is one of so many parts of a series
HALVES = (4, 25)
OVERLAP = 3  # a window starts every such part of half a window
MOST_WINDOWS = 20_000  # beyond that some nodes are taken evenly
NOISE_FLOOR = 1e-9  # of the spread, where values are exact
ROUNDS = 4  # of weighing windows by the law found so far
STEPS = 12
DAMPING = (1e-12, 1e8)
SAME = 1e-6
EXPLAINED = 1e-16  # share of squares: a constant that offsets of nodes stand for stays


@frozen(eq=False)
class WeakForm:
    """Samples in windows: columns (times, nodes) by symbol, average rates (windows, nodes).

    ``own`` and ``power`` say how noise gets into columns, as in
    :class:`~sciharness_symbolic_regression.dynamics.samples.Column`; ``noise``
    (nodes,) is that of the variable. Windows of ``kept_back`` (windows,) choose.
    ``own_rate`` is the symbol of the nodes' own rates: where a law adds them,
    each node has a constant of its own instead, so that errors of these
    estimates do not get into the other constants.
    """

    windows: Windows
    columns: Mapping[str, Array]
    own: Mapping[str, Array]
    power: Mapping[str, Array]
    rates: Array
    noise: Array
    kept_back: Mask
    loss: str
    own_rate: str | None = None

    @classmethod
    def of(
        cls, samples: Samples, share: float, seed: int, loss: str, own_rate: str | None = None
    ) -> WeakForm:
        """Return samples in windows; a share of whole stretches of time is kept back."""
        cut = windows_of(samples.times)
        nodes = len(samples.places)
        some = min(nodes, max(1, MOST_WINDOWS // cut.count))
        place = np.linspace(0, nodes - 1, some).round().astype(np.intp)
        named = dict(zip(symbols_of(list(samples.columns)), samples.columns.values(), strict=True))
        measured = samples.measured[:, place]
        spread = float(measured.std()) or 1.0
        return cls(
            cut,
            {key: np.ascontiguousarray(one.values[:, place]) for key, one in named.items()},
            {key: one.own[:, place] for key, one in named.items()},
            {key: one.power[:, place] for key, one in named.items()},
            cut.rates(measured),
            np.maximum(samples.noise[place], NOISE_FLOOR * spread),
            _kept_back(cut.count, share, seed),
            loss,
            own_rate,
        )

    def rows(self, rows: Rows) -> Rows:
        """Return rows without a known error: that of windows is in their weights."""
        return Rows(evolve(rows.train, noise=0.0), evolve(rows.validation, noise=0.0), rows.loss)

    def candidates(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates with constants and losses of windows; undefined ones are left out."""
        fitted = (self._candidate(one.form) for one in found)
        return [one for one in fitted if one is not None]

    def final(self, form: Sum) -> tuple[Sum, tuple[Constant, ...]]:
        """Return a form with constants fitted on all windows, and their intervals."""
        found = self._fit(form, np.ones_like(self.kept_back))
        if found is None or not found.theta.size:
            return form, tuple(Constant(one, one, one) for one in constants(form))
        values = _with_own_rate(self, compiled(form), found).tolist()
        return with_constants(form, values), tuple(
            Constant(value, value - width, value + width)
            for value, width in zip(values, _half_widths(found).tolist(), strict=True)
        )

    def document(self) -> dict[str, float | int]:
        """Return what the windows are, for dynamics.json."""
        return {
            "windows": self.windows.count,
            "times_each": self.windows.length,
            "times_between": self.windows.stride,
            "nodes": len(self.noise),
        }

    def _candidate(self, form: Sum) -> Candidate | None:
        found = self._fit(form, ~self.kept_back)
        if found is None:
            return None
        fitted = with_constants(form, _with_own_rate(self, compiled(form), found).tolist())
        errors = found.errors * np.sqrt(found.weights.scale)
        scale = robust_scale(errors[~self.kept_back])
        count = [part.sum() * errors.shape[1] for part in (~self.kept_back, self.kept_back)]
        train, validation = (
            losses(errors[part].ravel(), np.ones(size), self.loss, scale)
            for part, size in zip((~self.kept_back, self.kept_back), count, strict=True)
        )
        tree = tree_of(fitted)
        free = found.theta.size + (len(self.noise) - 1) * (self.own_rate in names_in(tree))
        return Candidate(fitted, shape(fitted), complexity(tree), free, train, validation)

    def _fit(self, form: Sum, used: Mask) -> _Found | None:
        """Return constants fitted on the used windows, weighed anew until they stay."""
        tape, theta = compiled(form), np.array(constants(form), dtype=np.float64)
        found: _Found | None = None
        for _ in range(ROUNDS):
            weights = whitening(self, tape, theta)
            if weights is None:
                break
            trial = _descended(self, tape, theta, weights, used)
            if trial is None:
                break
            moved = np.abs(trial.theta - theta) > SAME * np.abs(trial.theta)
            found, theta = trial, trial.theta
            if not moved.any():
                break
        return found


@frozen(eq=False)
class _Found:
    """Constants, the weights they were fitted with, independent errors (windows, nodes).

    ``offsets`` (nodes,) are what nodes add to the law beyond their own rates in it.
    """

    theta: Array
    weights: Whitening
    errors: Array
    curvature: Array
    used: Mask
    offsets: Array


def windows_of(times: Array) -> Windows:
    """Return windows that suit the length of a series."""
    half = min(max(len(times) // PER_SERIES, HALVES[0]), HALVES[1])
    return windows(times, half, max(1, half // OVERLAP))


def _kept_back(count: int, share: float, seed: int) -> Mask:
    random = np.random.default_rng(derived_seed(seed, 8))
    blocks = random.permutation(BLOCKS)[: max(1, round(share * BLOCKS))]
    return np.isin(np.arange(count) * BLOCKS // count, blocks)


def _descended(
    weak: WeakForm, tape: Tape, theta: Array, weights: Whitening, used: Mask
) -> _Found | None:
    """Return where damped Gauss-Newton steps lead, with weights as they are."""
    here = _linearised(weak, tape, theta, weights)
    if here is None:
        return None
    counted = _counted(here[0], weak.loss, used)
    one = np.ones((1, *weak.rates.shape))
    level = weights.independent(one)[0] if _adds_own_rate(weak, tape, theta) else None
    errors, slopes, offsets = _free_of_offsets(*here, level, counted)
    damping = 1e-6
    for _ in range(STEPS if theta.size else 0):
        step = _step(errors, slopes, counted, damping)
        there = _linearised(weak, tape, theta + step, weights)
        tried = None if there is None else _free_of_offsets(*there, level, counted)
        if tried is None or not _loss(tried[0], counted) < _loss(errors, counted):
            damping *= 100.0
            if damping > DAMPING[1] or (np.abs(step) <= SAME * np.abs(theta)).all():
                break
            continue
        theta, (errors, slopes, offsets) = theta + step, tried
        damping = max(damping / 100.0, DAMPING[0])
        if (np.abs(step) <= 1e-9 * np.abs(theta)).all():
            break
    return _Found(theta, weights, errors, _curvature(slopes, counted), used, offsets)


def _linearised(
    weak: WeakForm, tape: Tape, theta: Array, weights: Whitening
) -> tuple[Array, Array] | None:
    """Return independent errors (windows, nodes) and their slopes (constants, windows, nodes)."""
    values, slopes = tape.values_and_slopes(theta, weak.columns)
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        return None
    errors = weak.windows.averages(values) - weak.rates
    parts = [errors, *(weak.windows.averages(one) for one in slopes)]
    independent = weights.independent(np.stack(parts))
    return independent[0], independent[1:]


def _adds_own_rate(weak: WeakForm, tape: Tape, theta: Array) -> bool:
    """Whether a law adds a multiple of the nodes' own rates to what does not hold them."""
    name = weak.own_rate
    if name is None or name not in {step.detail for step in tape.steps if step.kind == "name"}:
        return False
    column = weak.columns[name]
    step = float(np.ptp(column)) or 1.0
    one, two = (
        tape.values(theta, {**weak.columns, name: column + way * step})
        - tape.values(theta, weak.columns)
        for way in (1, 2)
    )
    near = 1e-6 * float(np.abs(one).max())
    return bool(near > 0 and np.ptp(one) <= near and np.abs(two - 2 * one).max() <= 4 * near)


def _free_of_offsets(
    errors: Array, slopes: Array, level: Array | None, counted: Array
) -> tuple[Array, Array, Array]:
    """Return errors and slopes without what a constant of each node explains, and these.

    ``level`` (windows, nodes) is what a constant of 1 looks like; None keeps all.
    """
    if level is None:
        return errors, slopes, np.zeros(errors.shape[1])
    size = (counted * level * level).sum(axis=0)
    offsets = (counted * level * errors).sum(axis=0) / size
    shares = (counted * level * slopes).sum(axis=1) / size
    left = slopes - level * shares[:, None, :]
    gone = np.square(left).sum(axis=(1, 2)) <= EXPLAINED * np.square(slopes).sum(axis=(1, 2))
    left[gone] = 0.0
    return errors - level * offsets, left, -offsets


def _with_own_rate(weak: WeakForm, tape: Tape, found: _Found) -> Array:
    """Return constants, that of the nodes' own rates by what nodes add on average."""
    theta = found.theta.copy()
    if weak.own_rate is None or not found.offsets.any():
        return theta
    column = weak.columns[weak.own_rate]
    _, slopes = tape.values_and_slopes(theta, weak.columns)
    for place, slope in enumerate(slopes):
        if np.allclose(slope, column):
            theta[place] += found.offsets @ column[0] / (column[0] @ column[0])
    return theta


def _counted(errors: Array, loss: str, used: Mask) -> Array:
    """Return what each error counts: nothing where not used, less far out if asked for."""
    counted = np.broadcast_to(used[:, None].astype(np.float64), errors.shape)
    if loss == "huber":
        weights = robust_weights(errors[used].ravel())
        counted = counted.copy()
        counted[used] = weights.reshape(errors[used].shape)
    return counted


def _loss(errors: Array, counted: Array) -> float:
    return float((counted * errors * errors).sum())


def _curvature(slopes: Array, counted: Array) -> Array:
    return np.asarray(np.einsum("ikn,jkn,kn->ij", slopes, slopes, counted))


def _step(errors: Array, slopes: Array, counted: Array, damping: float) -> Array:
    curvature = _curvature(slopes, counted)
    gradient = np.einsum("ikn,kn,kn->i", slopes, errors, counted)
    scale = np.sqrt(np.diag(curvature))
    scale[scale == 0.0] = 1.0
    matrix = curvature / scale[:, None] / scale + damping * np.eye(len(scale))
    return np.asarray(-np.linalg.lstsq(matrix, gradient / scale, rcond=1e-14)[0] / scale)


def _half_widths(found: _Found) -> Array:
    """Return half widths of intervals at :data:`LEVEL`, by Student's t."""
    from scipy.special import stdtrit  # light part of a heavy package

    used = found.errors[found.used]
    freedom = max(used.size - found.theta.size, 1)
    scale = np.sqrt(np.diag(found.curvature))
    scale[scale == 0.0] = 1.0
    inverse = np.linalg.pinv(found.curvature / scale[:, None] / scale, hermitian=True)
    variance = float(np.square(used).sum()) / freedom * np.diag(inverse) / (scale * scale)
    return np.asarray(stdtrit(freedom, 0.5 + LEVEL / 2) * np.sqrt(np.maximum(variance, 0.0)))
