"""The tables of terms whose weighted sums are searched, and smaller ones to look first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name
from sciharness_symbolic_regression.laws import functions as fn
from sciharness_symbolic_regression.laws.gathering import Gathering, product_parts
from sciharness_symbolic_regression.laws.powers import MANY, Columns, first, named, power_terms
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    applied,
    distinct,
    joined,
    listed,
    monomials,
    products,
    usable,
)

Array = NDArray[np.float64]

MOST_MODULATED, MOST_TERMS = 6, 27  # columns, and terms that one function is multiplied with


def sums_tables(columns: Columns, most: int) -> Iterator[Terms]:
    """Yield tables of terms whose weighted sums are searched: plain ones, more, all.

    A small table is searched first, since a plain sum can hide among many
    terms that each explain more of the target than its own parts do.
    """
    share = most // 3
    gathering = Gathering.of(len(next(iter(columns.values()))), most + most // 2)
    yield gathering.take([power_terms(columns, min(share, 6000))]).terms()
    near, far = _arguments(columns)
    curves = usable(joined([fn.plain(near), *_scans(columns)]))
    small = power_terms(columns, min(160, max(8, share // max(curves.count, 1))))
    mixed = product_parts(small, curves, share)
    gathering.take(chain([near, curves], mixed, _pairs(columns, share)))
    yield gathering.terms(most)
    others = fn.plain(far)
    more = chain(
        [far, others],
        product_parts(power_terms(columns, 8), others, share),
        _special(columns, curves, share),
    )
    gathering.take(more, most, max(0, most + most // 2 - gathering.filled))
    yield gathering.terms(most)


def polynomial_terms(columns: Columns) -> Terms:
    """Return products of whole powers, up to degree 2, or more where there are few columns."""
    degree = {1: 8, 2: 4, 3: 3}.get(len(columns), 2)
    grid = np.indices((degree + 1,) * len(columns)).reshape(len(columns), -1).T
    total = grid.sum(axis=1)
    rows = grid[(total > 0) & (total <= degree)].astype(np.float64)
    rows = rows[np.argsort(rows.sum(axis=1), kind="stable")]
    return usable(monomials(list(columns), list(columns.values()), rows))


def modulated(columns: Columns) -> Iterator[Terms]:
    """Yield polynomials together with themselves times one function, for each plain function."""
    if len(columns) > MOST_MODULATED:
        return
    near, _ = _arguments(columns)
    curves = fn.plain(near)
    base = polynomial_terms(columns)
    base = base.take(np.arange(min(base.count, MOST_TERMS)))
    for place in range(curves.count):
        curve = curves.take(np.array([place]))
        yield joined([base, curve, products(base, curve)])


def _pairs(columns: Columns, share: int) -> Iterator[Terms]:
    """Yield products of two functions where there are few columns."""
    if len(columns) > 2:
        return
    own = fn.plain(named(columns))
    yield from product_parts(own, own, share)
    for name, column in columns.items():
        yield fn.damped(column, Name(name))


def _special(columns: Columns, curves: Terms, share: int) -> Iterator[Terms]:
    if len(columns) >= MANY:
        return
    yield from _lengths(columns, curves, share)
    small = power_terms(columns, 10)
    for name, column in columns.items():
        yield from product_parts(small, fn.saturating(column, Name(name)))


def small_table(columns: Columns) -> Terms:
    """Return plain terms of one and two columns."""
    near, _ = _arguments(columns)
    powers = power_terms(columns, 150)
    plain = fn.plain(near) if len(columns) < MANY else fn.plain(first(near, len(columns)))
    return first(distinct(usable(joined([near, powers, plain]))), 500)


def probing_table(columns: Columns) -> tuple[Terms, list[tuple[str, ...]]]:
    """Return simple terms of one and two columns, and the columns of each; trees are left out."""
    parts: list[Terms] = []
    used: list[tuple[str, ...]] = []
    for name, column in columns.items():
        own = fn.plain(named({name: column}))
        parts += [Terms(np.array([column, column**2]), _nameless), own]
        used += [(name,)] * (2 + own.count)
    for (m, a), (n, b) in combinations(columns.items(), 2):
        pairs = [a * b, a * b * b, a * a * b, a / (1 + b * b), b / (1 + a * a)]
        pairs += [b / a] if a.min() > 0 else []
        pairs += [a / b] if b.min() > 0 else []
        parts.append(Terms(np.array(pairs), _nameless))
        used += [(m, n)] * len(pairs)
    return joined(parts), used


def _nameless(index: int) -> Expression:
    return Name("")


def _arguments(columns: Columns) -> tuple[Terms, Terms]:
    """Return what functions are applied to: columns and differences; products and ratios."""
    rows = len(next(iter(columns.values())))
    near: list[tuple[Array, Expression]] = [(c, Name(n)) for n, c in columns.items()]
    far: list[tuple[Array, Expression]] = []
    for (m, a), (n, b) in combinations(columns.items(), 2) if len(columns) <= MANY else ():
        near.append((a - b, Binary("-", Name(m), Name(n))))
        far.append((a * b, Binary("*", Name(m), Name(n))))
        with np.errstate(all="ignore"):
            far.append((a / b, Binary("/", Name(m), Name(n))))
            far.append((b / a, Binary("/", Name(n), Name(m))))
        if len(columns) < MANY:
            far.append((a + b, Binary("+", Name(m), Name(n))))
    close = usable(listed(near, rows))
    squares = applied(close, lambda z: z * z, fn.squared).take(np.arange(len(columns), close.count))
    close = joined([close, squares])
    distant = [listed(far, rows)] if far else []
    if len(columns) < MANY:
        distant.append(power_terms(columns, 120))
    return close, distinct(usable(joined(distant or [close])))


def _scans(columns: Columns) -> list[Terms]:
    return [fn.scanned(column, Name(name)) for name, column in columns.items()]


def _lengths(columns: Columns, curves: Terms, share: int) -> Iterator[Terms]:
    """Yield roots of sums of squares, alone and times functions."""
    rows = len(next(iter(columns.values())))
    items = [
        (
            np.sqrt(a * a + b * b),
            Call("sqrt", Binary("+", fn.squared(Name(m)), fn.squared(Name(n)))),
        )
        for (m, a), (n, b) in combinations(columns.items(), 2)
    ]
    lengths = usable(listed(items, rows))
    yield lengths
    yield from product_parts(lengths, curves, share)
