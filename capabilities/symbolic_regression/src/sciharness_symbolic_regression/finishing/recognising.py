"""Constants that are plain values as far as the data can tell: 1, 1/2, 2*pi, 0.43.

A plain value takes the place of a fitted constant where that makes a description
of data and formula shorter. The length is the information criterion of
:mod:`choosing <sciharness_symbolic_regression.finishing.choosing>`, with the digits of each
free constant counted: n log(mean loss), 3.5 for each node, twice the logarithm of
value over standard error for a free constant (for all together: the determinant
of their curvature), and for a plain value twice the logarithm of how many there
are that are as plain. A length counts only where it is shorter by a factor of ten
in odds. A value outside the constant's own interval is never taken, nor are values that
lie outside the joint confidence region of their constants.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import complexity
from sciharness_symbolic_regression.finishing.candidates import losses
from sciharness_symbolic_regression.finishing.choosing import PER_NODE
from sciharness_symbolic_regression.finishing.credibility import (
    LEVEL,
    Constant,
    covariance,
    region,
    resolution,
    student,
)
from sciharness_symbolic_regression.finishing.fitting import (
    fit,
    normal_sums,
    robust_scale,
    robust_weights,
    values,
)
from sciharness_symbolic_regression.formulas.forms import (
    Fixed,
    Sum,
    arrangements,
    constants,
    faced,
    fixed,
    mapped,
)
from sciharness_symbolic_regression.formulas.plain import near
from sciharness_symbolic_regression.formulas.tape import compiled
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

SHORTER = 2 * math.log(10)  # a shorter description counts from odds of ten to one
VAGUE = 0.3  # a constant with a larger relative standard error is no number yet
REFITS = 4  # each time with half of the plain values, the best supported ones
ITERATIONS = 20
MANY = 20_000  # rows on which ways to write a formula are compared
WAYS = 4  # ways to write a formula that are tried, such as 2*(x + y/2) and 2*x + y


@frozen
class Recognised:
    """A plain value, its text, and the constant that was fitted before with its interval."""

    value: float
    text: str
    fitted: Constant


def said_of(recognised: Sequence[Recognised]) -> tuple[str, ...]:
    """Return what a reader has to know of recognised constants, nothing without one."""
    if not recognised:
        return ()
    told = ", ".join(dict.fromkeys(map(_beside_fitted, recognised)))
    return (
        f"Recognised as plain values: {told}. The data cannot tell them from the constants as "
        "fitted, which formulas.json holds with their intervals.",
    )


def _beside_fitted(one: Recognised) -> str:
    near = f"{one.fitted.value:.6g}"
    return one.text if near == f"{one.value:.6g}" else f"{one.text} (fitted {near})"


@frozen(eq=False)
class Measure:
    """What a formula is weighed by: rows, loss, and the scatter of the formula as fitted.

    ``scatter`` is the standard deviation of a row, no less than the data resolve;
    ``scale`` is that of Huber losses; ``curved`` holds the rows with robust weights.
    """

    sample: Sample
    curved: Sample
    loss: str
    scale: float
    scatter: float
    freedom: int

    @classmethod
    def of(cls, form: Sum, sample: Sample, loss: str) -> Measure:
        """Return the measure that a fitted formula sets."""
        errors = values(form, sample) - sample.target
        robust = robust_weights(errors) if loss == "huber" else np.ones_like(errors)
        curved = evolve(sample, weights=sample.weights * robust)
        freedom = max(sample.rows - len(constants(form)), 1)
        variance = float((curved.weights * np.square(errors)).sum()) / freedom
        scatter = max(math.sqrt(variance), resolution(sample))
        return cls(sample, curved, loss, robust_scale(errors), scatter, freedom)

    def misfit(self, form: Sum) -> float:
        """Return n log(mean loss); losses below what the data resolve are equal."""
        errors = values(form, self.sample) - self.sample.target
        loss = float(losses(errors, self.sample.weights, self.loss, self.scale).mean())
        size = max(math.sqrt(loss), resolution(self.sample)) if math.isfinite(loss) else math.inf
        return 2 * self.sample.rows * math.log(size)

    def length(self, form: Sum, spread: Array | None) -> float:
        """Return the length of a description of data and formula; differences matter.

        ``spread`` is that of the form.
        """
        if spread is None:
            return math.inf
        theta = np.array(constants(form))
        with np.errstate(all="ignore"):
            _, digits = np.linalg.slogdet(spread / np.outer(theta, theta)) if len(theta) else (1, 0)
        prices = sum(one.price for one in fixed(form))
        return self.misfit(form) - float(digits) + prices + PER_NODE * complexity(tree_of(form))

    def spread(self, form: Sum) -> Array | None:
        """Return the covariance of the free constants, None where it is not defined."""
        theta = np.array(constants(form), dtype=np.float64)
        if not len(theta):
            return np.zeros((0, 0))
        sums = normal_sums(compiled(form), theta, self.curved)
        return None if sums is None else self.scatter**2 * covariance(sums.curvature)


def recognise(
    form: Sum, sample: Sample, loss: str, level: float = LEVEL
) -> tuple[Sum, tuple[Recognised, ...]]:
    """Return a fitted formula with its plain constants fixed, the others fitted anew.

    Values outside the confidence intervals at ``level`` are not taken.

    Minus signs are in their places then, see :func:`forms.faced`. The second part
    says what was fixed, in the order of :func:`forms.constants`.
    """
    form = faced(form)
    look = thinned(sample, MANY, seed=0)
    best = _best_way(form, Measure.of(form, look, loss), level)
    if look is not sample:  # all rows only once
        way = form if best is None else best.way
        best = _recognised(way, Measure.of(way, sample, loss), level)
    return (form, ()) if best is None else (best.form, best.told)


@frozen
class _Found:
    way: Sum
    form: Sum
    told: tuple[Recognised, ...]
    length: float


def _best_way(form: Sum, measure: Measure, level: float) -> _Found | None:
    ways = itertools.islice(itertools.chain((form,), arrangements(form)), WAYS)
    found = [one for way in ways if (one := _recognised(way, measure, level)) is not None]
    return min(found, key=lambda one: one.length, default=None)


def _recognised(form: Sum, measure: Measure, level: float) -> _Found | None:
    spread = measure.spread(form)
    if spread is None or not len(spread):
        return None
    steps = tuple(_Search(form, spread, measure.freedom, level).steps())
    before = measure.length(form, spread) if steps else 0.0
    for _ in range(REFITS):
        found = _refitted(form, steps, measure) if steps else None
        if found is not None:
            length = measure.length(found, measure.spread(found))
            if before - length >= SHORTER:
                return _Found(form, found, _told(form, steps, spread, measure), length)
        steps = steps[: len(steps) // 2]
    return None


@frozen
class _Step:
    """A plain value for one constant, where the others then are, and what this is worth."""

    place: int
    value: Fixed
    gain: float


class _Search:
    """Takes plain values one after the other, the best supported first.

    The constants are a normal distribution that narrows with each value taken:
    no row is looked at.
    """

    def __init__(self, form: Sum, spread: Array, freedom: int, level: float) -> None:
        self._form = form
        self._middle = np.array(constants(form), dtype=np.float64)
        self._spread = spread
        self._freedom, self._level = freedom, level
        half = student(freedom, level) * np.sqrt(np.diag(spread))
        self._low, self._high = self._middle - half, self._middle + half
        self._apart = 0.0  # squared distance of the values taken so far, in standard errors
        self._free = set(range(len(self._middle)))

    def steps(self) -> Iterator[_Step]:
        """Yield plain values whose description is shorter than that of the constant's digits."""
        while self._free:
            options = [step for place in sorted(self._free) for step in self._options(place)]
            best = max(options, key=lambda step: step.gain, default=None)
            if best is None or best.gain < SHORTER:
                return
            self._take(best)
            yield best

    def _options(self, place: int) -> Iterator[_Step]:
        middle = float(self._middle[place])
        error = math.sqrt(max(float(self._spread[place, place]), 0.0))
        low, high = float(self._low[place]), float(self._high[place])
        if not 0 < error < VAGUE * abs(middle) or low * high <= 0:
            return
        digits = 2 * math.log(abs(middle) / error)
        left = (
            region(len(self._low) - len(self._free) + 1, self._freedom, self._level) - self._apart
        )
        for value in near(low, high):
            apart = ((value - middle) / error) ** 2
            if apart <= left:
                gain = digits - value.price - apart + self._saved(place, value)
                yield _Step(place, value, gain)

    def _saved(self, place: int, value: Fixed) -> float:
        """Return what the nodes count that a coefficient or exponent of 1 does not need."""
        if abs(value) != 1.0:
            return 0.0
        less = complexity(tree_of(placed(self._form, {place: value})))
        return PER_NODE * (complexity(tree_of(self._form)) - less)

    def _take(self, step: _Step) -> None:
        change = float(step.value - self._middle[step.place])
        variance = float(self._spread[step.place, step.place])
        column = self._spread[:, step.place] / variance
        self._apart += change**2 / variance
        self._middle = self._middle + column * change
        self._spread = self._spread - np.outer(column, self._spread[step.place])
        self._free.remove(step.place)


def placed(form: Sum, values: Mapping[int, float]) -> Sum:
    """Return the form with other values, free or fixed, for some of its free constants."""
    count = iter(range(len(constants(form))))
    return mapped(form, lambda one: values.get(next(count), one))


def _refitted(form: Sum, steps: Sequence[_Step], measure: Measure) -> Sum | None:
    """Return the form with plain values in place and the others fitted from where they were."""
    form = placed(form, {step.place: step.value for step in steps})
    return fit(form, measure.sample, measure.loss, ITERATIONS)


def _told(
    form: Sum, steps: Sequence[_Step], spread: Array, measure: Measure
) -> tuple[Recognised, ...]:
    half = student(measure.freedom) * np.sqrt(np.diag(spread))
    before = constants(form)
    return tuple(
        Recognised(
            float(step.value),
            step.value.text,
            Constant(
                before[step.place],
                before[step.place] - float(half[step.place]),
                before[step.place] + float(half[step.place]),
            ),
        )
        for step in sorted(steps, key=lambda step: step.place)
    )
