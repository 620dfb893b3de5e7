"""Columns that enter only together: as a difference, a ratio, a product, a sum of squares.

If a target depends on two columns through one combination z(a, b) alone, its
slopes by them stand in the ratio of the slopes of z everywhere. A smooth
stand-in for the target has slopes; a combination that they point to is taken if
the target is explained as well by it as by both columns. (Structure of this
kind: Udrescu and Tegmark, AI Feynman, Science Advances 6 (2020).)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Expression, Name
from sciharness_symbolic_regression.formulas.rewriting import replaced
from sciharness_symbolic_regression.laws.functions import squared, times
from sciharness_symbolic_regression.laws.smooth import smooth
from sciharness_symbolic_regression.laws.terms import raised
from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

SMOOTH_ROWS = 300
MOST_COLUMNS = 10
STEADY = 0.35  # largest part of a slope that a fixed ratio may leave unexplained
TRIED = 6
AS_GOOD = 1.05  # a merged table may miss by this factor more
CLEAR, CLEARLY = 0.05, 2.0  # and by this one where the slopes leave hardly a doubt
UNEXPLAINED = 0.5  # leave-one-out error from which the stand-in tells nothing
SIMPLE = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0)
NEAR = 0.12  # of a ratio to a simple one


@frozen
class Merge:
    """Two columns by name, what stands for them, and its name, which no column has."""

    name: str
    left: str
    right: str
    tree: Expression


@frozen
class Merges:
    """Merges to make one after the other; later ones may use what earlier ones made."""

    steps: tuple[Merge, ...] = ()

    def sample(self, sample: Sample) -> Sample | None:
        """Return the rows with fewer columns; None without a merge or where one is undefined."""
        columns = dict(sample.columns)
        with np.errstate(all="ignore"):
            for step in self.steps:
                columns = _merged(columns, step)
        sound = all(np.isfinite(column).all() for column in columns.values())
        return evolve(sample, columns=columns) if self.steps and sound else None

    def back(self, tree: Expression) -> Expression:
        """Return a formula of the merged columns over the original ones."""
        for step in reversed(self.steps):
            tree = replaced(tree, {step.name: step.tree})
        return tree


def merges(columns: Mapping[str, Array], target: Array) -> Merges:
    """Return the merges that a target of some rows (at most a few hundred) allows."""
    if not 2 <= len(columns) <= MOST_COLUMNS:
        return Merges()
    found: list[Merge] = []
    left = dict(columns)
    wanted = np.log(np.abs(target)) if (target > 0).all() or (target < 0).all() else target
    while len(left) > 1:
        merge = _best_merge(left, wanted, _free_name(len(found), columns))
        if merge is None:
            break
        left = _merged(left, merge)
        found.append(merge)
    return Merges(tuple(found))


def _merged(columns: Mapping[str, Array], merge: Merge) -> dict[str, Array]:
    left = {n: c for n, c in columns.items() if n not in (merge.left, merge.right)}
    return left | {merge.name: evaluate(merge.tree, columns)}


def _free_name(place: int, taken: Collection[str]) -> str:
    name = f"merged_{place}"
    while name in taken:
        name += "_"
    return name


def _best_merge(columns: Mapping[str, Array], target: Array, name: str) -> Merge | None:
    names = list(columns)
    table = np.array([columns[name] for name in names])
    whole = smooth(table, target)
    if whole is None or whole.error > UNEXPLAINED:
        return None
    best, least = None, np.inf
    pointed = sorted(_pointed_to(name, names, table, whole.slopes), key=lambda one: one[0])
    for left, merge in pointed[:TRIED]:
        with np.errstate(all="ignore"):
            fewer = np.array(list(_merged(columns, merge).values()))
        after = smooth(fewer, target) if np.isfinite(fewer).all() else None
        allowed = CLEARLY if left < CLEAR else AS_GOOD
        if after is not None and after.error < min(least, allowed * whole.error):
            best, least = merge, after.error
    return best


def _pointed_to(
    name: str, names: list[str], table: Array, slopes: Array
) -> Iterator[tuple[float, Merge]]:
    """Yield combinations with the part of the slopes that they leave unexplained."""
    for i, j in combinations(range(len(names)), 2):
        for kind in KINDS:
            with np.errstate(all="ignore"):
                one, other = kind.left(slopes[i], table[i]), kind.right(slopes[j], table[j])
            if not (np.isfinite(one).all() and np.isfinite(other).all()):
                continue
            ratio, left = _steady_ratio(one, other)
            if left >= STEADY:
                continue
            tree = kind.written(Name(names[i]), Name(names[j]), ratio)
            if tree is not None:
                yield left, Merge(name, names[i], names[j], tree)


def _steady_ratio(one: Array, other: Array) -> tuple[float, float]:
    """Return the ratio of the second to the first, and the part of the second that it leaves."""
    size, length = float(one @ one), float(other @ other)
    if size == 0.0 or length == 0.0:
        return 0.0, 1.0
    ratio = float(one @ other) / size
    gap = other - ratio * one
    return ratio, float(np.sqrt(gap @ gap / length))


def _simple(ratio: float) -> float | None:
    near = min(SIMPLE, key=lambda one: abs(ratio - one))
    return near if abs(ratio - near) < NEAR * abs(near) else None


def _linear(a: Expression, b: Expression, ratio: float) -> Expression | None:
    near = _simple(ratio)
    if near == -1.0:
        return Binary("-", a, b)
    return Binary("+", a, times(near or ratio, b))


def _power(a: Expression, b: Expression, ratio: float) -> Expression | None:
    near = _simple(ratio)
    if near is None:
        return None
    if near == -1.0:
        return Binary("/", a, b)
    if abs(near) == 0.5:  # the same combination without a root
        return Binary("*", squared(a), raised(b, 2 * near))
    return Binary("*", a, raised(b, near))


def _squares(a: Expression, b: Expression, ratio: float) -> Expression | None:
    return Binary("+", squared(a), times(_simple(ratio) or ratio, squared(b)))


def _and_square(a: Expression, b: Expression, ratio: float) -> Expression | None:
    return Binary("+", a, times(_simple(ratio / 2) or ratio / 2, squared(b)))


def _square_and(a: Expression, b: Expression, ratio: float) -> Expression | None:
    return Binary("+", squared(a), times(_simple(2 * ratio) or 2 * ratio, b))


def _itself(slope: Array, column: Array) -> Array:
    return slope


def _times_column(slope: Array, column: Array) -> Array:
    return slope * column


def _over_column(slope: Array, column: Array) -> Array:
    return slope / column


@frozen
class Kind:
    """What of the slopes by two columns has a steady ratio, and the combination it stands for."""

    left: Callable[[Array, Array], Array]
    right: Callable[[Array, Array], Array]
    written: Callable[[Expression, Expression, float], Expression | None]


KINDS = (
    Kind(_itself, _itself, _linear),
    Kind(_times_column, _times_column, _power),
    Kind(_over_column, _over_column, _squares),
    Kind(_itself, _over_column, _and_square),
    Kind(_over_column, _itself, _square_and),
)
