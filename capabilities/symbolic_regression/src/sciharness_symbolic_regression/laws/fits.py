"""Fit many structures on a few rows and keep those that no smaller one beats."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from sciharness_publisher.expression import Expression, complexity, render
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report
from sciharness_symbolic_regression.finishing.choosing import price
from sciharness_symbolic_regression.finishing.fitting import fit, values
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import (
    Sum,
    constants,
    exponents_in,
    functions_in,
    shape,
)
from sciharness_symbolic_regression.formulas.written import nodes, tree_of
from sciharness_symbolic_regression.samples.sample import Sample

FIT_ROWS = 400
NEAREST = 4  # formulas of a stage that the criterion finds best, on its front or not
ITERATIONS = 20
REPORT_SECONDS = 0.5
SHORT, FEW = 30, 4  # nodes, or constants, of a formula that ends a search when it fits exactly
ROUNDING = 1e-11  # of the target's spread: a series of few terms gets below 1e-9
KNOWN = 2  # times noise that is known: ten times would be a poor formula


@frozen
class Fit:
    """A form with fitted constants and its error."""

    form: Sum
    error: float
    complexity: int
    constants: int

    @property
    def size(self) -> int:
        """Nodes and constants together."""
        return self.complexity + self.constants

    def score(self, rows: int, floor: float) -> float:
        """Return an information criterion; smaller is better."""
        misfit = 2 * rows * float(np.log(max(self.error, floor)))
        return misfit + price(self.complexity, self.constants, rows)


def fits_of(trees: Iterable[Expression], rows: Sample, attempt: Attempt) -> dict[str, Fit]:
    """Return the fits of all structures that the attempt allows, by shape.

    Structures may be twice as large as allowed, since parts of them may be
    taken out later.
    """
    return {key: one for key, one in _fitted(trees, rows, attempt) if one is not None}


def fits_until_exact(
    trees: Iterable[Expression], rows: Sample, attempt: Attempt, report: Report
) -> dict[str, Fit]:
    """Return fits as :func:`fits_of`, up to the first plain formula that fits exactly.

    Trees are asked for one by one, so what makes them may be left unfinished.
    What there is so far is told now and then, for a stage that time may end.
    """
    fits: dict[str, Fit] = {}
    told = time.monotonic()
    for key, one in _fitted(trees, rows, attempt):
        if one is not None:
            fits[key] = one
            if is_law(one, rows):
                break
        if time.monotonic() - told > REPORT_SECONDS:
            report(findings_of(list(fits.values()), rows, attempt, len(fits)))
            told = time.monotonic()
    return fits


def is_law(one: Fit, rows: Sample) -> bool:
    """Whether a formula fits exactly and is no series: it is short, or has few constants."""
    plain = one.complexity <= SHORT or one.constants <= FEW
    return plain and is_exact(one.error, rows)


def is_exact(error: float, rows: Sample) -> bool:
    """Whether an error is nothing but rounding, or noise that is known beforehand."""
    rounding = 80 * float(np.finfo(float).eps * np.abs(rows.target).max())
    return error <= max(ROUNDING * rows.spread, rounding, KNOWN * rows.noise)


def _fitted(
    trees: Iterable[Expression], rows: Sample, attempt: Attempt
) -> Iterator[tuple[str, Fit | None]]:
    largest = 2 * attempt.max_complexity
    nonnegative = rows.nonnegative()
    seen: set[str] = set()
    for tree in trees:
        try:
            form = canonical(tree, nonnegative)
        except Undefined:
            continue
        key = shape(form)
        if key in seen:
            continue
        if complexity(tree_of(form)) <= largest and may_use(form, attempt.operators):
            seen.add(key)
            yield key, _fit_of(form, rows, attempt.loss)


def _fit_of(form: Sum, rows: Sample, loss: str) -> Fit | None:
    found = fit(form, rows, loss, ITERATIONS)
    if found is None:
        return None
    error = float(np.sqrt(np.mean(np.square(values(found, rows) - rows.target))))
    if not np.isfinite(error):
        return None
    return Fit(found, error, nodes(found), len(constants(found)))


def may_use(form: Sum, operators: Collection[str]) -> bool:
    """Whether a form can be built from some operators; none given means from any."""
    return not operators or needed(form) <= {*operators, "add", "sub", "mul"}


def needed(form: Sum) -> set[str]:
    """Return the operators that a form cannot be built without, beyond + - and *."""
    names = {base.name for base in functions_in(form)}
    for exponent in exponents_in(form):
        if isinstance(exponent, float) or exponent.denominator > 2:
            names.add("pow")
        elif exponent.denominator == 2:
            names.add("sqrt")
        if exponent < 0 and isinstance(exponent, Fraction):
            names.add("div")
    return names


def front_of(fits: Sequence[Fit], floor: float) -> list[Fit]:
    """Return the two best of each size that improve on what is smaller, smallest first."""
    best: list[Fit] = []
    reached = np.inf
    for size in sorted({one.size for one in fits}):
        ranked = sorted((one for one in fits if one.size == size), key=lambda one: one.error)
        better = [one for one in ranked[:2] if max(one.error, floor) < reached]
        best += better
        reached = min([reached, *(max(one.error, floor) for one in better)])
    return best


def nearest(fits: Sequence[Fit], rows: Sample) -> list[Fit]:
    """Return the few best by the criterion: a law may be no better than a shorter stand-in."""
    return sorted(fits, key=lambda one: one.score(rows.rows, rows.noise_floor))[:NEAREST]


def findings_of(fits: Sequence[Fit], rows: Sample, attempt: Attempt, spent: int) -> Findings:
    """Return the front as findings; exact is only a formula that is not too large to be chosen."""
    best = front_of(fits, 0.3 * rows.noise_floor)
    best += [one for one in nearest(fits, rows) if not any(one is other for other in best)]
    best.sort(key=lambda one: one.size)
    least = min((one.error for one in best), default=rows.spread)
    texts = tuple(render(tree_of(one.form)) for one in best)
    small = [one.error for one in best if one.complexity <= attempt.max_complexity]
    exact = is_exact(min(small, default=rows.spread), rows)
    return Findings(texts, spent, least / rows.spread, exact)
