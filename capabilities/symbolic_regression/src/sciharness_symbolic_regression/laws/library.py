"""The tables of terms: one for sums, one of logarithms of factors for products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name
from sciharness_symbolic_regression.laws import functions as fn
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    applied,
    capped,
    distinct,
    exponent_rows,
    joined,
    listed,
    monomials,
    products,
    raised,
    usable,
)

Array = NDArray[np.float64]
Columns = Mapping[str, Array]

SIGNS = (0.0, 1.0, -1.0)
MOST_MODULATED, MOST_TERMS = 6, 27  # columns, and terms that one function is multiplied with
SCALED_GROUPS = 242
GROUP_SCALES = (0.1, 0.2, 0.4, 0.7, 1.2, 2.0, 4.0)  # over a group's median size
MANY = 8  # from this many columns on only pairs are looked at


def sums_tables(columns: Columns, most: int) -> Iterator[Terms]:
    """Yield tables of terms whose weighted sums are searched: plain ones, more, all.

    A small table is searched first, since a plain sum can hide among many
    terms that each explain more of the target than its own parts do.
    """
    share = most // 3
    powers = distinct(usable(_powers(columns, min(share, 6000))))
    yield powers
    near, far = _arguments(columns)
    curves = usable(joined([fn.plain(near), *_scans(columns)]))
    small = _powers(columns, min(160, max(8, share // max(curves.count, 1))))
    mixed = _first(products(small, curves), share)
    simple = distinct(usable(joined([powers, near, curves, mixed, *_pairs(columns, share)])))
    others = fn.plain(far)
    yield _first(simple, most)
    parts = [simple, far, others, _first(products(_powers(columns, 8), others), share)]
    parts += _special(columns, curves, share)
    yield _first(distinct(capped(parts, most + most // 2)), most)


def polynomial_terms(columns: Columns) -> Terms:
    """Return products of whole powers, up to degree 2, or more where there are few columns."""
    degree = {1: 6, 2: 4, 3: 3}.get(len(columns), 2)
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


def _pairs(columns: Columns, share: int) -> list[Terms]:
    """Return products of two functions where there are few columns."""
    if len(columns) > 2:
        return []
    own = fn.plain(_named(columns))
    waves = [fn.damped(column, Name(name)) for name, column in columns.items()]
    return [_first(products(own, own), share), *waves]


def _special(columns: Columns, curves: Terms, share: int) -> list[Terms]:
    if len(columns) >= MANY:
        return []
    falls = [fn.saturating(column, Name(name)) for name, column in columns.items()]
    small = _powers(columns, 10)
    return [_lengths(columns, curves, share), *(products(small, fall) for fall in falls)]


def small_table(columns: Columns) -> Terms:
    """Return plain terms of one and two columns."""
    near, _ = _arguments(columns)
    powers = _powers(columns, 150)
    plain = fn.plain(near) if len(columns) < MANY else fn.plain(_first(near, len(columns)))
    return _first(distinct(usable(joined([near, powers, plain]))), 500)


def probing_table(columns: Columns) -> tuple[Terms, list[tuple[str, ...]]]:
    """Return simple terms of one and two columns, and the columns of each; trees are left out."""
    parts: list[Terms] = []
    used: list[tuple[str, ...]] = []
    for name, column in columns.items():
        own = fn.plain(_named({name: column}))
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


def _named(columns: Columns) -> Terms:
    """Return the columns themselves."""
    rows = len(next(iter(columns.values())))
    return listed([(column, Name(name)) for name, column in columns.items()], rows)


def factors_tables(columns: Columns, most: int) -> Iterator[Terms]:
    """Yield logarithms of factors beyond the columns; trees are of the factors.

    The first table has factors of one column, the second all.
    """
    single = _named(columns)
    both = usable(joined([single, usable(applied(single, lambda z: 1 / z, fn.over))]))
    own = [
        applied(both, lambda z: z, fn.call("exp")),
        *(_logs(single, change, written) for change, written in fn.PLAIN),
        *(
            _logs(_named({name: column}), *pair)
            for name, column in columns.items()
            for pair in _shifts(column)
        ),
    ]
    yield distinct(usable(joined(own)))
    groups = usable(_powers(columns, max(20, most // 14), signed=False))
    parts = chain(
        own,
        _sum_factors(columns),
        _scaled_groups(_plain_groups(columns)),
        _wave_factors(columns, groups, most),
        _group_factors(groups),
    )
    yield _first(distinct(capped(parts, most + most // 2)), most)


def _wave_factors(columns: Columns, groups: Terms, most: int) -> Iterator[Terms]:
    waves = _wave_arguments(columns)
    yield _logs(waves, np.sin, fn.call("sin"))
    yield _logs(waves, np.cos, fn.call("cos"))
    yield _turned(groups, columns, most)


def _group_factors(groups: Terms) -> Iterator[Terms]:
    """Yield factors that hold one product of powers D, as 1 - D or exp(D) - 1 do."""
    yield applied(groups, lambda z: z, fn.call("exp"))
    yield _logs(groups, lambda z: 1 + z, lambda z: fn.plus(1.0, z))
    yield _logs(groups, lambda z: 1 - z, lambda z: fn.minus(1.0, z))
    yield _logs(groups, np.expm1, lambda z: fn.plus(-1.0, Call("exp", z)))
    yield _logs(groups, lambda z: np.exp(z) + 1, lambda z: fn.plus(1.0, Call("exp", z)))
    yield _logs(groups, np.tanh, fn.call("tanh"))
    yield _logs(groups, np.cosh, fn.call("cosh"))
    yield _logs(groups, np.log, fn.call("log"))


def _plain_groups(columns: Columns) -> Terms:
    """Return products and ratios of different columns."""
    rows = exponent_rows([SIGNS] * len(columns), SCALED_GROUPS)
    return usable(monomials(list(columns), list(columns.values()), rows))


def _scaled_groups(groups: Terms) -> Iterator[Terms]:
    """Yield factors of groups whose scale is on a grid that suits each group's size."""
    for place in range(groups.count):
        one = groups.take(np.array([place]))
        size = float(np.median(np.abs(one.values))) or 1.0
        for share in GROUP_SCALES:
            yield from _scaled_factors(one, share / size)
        top = float(one.values.max())
        for share in fn.BEYOND if top > 0 else ():
            yield _logs(one, *_below_one(1.0 / (share * top)))


def _scaled_factors(one: Terms, scale: float) -> Iterator[Terms]:
    yield _logs(
        one,
        lambda z: np.expm1(scale * z),
        lambda z: fn.plus(-1.0, Call("exp", fn.times(scale, z))),
    )
    yield _logs(
        one,
        lambda z: np.exp(scale * z) + 1,
        lambda z: fn.plus(1.0, Call("exp", fn.times(scale, z))),
    )
    yield _logs(one, lambda z: 1 + scale * z, lambda z: fn.plus(1.0, fn.times(scale, z)))
    yield _logs(one, lambda z: np.tanh(scale * z), lambda z: Call("tanh", fn.times(scale, z)))


def _below_one(scale: float) -> fn.Pair:
    return lambda z: 1 - scale * z, lambda z: fn.minus(1.0, fn.times(scale, z))


def _first(terms: Terms, most: int) -> Terms:
    return terms if terms.count <= most else terms.take(np.arange(most))


def _powers(columns: Columns, most: int, signed: bool = True) -> Terms:
    count = len(columns)
    whole = [0.0, 1.0, -1.0, 2.0, -2.0]
    if count <= 4:
        whole += [3.0, -3.0, 4.0, -4.0]
    if count <= 2:
        whole += [5.0, 6.0, 7.0, 8.0]
    halves = [0.5, -0.5, 1.5, -1.5] if count <= 6 else [0.5, -0.5]
    choices = [whole if column.min() < 0 else whole + halves for column in columns.values()]
    rows = exponent_rows(choices, most if signed else 2 * most)
    if signed and 3**count <= most // 4:  # a product of all columns is plain, too
        rows = np.unique(np.concatenate([exponent_rows([SIGNS] * count, most), rows]), axis=0)
        rows = rows[np.argsort(np.abs(rows).sum(axis=1), kind="stable")]
    if not signed:  # 1 + D and 1 + 1/D differ by a factor that is a power product
        lead = np.array([row[np.flatnonzero(row)[0]] for row in rows])
        rows = rows[lead > 0][:most]
        rows = np.concatenate([rows, -rows])
    return monomials(list(columns), list(columns.values()), rows)


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
        distant.append(_powers(columns, 120))
    return close, distinct(usable(joined(distant or [close])))


def _scans(columns: Columns) -> list[Terms]:
    return [fn.scanned(column, Name(name)) for name, column in columns.items()]


def _lengths(columns: Columns, curves: Terms, share: int) -> Terms:
    """Return roots of sums of squares, alone and times functions."""
    rows = len(next(iter(columns.values())))
    items = [
        (
            np.sqrt(a * a + b * b),
            Call("sqrt", Binary("+", fn.squared(Name(m)), fn.squared(Name(n)))),
        )
        for (m, a), (n, b) in combinations(columns.items(), 2)
    ]
    if not items:
        return listed([], rows)
    lengths = usable(listed(items, rows))
    return usable(joined([lengths, _first(products(lengths, curves), share)]))


def _logs(terms: Terms, change: fn.Change, written: fn.Written) -> Terms:
    found = applied(terms, lambda z: np.log(np.abs(change(z))), written)
    return usable(found)


def _wave_arguments(columns: Columns) -> Terms:
    rows = len(next(iter(columns.values())))
    items: list[tuple[Array, Expression]] = []
    base: list[tuple[Array, Expression]] = [(c, Name(n)) for n, c in columns.items()]
    pairs = list(combinations(columns.items(), 2)) if len(columns) < 2 * MANY else []
    for (m, a), (n, b) in pairs:
        base.append((a * b, Binary("*", Name(m), Name(n))))
        base.append((a - b, Binary("-", Name(m), Name(n))))
        with np.errstate(all="ignore"):
            base.append((a / b, Binary("/", Name(m), Name(n))))
            base.append((b / a, Binary("/", Name(n), Name(m))))
        if len(columns) < MANY:
            rest = [(k, c) for k, c in columns.items() if k not in (m, n)]
            for k, c in rest:
                base.append(((a - b) * c, Binary("*", Binary("-", Name(m), Name(n)), Name(k))))
                with np.errstate(all="ignore"):
                    base.append((a * b / c, Binary("/", Binary("*", Name(m), Name(n)), Name(k))))
    for value, tree in base:
        for turns in (1.0, 0.5, 2.0, np.pi, 2 * np.pi):
            items.append((turns * value, fn.times(turns, tree)))
    return usable(listed(items, rows))


def _turned(groups: Terms, columns: Columns, most: int) -> Terms:
    """Return logarithms of 1 + D cos(a) and the like."""
    rows = len(next(iter(columns.values())))
    waves: list[tuple[Array, Expression]] = []
    for name, column in columns.items():
        waves += [
            (np.cos(column), Call("cos", Name(name))),
            (np.sin(column), Call("sin", Name(name))),
        ]
    for (m, a), (n, b) in combinations(columns.items(), 2):
        if len(columns) < MANY:
            waves.append((np.cos(a - b), Call("cos", Binary("-", Name(m), Name(n)))))
    small = _first(groups, max(4, most // 6 // len(waves)))
    mixed = joined([listed(waves, rows), products(small, listed(waves, rows))])
    return joined(
        [
            _logs(mixed, lambda z: 1 + z, lambda z: fn.plus(1.0, z)),
            _logs(mixed, lambda z: 1 - z, lambda z: fn.minus(1.0, z)),
        ]
    )


def _sum_factors(columns: Columns) -> list[Terms]:
    """Return logarithms of sums of three columns or of their squares."""
    rows = len(next(iter(columns.values())))
    items: list[tuple[Array, Expression]] = []
    if len(columns) > MANY:
        return []
    for (k, a), (m, b), (n, c) in combinations(columns.items(), 3):
        x, y, z = Name(k), Name(m), Name(n)
        items.append((a + b + c, Binary("+", Binary("+", x, y), z)))
        items.append(
            (
                a * a + b * b + c * c,
                Binary("+", Binary("+", fn.squared(x), fn.squared(y)), fn.squared(z)),
            )
        )
    if not items:
        return []
    return [_logs(listed(items, rows), lambda z: z, lambda z: z)]


def _shifts(column: Array) -> list[fn.Pair]:
    size = float(np.median(np.abs(column))) or 1.0
    found: list[fn.Pair] = []
    for share in fn.SCALES:
        found += [_shift(share * size), _shift(-share * size)]
        found += [_raised_shift(power, share * size) for power in (2, 3, 4)]
    return found


def _shift(k: float) -> fn.Pair:
    return lambda z: k + z, lambda z: fn.plus(k, z)


def _raised_shift(power: int, k: float) -> fn.Pair:
    lead = k**-power
    return (
        lambda z: 1 + lead * z**power,
        lambda z: fn.plus(1.0, fn.times(lead, raised(z, float(power)))),
    )
