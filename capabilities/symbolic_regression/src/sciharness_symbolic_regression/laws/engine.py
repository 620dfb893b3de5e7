"""The engine of deterministic laws: one stage per way to look at the target."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Expression, Name, Number, parse
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report, no_report
from sciharness_symbolic_regression.laws.factors import factors_tables
from sciharness_symbolic_regression.laws.fits import FIT_ROWS, findings_of, fits_until_exact
from sciharness_symbolic_regression.laws.growth import grown
from sciharness_symbolic_regression.laws.library import (
    modulated,
    polynomial_terms,
    probing_table,
    sums_tables,
)
from sciharness_symbolic_regression.laws.merging import SMOOTH_ROWS, merges
from sciharness_symbolic_regression.laws.peeling import pure_powers
from sciharness_symbolic_regression.laws.pursuit import Selection, eliminate, misfit, pursue
from sciharness_symbolic_regression.laws.terms import Terms, listed, power_product, raised
from sciharness_symbolic_regression.laws.views import VIEWS, View, weights_of
from sciharness_symbolic_regression.samples.memory import give_back_memory
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

SCREEN_ROWS = 180
TERMS = 26_000
FEW = 9  # columns that are looked at together
DEPTH = 5
SEEDS = 4
OFTEN = ("identity", "square", "inverse")  # views in which the largest table is searched too
CERTAIN = 1e-9  # relative error of a sum that no other can improve on
MODULATIONS = 4  # functions for which polynomials are reduced to few terms
CHEAP, MOST_TERMS = 60, 7  # plain terms taken out one by one, down to this many
TRIED, CLOSEST = 4, 2  # selections of each size whose constants are fitted, by rank and error
STAGES = ("plain", "merged", "products", *(view.name for view in VIEWS))
CHAINED = ("plain", "products", "identity")


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
        trees = _products(look, most)
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
    """Return what is found where columns that enter only together are one column."""
    look = _relevant(thinned(sample, SMOOTH_ROWS, attempt.seed))
    merged = merges(look.columns, look.target)
    fewer = merged.sample(evolve(sample, columns={n: sample.columns[n] for n in look.columns}))
    if fewer is None:
        return Findings()
    spent: list[int] = []

    def trees() -> Iterator[Expression]:
        for stage in CHAINED:
            part = _found(fewer, evolve(attempt, stage=stage))
            spent.append(part.evaluations)
            yield from (merged.back(parse(text)) for text in part.formulas)

    rows = thinned(sample, FIT_ROWS, attempt.seed)
    fits = fits_until_exact(trees(), rows, attempt, report)
    return findings_of(list(fits.values()), rows, attempt, sum(spent) + len(fits))


def _relevant(look: Sample) -> Sample:
    """Return the sample with the few columns that simple sums need, if there are many."""
    if len(look.columns) <= FEW:
        return look
    table, used = probing_table(look.columns)
    basis = np.ones((1, look.rows))
    found = pursue(table, look.target, basis, look.weights, FEW)
    names: dict[str, None] = {}
    for selection in [one for size in range(1, FEW + 1) for one in _of_size(found, size)[:1]]:
        for index in selection.chosen:
            names.update(dict.fromkeys(used[index]) if len({*names, *used[index]}) <= FEW else {})
    return evolve(look, columns={n: c for n, c in look.columns.items() if n in names})


def _seeds(found: Sequence[Selection]) -> list[Selection]:
    """Return the best of each size in a smaller table; a larger one starts with the same terms."""
    sizes = sorted({len(one.chosen) for one in found})
    return [one for size in sizes for one in _of_size(found, size)[:SEEDS]]


def _of_size(found: Sequence[Selection], size: int) -> list[Selection]:
    return [one for one in found if len(one.chosen) == size]


def _plain(look: Sample, most: int, hurry: bool) -> Iterator[Expression]:
    """Yield what the smallest tables give, in the views that laws are plain in most often.

    With ``hurry`` an exact product ends it; not where operators may forbid that product.
    """
    certain = yield from _products(look, most, tiers=1)
    for view in VIEWS:
        if not (certain and hurry) and view.name in {*OFTEN, "logarithm"}:
            yield from _sums(look, view, most, tiers=1)


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
    yield from _pursued(look, view, most, {}, weights_of(slope), 1 if powers else tiers)


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
            chosen = _best(found)
        else:
            found = pursue(table, target[good], basis, weights, DEPTH - 1, _seeds(found))
            chosen = _best(found)
        for selection in chosen:
            yield back(_sum_of(selection, table, target[good], weights))
        if min((one.error for one in chosen), default=1.0) < CERTAIN:
            return


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
    found = _least_squares(rows, target, weights)
    tree: Expression = Number(float(found[-1]))
    for index, coefficient in zip(chosen, found, strict=False):
        tree = Binary("+", tree, Binary("*", Number(float(coefficient)), table.tree(index)))
    return tree


def _products(look: Sample, most: int, tiers: int = 2) -> Generator[Expression, None, bool]:
    """Yield power products of columns and other factors; return whether one fits exactly."""
    seen = look.target != 0
    wanted = look.target[seen]
    target = np.log(np.abs(wanted))
    columns = {name: column[seen] for name, column in look.columns.items()}
    named = {n: np.log(np.abs(c)) for n, c in columns.items() if (c != 0).all()}
    if len(wanted) < 20 or target.max() == target.min():
        return False
    basis = np.vstack([np.ones(len(target)), *named.values()])
    own = list(range(len(named)))
    even, scattered = look.weights[seen], weights_of(1 / wanted) * look.weights[seen]
    tables = factors_tables(columns, most, _columns(named, len(target)))
    for place, table in enumerate(islice(tables, tiers)):
        for weights in (even, scattered):
            if place == 0:
                yield from _power_products(table, own, wanted, weights)
                for one in _best(pursue(table, target, basis[:1], weights, 4)):
                    yield from _power_products(table, one.chosen, wanted, weights)
            found = pursue(table, target, basis, weights, 2)
            for one in _best(found):
                yield from _power_products(table, [*one.chosen, *own], wanted, weights)
            if not found or min(one.error for one in found) < CERTAIN:
                return True
    return False


def _columns(logs: Mapping[str, Array], rows: int) -> Terms:
    return listed([(log, Name(name)) for name, log in logs.items()], rows)


def _power_products(
    table: Terms, chosen: Sequence[int], wanted: Array, weights: Array
) -> Iterator[Expression]:
    """Yield the product of some factors, with fitted and with plain exponents."""
    target = np.log(np.abs(wanted))
    rows = np.vstack([table.values[list(chosen)], np.ones(len(target))])
    found = _least_squares(rows, target, weights)
    lead = float(np.sign(np.median(wanted)) * np.exp(np.clip(found[-1], -600, 600)))
    bases = [table.tree(index) for index in chosen]
    for exponents in _exponents(found[:-1]):
        yield _product_of(lead, bases, exponents)


def _exponents(found: Array) -> Iterator[tuple[float, ...]]:
    """Yield exponents made plain, and where that moves some far, as they are."""
    halves = tuple(round(2 * float(p)) / 2 for p in found)
    yield halves
    near = tuple(h if abs(h - p) < 0.04 else float(p) for h, p in zip(halves, found, strict=True))
    if near != halves:
        yield near
        yield tuple(round(12 * p) / 12 if abs(p) > 0.1 else 0.0 for p in near)


def _product_of(lead: float, bases: Sequence[Expression], exponents: Sequence[float]) -> Expression:
    tree: Expression = Number(lead)
    for base, exponent in zip(bases, exponents, strict=True):
        if exponent:
            tree = Binary("*", tree, raised(base, exponent))
    return tree


def _least_squares(rows: Array, target: Array, weights: Array) -> Array:
    roots = np.sqrt(weights)
    size = np.sqrt(((rows * roots) ** 2).sum(axis=1))
    size[size == 0.0] = 1.0
    found, *_ = np.linalg.lstsq((rows * roots).T / size, roots * target, rcond=1e-13)
    return np.asarray(found / size)


def _best(selections: Sequence[Selection]) -> list[Selection]:
    """Return the few best of each number of terms, by rank and by error."""
    kept: list[Selection] = []
    for size in sorted({len(one.chosen) for one in selections}):
        ranked = _of_size(selections, size)
        closest = sorted(ranked, key=lambda one: one.error)[:CLOSEST]
        kept += [one for i, one in enumerate(ranked) if size == 1 or i < TRIED or one in closest]
    return kept
