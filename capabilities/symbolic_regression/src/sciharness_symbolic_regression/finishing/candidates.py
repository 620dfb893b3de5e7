"""Candidate formulas: gathered from findings, fitted, reduced, judged on rows kept back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import Expression, complexity, parse
from sciharness_symbolic_regression.finishing.fitting import HUBER, fit, robust_scale, values
from sciharness_symbolic_regression.finishing.reducing import reductions
from sciharness_symbolic_regression.finishing.squares import squares
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import Sum, constants, nests_functions, shape
from sciharness_symbolic_regression.formulas.written import nodes, tree_of
from sciharness_symbolic_regression.samples.sample import Rows

Array = NDArray[np.float64]

FIRST_LOOK_ROWS = 500  # rows on which every structure is fitted once
FIRST_ITERATIONS = 12
FULL_LOOK_ROWS = 20_000  # rows on which the promising ones are fitted and compared
PER_COMPLEXITY = 2
LEAST_TRIED = 12  # texts that are looked at even when time is out
LEAST_FITTED = 2  # formulas that are fitted on many rows even when time is out
NEAR_BEST = 1.5  # reductions start from front members with at most this times the best error


@frozen(eq=False)
class Candidate:
    """A formula with constants fitted on training rows and its losses, one per row.

    ``train`` and ``validation`` are weighted losses (rows,): squared errors, or
    Huber losses, on the rows of a :class:`Rows`.
    """

    form: Sum
    shape: str
    complexity: int
    constants: int
    train: Array
    validation: Array

    @property
    def train_error(self) -> float:
        """Root mean loss on training rows."""
        return float(np.sqrt(self.train.mean()))

    @property
    def validation_error(self) -> float:
        """Root mean loss on validation rows."""
        return float(np.sqrt(self.validation.mean()))


@frozen
class Limits:
    """Which formulas may become candidates, and how often parts are taken out of them.

    ``nested`` allows functions inside trigonometric ones and the reverse.
    """

    max_complexity: int
    nested: bool = False
    rounds: int = 6

    def allow(self, form: Sum) -> bool:
        """Whether a formula is within the limits."""
        if not self.nested and nests_functions(form):
            return False
        return nodes(form) <= self.max_complexity


def never() -> bool:
    """Return False: there is no limit of time."""
    return False


def gather(
    texts: Iterable[str],
    rows: Rows,
    limits: Limits,
    seed: int = 0,
    late: Callable[[], bool] = never,
) -> tuple[Candidate, ...]:
    """Return fitted candidates for formula texts, one per structure, simplest first.

    Every structure within the limits is fitted on a few rows; the best of each
    complexity, and what is left of them when a part is taken out, on many. From when
    on ``late`` says so nothing more is fitted, beyond the first few texts and the best.
    """
    look = rows.thinned(FIRST_LOOK_ROWS, seed)
    pool: dict[str, Candidate] = {}
    _add(pool, map(parse, texts), look, limits, late)
    reduced: set[str] = set()
    for _ in range(limits.rounds):
        if late():
            break
        near = worth_reducing(pool.values(), look)
        trees = [
            tree
            for candidate in near
            if candidate.shape not in reduced
            for tree in (
                *reductions(tree_of(candidate.form)),
                *map(tree_of, squares(candidate.form)),
            )
        ]
        reduced.update(candidate.shape for candidate in near)
        _add(pool, trees, look, limits, late)
    return _on_many(promising(pool.values()), rows.thinned(FULL_LOOK_ROWS, seed), late)


def _on_many(
    candidates: Sequence[Candidate], rows: Rows, late: Callable[[], bool]
) -> tuple[Candidate, ...]:
    """Return candidates fitted on many rows, simplest first; the best are fitted first.

    The simplest and the best are always among them, whatever the time.
    """
    ranked = sorted(candidates, key=lambda one: (one.validation_error, one.complexity))
    found: list[Candidate] = []
    for candidate in [*candidates[:1], *(one for one in ranked if one is not candidates[0])]:
        fitted = candidate_of(candidate.form, rows)
        if fitted is not None:
            found.append(fitted)
        if len(found) >= LEAST_FITTED and late():
            break
    return distinct(found, rows)


def worth_reducing(candidates: Iterable[Candidate], rows: Rows) -> list[Candidate]:
    """Return the front members whose validation error is within a factor of the best one's."""
    members = front(candidates, rows)
    best = min((candidate.validation_error for candidate in members), default=0.0)
    limit = NEAR_BEST * max(best, rows.validation.noise_floor)
    return [one for one in members if one.validation_error <= limit]


def candidate_of(form: Sum, rows: Rows, iterations: int = 40) -> Candidate | None:
    """Fit a form on the training rows and take its losses, or None where it is undefined."""
    fitted = fit(form, rows.train, rows.loss, iterations)
    if fitted is None:
        return None
    errors = values(fitted, rows.train) - rows.train.target
    kept_back = values(fitted, rows.validation) - rows.validation.target
    if not np.isfinite(kept_back).all():
        return None
    scale = robust_scale(errors)
    return Candidate(
        fitted,
        shape(fitted),
        complexity(tree_of(fitted)),
        len(constants(fitted)),
        losses(errors, rows.train.weights, rows.loss, scale),
        losses(kept_back, rows.validation.weights, rows.loss, scale),
    )


def losses(errors: Array, weights: Array, loss: str, scale: float) -> Array:
    """Return weighted squared errors, growing linearly beyond ``HUBER * scale`` if asked for."""
    if loss == "squared" or scale == 0.0:
        with np.errstate(over="ignore"):  # infinite is what such a loss is
            return weights * errors * errors
    size, bend = np.abs(errors), HUBER * scale
    return weights * np.where(size <= bend, size * size, bend * (2 * size - bend))


def promising(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the few best of each complexity and number of constants, simplest first.

    Best is by training error, which a formula with a constant more beats by chance.
    """
    by_size: dict[tuple[int, int], list[Candidate]] = {}
    for candidate in candidates:
        by_size.setdefault((candidate.complexity, candidate.constants), []).append(candidate)
    best = []
    for size in sorted(by_size):
        ranked = sorted(by_size[size], key=lambda one: (one.train_error, one.shape))
        best += ranked[:PER_COMPLEXITY]
    return best


def distinct(candidates: Iterable[Candidate], rows: Rows) -> tuple[Candidate, ...]:
    """Return candidates without those that predict what a simpler one predicts."""
    kept: list[tuple[Candidate, Array]] = []
    near = 10 * rows.train.noise_floor
    for candidate in sorted(candidates, key=_simplest_first):
        predicted = values(candidate.form, rows.train)
        if all(np.abs(predicted - other).max() > near for _, other in kept):
            kept.append((candidate, predicted))
    return tuple(candidate for candidate, _ in kept)


def front(candidates: Iterable[Candidate], rows: Rows) -> tuple[Candidate, ...]:
    """Return those that no candidate with as few nodes and constants equals or beats in training.

    Errors below what double precision can tell apart count as equal.
    """
    floor = rows.train.noise_floor
    best: list[Candidate] = []
    for candidate in sorted(candidates, key=_simplest_first):
        error = max(candidate.train_error, floor)
        if not any(
            one.constants <= candidate.constants and one.train_error <= error for one in best
        ):
            best.append(candidate)
    return tuple(best)


def _simplest_first(candidate: Candidate) -> tuple[int, int, float, str]:
    return candidate.complexity, candidate.constants, candidate.train_error, candidate.shape


def _add(
    pool: dict[str, Candidate],
    trees: Iterable[Expression],
    rows: Rows,
    limits: Limits,
    late: Callable[[], bool],
) -> None:
    nonnegative = rows.train.nonnegative() & rows.validation.nonnegative()
    forms: dict[str, Sum] = {}
    for count, tree in enumerate(trees):
        if count >= LEAST_TRIED and late():
            break
        form = _form(tree, nonnegative)
        if form is not None and limits.allow(form):
            forms.setdefault(shape(form), form)
    for count, (key, form) in enumerate(forms.items()):
        if count >= LEAST_TRIED and late():
            break
        if key not in pool:
            candidate = candidate_of(form, rows, FIRST_ITERATIONS)
            if candidate is not None:
                pool[key] = candidate


def _form(tree: Expression, nonnegative: frozenset[str]) -> Sum | None:
    try:
        return canonical(tree, nonnegative)
    except Undefined:
        return None
