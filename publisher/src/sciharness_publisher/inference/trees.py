"""Predictions of models that are sums of decision trees: forests and boosted trees."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sciharness_publisher.inference.protocol import Columns, Predict, Refused, main

BLOCK = 1 << 13  # rows that are led through all trees together
MASK_BITS = 63  # leaves that one mask can tell apart

Score = Callable[[np.ndarray, np.ndarray], None]


def build(model: dict[str, Any]) -> Predict:
    """Return the function of the model's columns that the model stands for."""
    if model["kind"] != "trees":
        raise Refused(f"model: unknown kind {model['kind']!r}")
    precision = np.float32 if model["single_precision"] else np.float64
    trees = [Tree(plain, precision) for plain in model["trees"]]
    small = max((tree.leaves for tree in trees), default=0) <= MASK_BITS
    score = mask_score(trees, len(model["columns"])) if small else walk_score(trees)
    names = [column["symbol"] for column in model["columns"]]
    start = np.array(model["start"], dtype=np.float64)
    shift, scale = (np.array(model[name], dtype=np.float64) for name in ("shift", "scale"))

    def predict(columns: Columns) -> np.ndarray:
        rows = len(columns[names[0]])
        found = np.empty((rows, len(start)))
        for first in range(0, rows, BLOCK):
            block = np.stack([columns[name][first : first + BLOCK] for name in names])
            if len(shift):
                block = (block - shift[:, None]) / scale[:, None]
            totals = np.repeat(start[:, None], block.shape[1], axis=1)
            score(block.astype(precision), totals)
            found[first : first + BLOCK] = (totals / model["divisor"]).T
        return found[:, 0] if model["link"] == "identity" else found

    return predict


class Tree:
    """One tree; nodes are in the order in which a walk left child first meets them.

    ``feature`` (nodes,) is the column that a node looks at, -1 for a leaf. A
    value up to ``threshold`` goes to the next node, any other to ``right``.
    ``value`` (outputs, nodes) is what a leaf adds to the outputs from
    ``output`` on.
    """

    def __init__(self, plain: dict[str, Any], precision: type[np.floating[Any]]) -> None:
        self.feature = np.array(plain["feature"], dtype=np.intp)
        inner = self.feature >= 0
        nodes = np.arange(len(self.feature))
        self.threshold = np.full(len(nodes), np.inf, dtype=precision)
        self.threshold[inner] = np.array(plain["threshold"], dtype=precision)
        self.left, self.right = nodes + inner, nodes.copy()
        self.right[inner] = np.array(plain["right"], dtype=np.intp)
        self.output = int(plain["output"])
        values = np.array(plain["value"], dtype=np.float64).reshape(int((~inner).sum()), -1)
        self.value = np.zeros((values.shape[1], len(nodes)))
        self.value[:, ~inner] = values.T

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    def add(self, nodes: np.ndarray, totals: np.ndarray) -> None:
        """Add the values of the leaves that rows ended in."""
        for place, values in enumerate(self.value):
            totals[self.output + place] += values.take(nodes, mode="wrap")


def walk_score(trees: Sequence[Tree]) -> Score:
    """Return the scorer that leads all rows down each tree, level by level.

    Leaves lead to themselves, so that every row takes as many steps as the
    tree is deep.
    """
    prepared = [(tree, np.maximum(tree.feature, 0), children(tree), depth(tree)) for tree in trees]

    def score(block: np.ndarray, totals: np.ndarray) -> None:
        rows = block.shape[1]
        cells, own = block.ravel(), np.arange(rows)
        node, place = np.empty(rows, np.intp), np.empty(rows, np.intp)
        value, limit = np.empty(rows, block.dtype), np.empty(rows, block.dtype)
        goes_right = np.empty(rows, np.bool_)
        for tree, feature, child, levels in prepared:
            column = feature * rows
            node[:] = 0
            for _ in range(levels):
                # mode="wrap" spares the check of places that are always inside.
                np.take(column, node, out=place, mode="wrap")
                np.add(place, own, out=place)
                np.take(cells, place, out=value, mode="wrap")
                np.take(tree.threshold, node, out=limit, mode="wrap")
                np.greater(value, limit, out=goes_right)
                np.add(node, node, out=place)
                np.add(place, goes_right, out=place)
                np.take(child, place, out=node, mode="wrap")
            tree.add(node, totals)

    return score


def children(tree: Tree) -> np.ndarray:
    """Return the left and the right child of each node, one after the other."""
    return np.stack([tree.left, tree.right], axis=1).ravel()


def depth(tree: Tree) -> int:
    """Return the number of steps from the root to the farthest leaf."""
    levels, nodes = 0, np.zeros(1, np.intp)
    while (nodes := nodes[tree.feature[nodes] >= 0]).size:
        nodes = np.concatenate([tree.left[nodes], tree.right[nodes]])
        levels += 1
    return levels


def mask_score(trees: Sequence[Tree], columns: int) -> Score:
    """Return the scorer for trees of few leaves, by bit masks (Lucchese et al., QuickScorer, 2015).

    Every bit stands for a leaf. A column's value clears the leaves that it
    cannot reach; the lowest bit that all columns leave is the leaf. What a
    value clears depends only on its rank among the thresholds of its column.
    """
    cuts = [cuts_of(trees, column) for column in range(columns)]
    packs = [Pack(pack, cuts) for pack in packed(trees)]
    used = sorted({column for pack in packs for column in pack.masks})

    def score(block: np.ndarray, totals: np.ndarray) -> None:
        ranks = {column: np.searchsorted(cuts[column], block[column]) for column in used}
        for pack in packs:
            pack.add(ranks, totals)

    return score


def cuts_of(trees: Sequence[Tree], column: int) -> np.ndarray:
    """Return the different thresholds of a column in rising order."""
    found = [tree.threshold[tree.feature == column] for tree in trees]
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def packed(trees: Sequence[Tree]) -> Iterator[list[Tree]]:
    """Yield trees in order, as many together as have leaves for one mask."""
    pack: list[Tree] = []
    for tree in trees:
        if sum(other.leaves for other in pack) + tree.leaves > MASK_BITS:
            yield pack
            pack = []
        pack.append(tree)
    if pack:
        yield pack


class Pack:
    """Some trees that share a mask: for each column a mask per rank."""

    def __init__(self, trees: Sequence[Tree], cuts: Sequence[np.ndarray]) -> None:
        self._parts: list[tuple[Tree, np.ndarray, int, int]] = []
        self.masks: dict[int, np.ndarray] = {}
        offset = 0
        for tree in trees:
            for column, cut, cleared in clearings(tree, offset):
                ranks = self.masks.setdefault(column, np.full(len(cuts[column]) + 1, -1, np.int64))
                ranks[np.searchsorted(cuts[column], cut) + 1] &= ~cleared
            leaves = np.flatnonzero(tree.feature < 0)
            self._parts.append((tree, leaves, offset, (1 << tree.leaves) - 1))
            offset += tree.leaves
        for column, ranks in self.masks.items():
            self.masks[column] = np.bitwise_and.accumulate(ranks)

    def add(self, ranks: dict[int, np.ndarray], totals: np.ndarray) -> None:
        """Add what the trees give for rows of these ranks."""
        rows = totals.shape[1]
        left, mask = np.full(rows, -1, np.int64), np.empty(rows, np.int64)
        for column, masks in self.masks.items():
            np.take(masks, ranks[column], out=mask, mode="wrap")
            np.bitwise_and(left, mask, out=left)
        for tree, leaves, offset, bits in self._parts:
            own = (left >> offset) & bits
            # A power of two is exact as a float, its exponent is the place of the bit.
            lowest = np.frexp((own & -own).astype(np.float64))[1] - 1
            tree.add(leaves.take(lowest), totals)


def clearings(tree: Tree, offset: int) -> Iterator[tuple[int, Any, int]]:
    """Yield column, threshold and the mask of left leaves, cleared by values above it."""
    total = len(tree.feature)
    before = np.concatenate([[0], np.cumsum(tree.feature < 0)])  # leaves before each node
    for node in range(total):
        if tree.feature[node] >= 0:
            first, end = int(before[node]), int(before[tree.right[node]])
            mask = ((1 << (end - first)) - 1) << (first + offset)
            yield int(tree.feature[node]), tree.threshold[node], mask


if __name__ == "__main__":
    sys.exit(main(None, build))
