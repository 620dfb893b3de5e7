"""Sparse sums by orthogonal least squares with a beam: which few terms explain a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.laws.terms import Terms, blocks

Array = NDArray[np.float64]
Single = NDArray[np.float32]

LEAST_NEW = 1e-3  # a term of which less than this is new, single precision cannot judge
LEAST_NEW_DOUBLE = 1e-9
WIDTH, CLOSEST = 14, 4  # selections kept for their rank, and for their error alone
EACH, ALONE = 14, 24  # terms tried beside each of them, and on their own
PRICE = 1.0
SAME, ALIKE = 0.95, 3  # cosine between two rests, and how many such selections are kept
LEAST_ERROR = 1e-13
TRIED, CLOSEST_TRIED = 4, 2  # selections of each size that are worth a fit, by rank and error
EXCHANGES, EXCHANGED = 3, 5
PAIRED_AT_A_TIME = 128
PAIRED, PAIRS = 2400, 24  # terms that are tried two by two, and how many such pairs are kept
TOGETHER = 8  # partial sums for which terms are judged at a time
IN_DOUBLE = 4_000_000  # numbers up to which a table is kept in double precision


@frozen(eq=False)
class Selection:
    """Terms chosen together: their indices in order of choice, and the error that is left.

    ``error`` is the norm of the rest over that of the target without the basis.
    """

    chosen: tuple[int, ...]
    error: float


@frozen(eq=False)
class _Node:
    chosen: tuple[int, ...]
    directions: Array  # (rows, chosen), orthonormal
    rest: Array

    @property
    def error(self) -> float:
        return float(np.sqrt(self.rest @ self.rest))

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(sorted(self.chosen))


def pursue(
    terms: Terms,
    target: Array,
    basis: Array,
    weights: Array,
    depth: int,
    seeds: Sequence[Selection] = (),
) -> list[Selection]:
    """Return the best selections of 1 to ``depth`` terms beside an always present basis.

    ``basis`` is (some, rows). Every step asks, for each of some partial sums,
    which terms explain most of the rest; selections are ranked by error and size.
    ``seeds`` are selections that take part whatever their rank.
    """
    roots = np.sqrt(weights)
    start = _orthonormal((basis * roots).T)
    rest = roots * target
    rest = rest - start @ (start.T @ rest)
    size = float(np.sqrt(rest @ rest))
    if size == 0.0:
        return []
    single = terms.values.size > IN_DOUBLE
    table, known = _new_part(terms.values, roots, start, np.float32 if single else np.float64)
    search = _Search(table, known, rest / size, terms.costs())
    nodes = [_Node((), np.zeros((len(target), 0)), rest / size)]
    found: list[Selection] = []
    for level in range(depth):
        nodes += [search.rebuilt(one.chosen) for one in seeds if len(one.chosen) == level > 0]
        children = search.children(nodes, EACH if level else ALONE)
        if level == 1:
            children |= search.pairs()
        nodes = search.exchanged(search.ranked(children))
        shown = nodes if level else list(children.values())
        found += [Selection(node.chosen, node.error) for node in shown]
        if not nodes:
            break
    return found


@frozen(eq=False)
class _Search:
    table: Array | Single
    known: NDArray[np.bool_]
    target: Array
    cost: Callable[[int], int]

    def ranked(self, children: Mapping[tuple[int, ...], _Node]) -> list[_Node]:
        """Return the best by rows * log(error) + nodes, so that plain terms come first.

        A few of the smallest error are among them whatever their size.
        """
        keyed = sorted(
            (len(self.target) * np.log(max(node.error, LEAST_ERROR)) + self.price(node), key)
            for key, node in children.items()
        )
        exact = sorted((node.error, key) for key, node in children.items())
        kept = _unalike([children[key] for _, key in keyed[: WIDTH * ALIKE * 2]])
        return list(
            {one.key: one for one in [*kept, *(children[k] for _, k in exact[:CLOSEST])]}.values()
        )

    def price(self, node: _Node) -> float:
        """Return what the size of a selection counts against its error."""
        return PRICE * sum(self.cost(index) for index in node.chosen)

    def exchanged(self, nodes: list[_Node]) -> list[_Node]:
        """Return selections in which no single term can be exchanged for a better one.

        What is best one at a time need not be in the best set, and a law is found
        as a set.
        """
        for _ in range(EXCHANGES):
            if not nodes or len(nodes[0].chosen) < 2:
                break
            fewer: dict[tuple[int, ...], _Node] = {}
            for node in nodes[:EXCHANGED]:
                for place in range(len(node.chosen)):
                    rest = node.chosen[:place] + node.chosen[place + 1 :]
                    key = tuple(sorted(rest))
                    if key not in fewer:
                        fewer[key] = self.rebuilt(rest)
            merged = {node.key: node for node in nodes}
            merged.update(self.children(list(fewer.values()), EACH))
            better = self.ranked(merged)
            done = better[0].chosen == nodes[0].chosen
            nodes = better
            if done:
                break
        return nodes

    def rebuilt(self, chosen: tuple[int, ...]) -> _Node:
        node = _Node((), np.zeros((len(self.target), 0)), self.target)
        for index in chosen:
            node = _grown(node, self.table[index].astype(np.float64), index)
        return node

    def pairs(self) -> dict[tuple[int, ...], _Node]:
        """Return the best pairs of the first terms, whatever each of the two is worth alone."""
        places = np.flatnonzero(self.known[:PAIRED])
        table = self.table[places].astype(np.float32)
        alone = table @ self.target.astype(np.float32)
        best: list[tuple[float, int, int]] = []
        least = 0.0
        for part in blocks(len(places), PAIRED_AT_A_TIME):
            gain = _explained_by_both(table[part], table[part.start :], alone, part.start)
            rows, columns = np.nonzero(gain > least)
            values = gain[rows, columns]
            if len(values) > PAIRS:
                kept = np.argpartition(-values, PAIRS - 1)[:PAIRS]
                rows, columns, values = rows[kept], columns[kept], values[kept]
            left, right = places[part.start + rows], places[part.start + columns]
            best += zip(values.tolist(), left.tolist(), right.tolist(), strict=True)
            best.sort(key=lambda one: (-one[0], one[1:]))
            del best[PAIRS:]
            least = best[-1][0] if len(best) == PAIRS else 0.0
        return {one[1:]: self.rebuilt(one[1:]) for one in best}

    def children(self, nodes: list[_Node], each: int) -> dict[tuple[int, ...], _Node]:
        children: dict[tuple[int, ...], _Node] = {}
        for start in range(0, len(nodes), TOGETHER):
            lot = nodes[start : start + TOGETHER]
            dots, place = self.cosines(lot), 0
            for node in lot:
                width = 1 + node.directions.shape[1]
                self.add_children(children, node, each, dots[:, place : place + width])
                place += width
        return children

    def cosines(self, nodes: list[_Node]) -> Array | Single:
        """Return each term's dots (terms, some) with the rest and directions of each node.

        They are made in blocks, since a library packs what it multiplies.
        """
        stacked = np.column_stack(
            [part for node in nodes for part in (node.rest / (node.error or 1.0), node.directions)]
        ).astype(self.table.dtype)
        dots = np.empty((len(self.table), stacked.shape[1]), self.table.dtype)
        for part in blocks(len(self.table)):
            np.matmul(self.table[part], stacked, out=dots[part])
        return dots

    def add_children(
        self,
        children: dict[tuple[int, ...], _Node],
        node: _Node,
        each: int,
        dots: Array | Single,
    ) -> None:
        least = LEAST_NEW if self.table.dtype == np.float32 else LEAST_NEW_DOUBLE
        new = 1.0 - (dots[:, 1:] ** 2).sum(axis=1)
        good = self.known & (new > least)
        gain = np.where(good, dots[:, 0] ** 2 / np.maximum(new, 1e-12), -1.0)
        count = min(each, len(gain))
        for index in np.argpartition(-gain, count - 1)[:count].tolist():
            key = tuple(sorted((*node.chosen, index)))
            if gain[index] > 0 and key not in children:
                children[key] = _grown(node, self.table[index].astype(np.float64), index)


def _explained_by_both(some: Single, later: Single, alone: Single, start: int) -> Single:
    """Return how much of the target each of some terms explains together with each later one.

    ``alone`` are the cosines of all terms with the target; ``some`` begin at ``start``, as
    do the later ones. A term beside itself or an earlier one counts nothing.
    """
    mine, theirs = alone[start : start + len(some), None], alone[start:]
    cosine = some @ later.T
    gain = mine * cosine
    gain *= -2.0 * theirs
    gain += mine * mine + theirs * theirs
    cosine *= cosine
    new = np.subtract(1.0, cosine, out=cosine)
    gain[new <= LEAST_NEW] = 0.0
    gain /= np.maximum(new, LEAST_NEW, out=new)
    gain[:, : len(some)] = np.triu(gain[:, : len(some)], 1)
    return gain


def _unalike(nodes: list[_Node]) -> list[_Node]:
    """Return the first ones, but only a few of those that leave nearly the same rest."""
    kept: list[_Node] = []
    for node in nodes:
        size = node.error or 1.0
        alike = [abs(float(node.rest @ one.rest)) > SAME * size * one.error for one in kept]
        if sum(alike) < ALIKE:
            kept.append(node)
        if len(kept) == WIDTH:
            break
    return kept


def of_size(found: Sequence[Selection], size: int) -> list[Selection]:
    """Return those of so many terms, in order."""
    return [one for one in found if len(one.chosen) == size]


def best_of_each_size(selections: Sequence[Selection]) -> list[Selection]:
    """Return the few best of each number of terms, by rank and by error; all single terms."""
    kept: list[Selection] = []
    for size in sorted({len(one.chosen) for one in selections}):
        ranked = of_size(selections, size)
        closest = sorted(ranked, key=lambda one: one.error)[:CLOSEST_TRIED]
        kept += [one for i, one in enumerate(ranked) if size == 1 or i < TRIED or one in closest]
    return kept


def eliminate(table: Array, target: Array, basis: Array, weights: Array) -> list[Selection]:
    """Return selections found by taking terms out of the sum of all, one by one.

    The table is small, with fewer terms than rows.
    """
    roots = np.sqrt(weights)
    start = _orthonormal((basis * roots).T)
    rest = roots * target
    rest = rest - start @ (start.T @ rest)
    size = float(np.sqrt(rest @ rest))
    terms, known = _new_part(table, roots, start)
    left = list(np.flatnonzero(known))
    found: list[Selection] = []
    while left and size > 0.0:
        columns = terms[left].T
        spread, strengths, turn = np.linalg.svd(columns, full_matrices=False)
        kept = strengths > 1e-10 * strengths[0]
        inverse = turn[kept].T / strengths[kept]
        weighted = inverse @ (spread[:, kept].T @ rest)
        gap = rest - columns @ weighted
        found.append(Selection(tuple(map(int, left)), float(np.sqrt(gap @ gap)) / size))
        strength = np.abs(weighted) / np.sqrt((inverse * inverse).sum(axis=1))
        left.pop(int(np.argmin(strength)))
    return found


def least_squares(rows: Array, target: Array, weights: Array) -> Array:
    """Return the weighted coefficients (some,) of a target over ``rows`` (some, rows)."""
    roots = np.sqrt(weights)
    size = np.sqrt(((rows * roots) ** 2).sum(axis=1))
    size[size == 0.0] = 1.0
    found, *_ = np.linalg.lstsq((rows * roots).T / size, roots * target, rcond=1e-13)
    return np.asarray(found / size)


def misfit(table: Array, target: Array, basis: Array, weights: Array) -> float:
    """Return the error that the best sum of all terms leaves, relative to the target's size."""
    roots = np.sqrt(weights)
    rows = np.vstack([basis, table]) * roots
    rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    found, *_ = np.linalg.lstsq(rows.T, target * roots, rcond=1e-10)
    gap = target * roots - found @ rows
    return float(np.sqrt(gap @ gap) / np.sqrt(np.square(target * roots).sum()))


def _new_part(
    values: Array, roots: Array, start: Array, kind: type[np.floating[Any]] = np.float64
) -> tuple[Any, NDArray[np.bool_]]:  # Any: an array of that kind
    """Return weighted terms without the basis, at unit length; and which have anything new."""
    table = np.empty(values.shape, kind)
    good = np.empty(len(values), bool)
    for part in blocks(len(values)):
        new = values[part] * roots
        size = np.sqrt((new * new).sum(axis=1, keepdims=True))
        size[size == 0.0] = 1.0
        new /= size
        new -= (new @ start) @ start.T
        left = np.sqrt((new * new).sum(axis=1, keepdims=True))
        good[part] = left[:, 0] > 1e-6
        left[~good[part]] = 1.0
        table[part] = new / left
    return table, good


def _grown(node: _Node, term: Array, index: int) -> _Node:
    for _ in range(2):
        term = term - node.directions @ (node.directions.T @ term)
    term = term / np.sqrt(term @ term)
    return _Node(
        (*node.chosen, index),
        np.column_stack([node.directions, term]),
        node.rest - term * (term @ node.rest),
    )


def _orthonormal(columns: Array) -> Array:
    left, strengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, strengths > 1e-12 * max(float(strengths.max()), 1e-300)])
