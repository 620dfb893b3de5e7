"""Products of powers of columns and of other factors, sought as sums of logarithms."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Expression, Name, Number
from sciharness_symbolic_regression.laws.factors import factors_tables
from sciharness_symbolic_regression.laws.pursuit import best_of_each_size, least_squares, pursue
from sciharness_symbolic_regression.laws.terms import Terms, listed, raised
from sciharness_symbolic_regression.laws.views import weights_of
from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

CERTAIN = 1e-9  # relative error of a product that no other can improve on


def power_products(look: Sample, most: int, tiers: int = 2) -> Generator[Expression, None, bool]:
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
                yield from _with_exponents(table, own, wanted, weights)
                for one in best_of_each_size(pursue(table, target, basis[:1], weights, 4)):
                    yield from _with_exponents(table, one.chosen, wanted, weights)
            found = pursue(table, target, basis, weights, 2)
            for one in best_of_each_size(found):
                yield from _with_exponents(table, [*one.chosen, *own], wanted, weights)
            if not found or (len(columns) > 1 and min(one.error for one in found) < CERTAIN):
                return True
    return False


def _columns(logs: Mapping[str, Array], rows: int) -> Terms:
    return listed([(log, Name(name)) for name, log in logs.items()], rows)


def _with_exponents(
    table: Terms, chosen: Sequence[int], wanted: Array, weights: Array
) -> Iterator[Expression]:
    """Yield the product of some factors, with fitted and with plain exponents."""
    target = np.log(np.abs(wanted))
    rows = np.vstack([table.values[list(chosen)], np.ones(len(target))])
    found = least_squares(rows, target, weights)
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
