"""Tables of candidate terms: values for fast screening, trees made only for the few that win."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Name, Number, complexity

Array = NDArray[np.float64]
Single = NDArray[np.float32]

Tree = Callable[[int], Expression]

BLOCK = 512  # terms that are worked on at a time
LEAST_SPREAD = 1e-5  # of its own size; a term that varies less is a constant to single precision


@frozen(eq=False)
class Terms:
    """Terms as rows of a table (terms, rows), with a tree for each on demand.

    ``tree`` keeps no table alive: what tables are made of would fill the memory.
    """

    values: Array
    tree: Tree

    @property
    def count(self) -> int:
        """Number of terms."""
        return len(self.values)

    def costs(self) -> Callable[[int], int]:
        """Return how many nodes a term has, counted once each."""
        tree = self.tree
        return cache(lambda index: complexity(tree(index)))

    def take(self, chosen: NDArray[np.intp]) -> Terms:
        """Return some of the terms."""
        tree = self.tree
        return Terms(self.values[chosen], lambda index: tree(int(chosen[index])))

    def part(self, stretch: slice) -> Terms:
        """Return terms beside each other without a copy."""
        tree, start = self.tree, stretch.start or 0
        return Terms(self.values[stretch], lambda index: tree(start + index))

    def first(self, most: int) -> Terms:
        """Return the first terms without a copy."""
        return self if self.count <= most else self.part(slice(0, most))

    def kept(self, mask: NDArray[np.bool_]) -> Terms:
        """Return the terms of a mask."""
        return self.take(np.flatnonzero(mask))


def joined(parts: Sequence[Terms]) -> Terms:
    """Return all terms of several tables, in order."""
    trees = chained([part.tree for part in parts], [part.count for part in parts])
    return Terms(np.concatenate([part.values for part in parts]), trees)


def chained(trees: Sequence[Tree], counts: Sequence[int]) -> Tree:
    """Return the trees of several tables in order."""
    ends = np.cumsum(counts)

    def tree(index: int) -> Expression:
        place = int(np.searchsorted(ends, index, side="right"))
        return trees[place](index - int(ends[place]) + counts[place])

    return tree


def listed(items: Sequence[tuple[Array, Expression]], rows: int) -> Terms:
    """Return a table of terms that are at hand."""
    values = np.array([value for value, _ in items], dtype=np.float64).reshape(len(items), rows)
    trees = [tree for _, tree in items]
    return Terms(values, lambda index: trees[index])


def products(left: Terms, right: Terms) -> Terms:
    """Return every term of the first table times every term of the second."""
    with np.errstate(all="ignore"):
        table = left.values[:, None, :] * right.values[None, :, :]
    width, first, second = right.count, left.tree, right.tree

    def tree(index: int) -> Expression:
        return Binary("*", first(index // width), second(index % width))

    return Terms(table.reshape(left.count * width, -1), tree)


def applied(
    terms: Terms, change: Callable[[Array], Array], written: Callable[[Expression], Expression]
) -> Terms:
    """Return a function of every term."""
    tree = terms.tree
    with np.errstate(all="ignore"):
        return Terms(change(terms.values), lambda index: written(tree(index)))


def usable(terms: Terms) -> Terms:
    """Return the terms that are finite in every row and vary."""
    with np.errstate(all="ignore"):
        most, least = terms.values.max(axis=1), terms.values.min(axis=1)
        top, spread = np.maximum(most, -least), most - least
        good = np.isfinite(top) & (top < 1e15) & (spread > LEAST_SPREAD * top) & (spread > 1e-15)
    return terms.kept(good)


def distinct(terms: Terms) -> Terms:
    """Return the first of all terms that agree but for a factor and an offset."""
    found = [marks(terms.values[part]) for part in blocks(terms.count)]
    _, first = np.unique(np.concatenate(found or [np.zeros(0, complex)]), return_index=True)
    return terms.take(np.sort(first))


def marks(values: Array) -> NDArray[np.complex128]:
    """Return a number for each term, equal where terms agree but for a factor and an offset."""
    probes = np.random.default_rng(0).normal(size=(values.shape[1], 2))
    centred = values - values.mean(axis=1, keepdims=True)
    centred /= np.sqrt((centred * centred).sum(axis=1, keepdims=True))
    found = np.round(np.abs(centred @ probes), 7)
    return np.asarray(found[:, 0] + 1e3j * found[:, 1])


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Yield stretches of a table's terms, so that what is made of it takes little memory."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def monomials(
    names: Sequence[str], columns: Sequence[Array], exponents: NDArray[np.float64]
) -> Terms:
    """Return products of powers of columns, one per row of ``exponents`` (terms, columns).

    Columns with negative values get whole exponents only, given by the caller.
    """
    table = np.array(columns)
    logs = np.log(np.maximum(np.abs(table), 1e-300))
    with np.errstate(all="ignore"):
        values = exponents @ logs
        np.exp(values, out=values)
        for column, exponent in zip(table, exponents.T, strict=True):
            if (column < 0).any():
                odd = np.abs(exponent) % 2 == 1
                values[odd] *= np.sign(column)

    def tree(index: int) -> Expression:
        return power_product(names, exponents[index])

    return Terms(values, tree)


def power_product(names: Sequence[str], exponents: Sequence[float] | Array) -> Expression:
    """Return the tree of a product of powers; 1 if all exponents are 0."""
    found: Expression | None = None
    for name, exponent in zip(names, exponents, strict=True):
        if exponent:
            factor = raised(Name(name), float(exponent))
            found = factor if found is None else Binary("*", found, factor)
    return found or Number(1.0)


def raised(base: Expression, exponent: float) -> Expression:
    """Return a power, written short."""
    if exponent == 1.0:
        return base
    if exponent == 0.5:
        return Call("sqrt", base)
    return Binary("**", base, Number(exponent))


def exponent_rows(choices: Sequence[Sequence[float]], most: int) -> NDArray[np.float64]:
    """Return the cheapest combinations of exponents, at most ``most``, none empty, in order.

    The cost of an exponent is its size, halves cost extra, so that plain
    products come first.
    """
    rows = np.zeros((1, 0))
    cost = np.zeros(1)
    for column in choices:
        options = np.array(column, dtype=np.float64)
        prices = np.abs(options) + 1.5 * (options % 1 != 0) + 0.5 * (options != 0)
        rows = np.column_stack([np.repeat(rows, len(options), axis=0), np.tile(options, len(rows))])
        cost = np.repeat(cost, len(options)) + np.tile(prices, len(cost))
        if len(cost) > 8 * most:
            cheap = np.sort(np.argsort(cost, kind="stable")[: 4 * most])
            rows, cost = rows[cheap], cost[cheap]
    some = cost > 0
    rows, cost = rows[some], cost[some]
    return np.asarray(rows[np.argsort(cost, kind="stable")[:most]])
