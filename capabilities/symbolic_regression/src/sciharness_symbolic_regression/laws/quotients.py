"""Quotients of sums: from y = N / (1 - b s) follows y = N + b s y, which is a sum again.

For each of some terms s, the product s y stands beside the terms that N is sought among.
It is the only term that holds the target: several of them could stand for the target itself.
(One equation for numerator and denominator: Kaheman, Kutz and Brunton, SINDy-PI, Proceedings
of the Royal Society A 476 (2020).)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Expression, Name, Number
from sciharness_symbolic_regression.laws import functions as fn
from sciharness_symbolic_regression.laws.fits import ROUNDING
from sciharness_symbolic_regression.laws.library import small_table
from sciharness_symbolic_regression.laws.powers import Columns, first, named
from sciharness_symbolic_regression.laws.pursuit import Selection, least_squares, pursue
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    applied,
    distinct,
    joined,
    listed,
    products,
    usable,
)

Array = NDArray[np.float64]

MOST_BELOW = 40  # terms that are tried below the bar
MOST_ABOVE = 320
SCREENED, DEPTH = 3, 4  # terms above, for all denominators and for the best
FITTED = 8  # denominators that leave least
EACH = 2  # numerators of each size


def quotients(columns: Columns, target: Array, weights: Array) -> Iterator[Expression]:
    """Yield quotients for a target (rows,), those with the smallest error first."""
    above, below = first(small_table(columns), MOST_ABOVE), _below(columns)
    bases = [np.vstack([np.ones_like(target), one * target]) for one in below.values]
    screened = [pursue(above, target, basis, weights, SCREENED) for basis in bases]
    left = [min((one.error for one in chosen), default=np.inf) for chosen in screened]
    for place in np.argsort(left, kind="stable")[:FITTED].tolist():
        chosen = pursue(above, target, bases[place], weights, DEPTH)
        for size in range(1, DEPTH + 1):
            ranked = sorted((one for one in chosen if len(one.chosen) == size), key=_error)
            for one in ranked[:EACH]:
                tree = _quotient(one, above, below.tree(place), bases[place], target, weights)
                if tree is not None:
                    yield tree


def _below(columns: Columns) -> Terms:
    """Return what may stand below: columns, their squares, waves, and products of two of these."""
    own = named(columns)
    waves = usable(
        joined([applied(own, np.cos, fn.call("cos")), applied(own, np.sin, fn.call("sin"))])
    )
    squares = applied(own, np.square, fn.squared)
    rows = len(next(iter(columns.values())))
    pairs: list[tuple[Array, Expression]] = []
    for (m, a), (n, b) in combinations(columns.items(), 2):
        pairs.append((a * b, Binary("*", Name(m), Name(n))))
        with np.errstate(all="ignore"):
            pairs.append((a / b, Binary("/", Name(m), Name(n))))
            pairs.append((b / a, Binary("/", Name(n), Name(m))))
    parts = [own, squares, listed(pairs, rows), waves, products(own, waves)]
    return first(distinct(usable(joined(parts))), MOST_BELOW)


def _quotient(
    one: Selection, above: Terms, below: Expression, basis: Array, target: Array, weights: Array
) -> Expression | None:
    """Return the quotient with fitted constants; None where nothing is left below the bar."""
    chosen = list(one.chosen)
    rows = np.vstack([above.values[chosen], basis])
    found = least_squares(rows, target, weights)
    sizes = np.abs(found[:, None] * rows).max(axis=1)
    kept = sizes > ROUNDING * sizes.max()
    *strengths, free, lead = map(float, found)
    if not kept[-1] or not kept[:-1].any():
        return None
    parts: list[Expression] = [Number(free)] if kept[-2] else []
    for index, strength, much in zip(chosen, strengths, kept, strict=False):
        if much:
            parts.append(Binary("*", Number(strength), above.tree(index)))
    top = reduce(partial(Binary, "+"), parts)
    return Binary("/", top, fn.plus(1.0, Binary("*", Number(-lead), below)))


def _error(one: Selection) -> float:
    return one.error
