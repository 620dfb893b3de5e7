"""The tables of factors whose products are searched, as logarithms; trees are of the factors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name
from sciharness_symbolic_regression.laws import functions as fn
from sciharness_symbolic_regression.laws.gathering import Gathering, product_parts
from sciharness_symbolic_regression.laws.powers import (
    MANY,
    SIGNS,
    Columns,
    first,
    named,
    power_terms,
)
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    applied,
    distinct,
    exponent_rows,
    joined,
    listed,
    monomials,
    raised,
    usable,
)

Array = NDArray[np.float64]

SCALED_GROUPS = 242
GROUP_SCALES = (0.1, 0.2, 0.4, 0.7, 1.2, 2.0, 4.0)  # over a group's median size


def factors_tables(columns: Columns, most: int, own: Terms) -> Iterator[Terms]:
    """Yield logarithms of factors beyond the columns; trees are of the factors.

    The first table has factors of one column, the second all; before them stand the
    columns' ``own`` logarithms.
    """
    single = named(columns)
    both = usable(joined([single, usable(applied(single, lambda z: 1 / z, fn.over))]))
    alone = [
        applied(both, lambda z: z, fn.call("exp")),
        *(_logs(single, change, written) for change, written in fn.PLAIN),
        *(
            _logs(named({name: column}), *pair)
            for name, column in columns.items()
            for pair in _shifts(column)
        ),
    ]
    yield joined([own, distinct(usable(joined(alone)))])
    groups = usable(power_terms(columns, max(20, most // 14), signed=False))
    parts = chain(
        alone,
        _sum_factors(columns),
        _scaled_groups(_plain_groups(columns)),
        _wave_factors(columns, groups, most),
        _group_factors(groups),
    )
    gathering = Gathering.of(own.values.shape[1], own.count + most)
    gathering.append(own)
    yield gathering.take(parts, own.count + most, most + most // 2).terms()


def _wave_factors(columns: Columns, groups: Terms, most: int) -> Iterator[Terms]:
    waves = _wave_arguments(columns)
    yield _logs(waves, np.sin, fn.call("sin"))
    yield _logs(waves, np.cos, fn.call("cos"))
    yield from _turned(groups, columns, most)


def _group_factors(groups: Terms) -> Iterator[Terms]:
    """Yield factors that hold one product of powers D, as 1 - D or exp(D) - 1 do."""
    yield applied(groups, lambda z: z, fn.call("exp"))
    yield _logs(groups, *fn.ONE_PLUS)
    yield _logs(groups, *fn.ONE_MINUS)
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
        found = [part for share in GROUP_SCALES for part in _scaled_factors(one, share / size)]
        top = float(one.values.max())
        for share in fn.BEYOND if top > 0 else ():
            found.append(_logs(one, *_below_one(1.0 / (share * top))))
        yield joined(found)


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


def _turned(groups: Terms, columns: Columns, most: int) -> Iterator[Terms]:
    """Yield logarithms of 1 + D cos(a) and the like."""
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
    small = first(groups, max(4, most // 6 // len(waves)))
    alone = listed(waves, rows)
    for change, written in (fn.ONE_PLUS, fn.ONE_MINUS):
        for mixed in chain([alone], product_parts(small, alone)):
            yield _logs(mixed, change, written)


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
