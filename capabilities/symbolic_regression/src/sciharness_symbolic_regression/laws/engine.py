"""The engine of deterministic laws: one stage per way to look at the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import islice

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Expression, Number, parse
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report, no_report
from sciharness_symbolic_regression.laws.factoring import power_products
from sciharness_symbolic_regression.laws.fits import (
    FIT_ROWS,
    ROUNDING,
    findings_of,
    fits_until_exact,
)
from sciharness_symbolic_regression.laws.growth import grown
from sciharness_symbolic_regression.laws.library import (
    modulated,
    polynomial_terms,
    probing_table,
    sums_tables,
)
from sciharness_symbolic_regression.laws.merging import SMOOTH_ROWS, merges
from sciharness_symbolic_regression.laws.peeling import pure_powers
from sciharness_symbolic_regression.laws.pursuit import (
    Selection,
    best_of_each_size,
    eliminate,
    least_squares,
    misfit,
    of_size,
    pursue,
)
from sciharness_symbolic_regression.laws.quotients import quotients
from sciharness_symbolic_regression.laws.terms import Terms, power_product
from sciharness_symbolic_regression.laws.views import VIEWS, View, weights_of
from sciharness_symbolic_regression.laws.waves import ROWS as WAVE_ROWS
from sciharness_symbolic_regression.laws.waves import wave_of
from sciharness_symbolic_regression.samples.memory import give_back_memory
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]
Written = Callable[[Expression], Expression]

SCREEN_ROWS = 180
TERMS = 26_000
FEW = 9  # columns that are looked at together
DEPTH = 5
SEEDS = 4
OFTEN = ("identity", "square", "inverse")  # views in which the largest table is searched too
CERTAIN = 1e-9  # relative error of a sum that no other can improve on
MODULATIONS = 4  # functions for which polynomials are reduced to few terms
CHEAP, MOST_TERMS = 60, 7  # plain terms taken out one by one, down to this many
STAGES = (
    "plain", "merged", "products", *OFTEN, "quotients",
    *(view.name for view in VIEWS if view.name not in OFTEN),
)  # fmt: skip
CHAINED = ("plain", "products", "identity")
QUOTIENTS_IN = 2  # columns of a smaller problem
QUOTIENTS_OF = ("identity", "cosine")  # of the other views one is the inverse of another


class Laws:
    """Sparse sums and products over a large table of terms."""

    name = "laws"
    operators = frozenset(
        {
            "add", "sub", "mul", "div", "pow", "square", "sqrt", "exp", "log", "sin", "cos",
            "tanh", "cosh", "asin", "acos", "atan",
        }
    )  # fmt: skip

    def unavailable(self) -> str | None:
        """Return None: nothing but numpy is needed."""
        return None

    def search(self, sample: Sample, attempt: Attempt, report: Report) -> Findings:
        """Run one stage of :data:`STAGES`."""
        return _found(sample, attempt, report)


def _found(sample: Sample, attempt: Attempt, report: Report = no_report) -> Findings:
    if attempt.stage == "chain":
        return _chained(sample, attempt)
    if attempt.stage == "merged":
        return _merged(sample, attempt, report)
    give_back_memory()  # what a stage before has left in pieces
    most = min(TERMS, attempt.max_evaluations)
    look = _relevant(thinned(sample, SCREEN_ROWS, attempt.seed))
    if attempt.stage == "growth":
        return grown(thinned(sample, FIT_ROWS, attempt.seed), attempt, report)
    if attempt.stage == "plain":
        trees = _plain(look, most, hurry=not attempt.operators)
    elif attempt.stage == "products":
        trees = power_products(look, most)
    elif attempt.stage == "quotients":
        trees = _quotients(look)
    else:
        view = next(one for one in VIEWS if one.name == attempt.stage)
        trees = _sums(look, view, most, tiers=3 if view.name in OFTEN else 2)
    rows = thinned(sample, FIT_ROWS, attempt.seed)
    fits = fits_until_exact(trees, rows, attempt, report)
    return findings_of(list(fits.values()), rows, attempt, most + len(fits))


def _chained(sample: Sample, attempt: Attempt) -> Findings:
    """Return what grows from the findings of the two stages that find most."""
    parts = [_found(sample, evolve(attempt, stage=stage)) for stage in CHAINED]
    starts = tuple(text for part in parts for text in part.formulas)
    last = _found(sample, evolve(attempt, stage="growth", starts=starts))
    return evolve(last, evaluations=sum(part.evaluations for part in (*parts, last)))


def _merged(sample: Sample, attempt: Attempt, report: Report) -> Findings:
    """Return what is found where a wave is divided out and columns that go together are one."""
    look = _relevant(thinned(sample, SMOOTH_ROWS, attempt.seed))
    whole = evolve(sample, columns={n: sample.columns[n] for n in look.columns})
    smaller = _smaller(whole, look, attempt)
    if smaller is None:
        return Findings()
    fewer, back = smaller
    stages = (*CHAINED, "quotients") if len(fewer.columns) <= QUOTIENTS_IN else CHAINED
    spent: list[int] = []

    def trees() -> Iterator[Expression]:
        for stage in stages:
            part = _found(fewer, evolve(attempt, stage=stage))
            spent.append(part.evaluations)
            yield from (back(parse(text)) for text in part.formulas)

    rows = thinned(sample, FIT_ROWS, attempt.seed)
    fits = fits_until_exact(trees(), rows, attempt, report)
    return findings_of(list(fits.values()), rows, attempt, sum(spent) + len(fits))


def _smaller(whole: Sample, look: Sample, attempt: Attempt) -> tuple[Sample, Written] | None:
    """Return a problem with fewer columns and how its formulas are written; None if there is none.

    ``look`` are some of the rows of the whole problem.
    """
    wave = wave_of(thinned(look, WAVE_ROWS, attempt.seed))
    part = wave.sample(whole) if wave else None
    if wave is None or part is None:
        merged = merges(look.columns, look.target)
        fewer = merged.sample(whole)
        return None if fewer is None else (fewer, merged.back)
    rest = _smaller(part, thinned(part, SMOOTH_ROWS, attempt.seed), attempt)
    if rest is None:
        return part, wave.back
    fewer, inner = rest
    return fewer, lambda tree: wave.back(inner(tree))


def _relevant(look: Sample) -> Sample:
    """Return the sample with the few columns that simple sums need, if there are many."""
    if len(look.columns) <= FEW:
        return look
    table, used = probing_table(look.columns)
    basis = np.ones((1, look.rows))
    found = pursue(table, look.target, basis, look.weights, FEW)
    names: dict[str, None] = {}
    for selection in [one for size in range(1, FEW + 1) for one in of_size(found, size)[:1]]:
        for index in selection.chosen:
            names.update(dict.fromkeys(used[index]) if len({*names, *used[index]}) <= FEW else {})
    return evolve(look, columns={n: c for n, c in look.columns.items() if n in names})


def _seeds(found: Sequence[Selection]) -> list[Selection]:
    """Return the best of each size in a smaller table; a larger one starts with the same terms."""
    sizes = sorted({len(one.chosen) for one in found})
    return [one for size in sizes for one in of_size(found, size)[:SEEDS]]


def _plain(look: Sample, most: int, hurry: bool) -> Iterator[Expression]:
    """Yield what the smallest tables give, in the views that laws are plain in most often.

    With ``hurry`` an exact product ends it; not where operators may forbid that product.
    """
    certain = yield from power_products(look, most, tiers=1)
    for view in VIEWS:
        if not (certain and hurry) and view.name in {*OFTEN, "logarithm"}:
            yield from _sums(look, view, most, tiers=1)


def _quotients(look: Sample) -> Iterator[Expression]:
    for view in VIEWS:
        if view.name in QUOTIENTS_OF and view.fits(look.target):
            with np.errstate(all="ignore"):
                target, slope = view.change(look.target), view.slope(look.target)
            weights = weights_of(slope) * look.weights
            yield from map(view.back, quotients(look.columns, target, weights))


def _sums(look: Sample, view: View, most: int, tiers: int) -> Iterator[Expression]:
    if not view.fits(look.target):
        return
    with np.errstate(all="ignore"):
        slope = view.slope(look.target)
    even, scattered = np.ones(look.rows), weights_of(1 / look.target)
    powers = pure_powers(look.columns, look.target, even) or pure_powers(
        look.columns, look.target, scattered
    )
    if powers:
        yield from _pursued(look, view, most, powers, weights_of(slope), tiers)
    done = 0 < len(powers) < len(look.columns)
    yield from _pursued(look, view, most, {}, weights_of(slope), 1 if done else tiers)


def _pursued(
    look: Sample, view: View, most: int, powers: Mapping[str, float], weights: Array, tiers: int
) -> Iterator[Expression]:
    """Yield sums for the target divided by a product of powers."""
    factor = np.ones(look.rows)
    for name, exponent in powers.items():
        factor = factor * look.columns[name] ** exponent
    columns = {n: c for n, c in look.columns.items() if n not in powers}
    with np.errstate(all="ignore"):
        target = view.change(look.target / factor)
        if powers:
            weights = weights_of(view.slope(look.target / factor) / factor)
    good = np.isfinite(target) & (weights > 0)
    if not columns or good.sum() < 20 or not view.fits(look.target / factor):
        return
    kept = {n: c[good] for n, c in columns.items()}
    tables = islice(sums_tables(kept, most), tiers)
    weights = (weights * look.weights)[good]
    basis = np.ones((1, int(good.sum())))
    lead = power_product(list(powers), list(powers.values()))

    def back(tree: Expression) -> Expression:
        return Binary("*", lead, view.back(tree)) if powers else view.back(tree)

    found: list[Selection] = []
    for place, table in enumerate(tables):
        if place == 0:
            yield from (back(tree) for tree in _eliminated(kept, table, target[good], weights))
            found = pursue(table, target[good], basis, weights, DEPTH)
            chosen = best_of_each_size(found)
        else:
            found = pursue(table, target[good], basis, weights, DEPTH - 1, _seeds(found))
            chosen = best_of_each_size(found)
        for selection in chosen:
            yield back(_sum_of(selection, table, target[good], weights))
        if len(kept) > 1 and min((one.error for one in chosen), default=1.0) < CERTAIN:
            return  # a sum for one column may just as well be a series


def _eliminated(
    columns: Mapping[str, Array], powers: Terms, target: Array, weights: Array
) -> Iterator[Expression]:
    """Yield sums that are left of polynomials, and of those with one function beside them."""
    basis = np.ones((1, len(target)))
    room = len(target) // 2
    pools = [powers.take(np.arange(min(powers.count, CHEAP, room)))]
    if len(columns) <= FEW:
        pools.append(polynomial_terms(columns))
    mixed = [one for one in modulated(columns) if one.count <= room]
    errors = [misfit(one.values, target, basis, weights) for one in mixed]
    pools += [mixed[place] for place in np.argsort(errors, kind="stable")[:MODULATIONS]]
    for pool in pools:
        if pool.count <= room:
            for selection in eliminate(pool.values, target, basis, weights)[-MOST_TERMS:]:
                yield _sum_of(selection, pool, target, weights)


def _sum_of(selection: Selection, table: Terms, target: Array, weights: Array) -> Expression:
    chosen = list(selection.chosen)
    rows = np.vstack([table.values[chosen], np.ones(len(target))])
    found = least_squares(rows, target, weights)
    sizes = np.abs(found[:, None] * rows).max(axis=1)
    kept = sizes > ROUNDING * sizes.max()  # what is left of a sum that fits exactly
    trees: list[Expression] = [
        Binary("*", Number(float(coefficient)), table.tree(index))
        for coefficient, index, much in zip(found[:-1], chosen, kept, strict=False)
        if much
    ]
    trees += [Number(float(found[-1]))] if kept[-1] or not trees else []
    return reduce(partial(Binary, "+"), trees)
