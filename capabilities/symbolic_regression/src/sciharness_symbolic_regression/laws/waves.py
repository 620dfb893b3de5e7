"""A wave of one column that multiplies all else, as cos(a) does in cos(a) * f(the others).

Where the target is divided by it, a smooth stand-in needs this column no more. Waves
change sign, so neither logarithms nor the slopes of powers show them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Call, Expression, Name
from sciharness_symbolic_regression.laws.functions import MOST_RADIANS, squared, times
from sciharness_symbolic_regression.laws.smooth import smooth
from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

ROWS = 100
MOST_COLUMNS = 8
TURNS = (1.0, 0.5, 2.0, np.pi, 2 * np.pi)
LEAST_RADIANS = 0.6  # of an argument; in less a wave is like any other curve
SEEN, USED = (
    0.3,
    0.05,
)  # of the wave's largest value: rows that are looked at, and that are searched
AS_GOOD = 1.3  # a stand-in without the column may miss by this factor more, since noise grows
MOST_LEFT = 0.2  # of the spread; a stand-in that misses more tells nothing
LEAST_ROWS = 30


@frozen
class Wave:
    """The column that enters as a wave only, and the wave."""

    name: str
    tree: Expression

    def sample(self, sample: Sample) -> Sample | None:
        """Return the rest of the problem: rows where the wave is not too small, divided by it."""
        size = evaluate(self.tree, sample.columns)
        kept = np.abs(size) > USED * np.abs(size).max()
        if kept.sum() < LEAST_ROWS:
            return None
        size = size[kept]
        columns = {n: c[kept] for n, c in sample.columns.items() if n != self.name}
        weights = sample.weights[kept] * size * size
        noise = sample.noise / float(np.abs(size).max())
        return Sample(columns, sample.target[kept] / size, weights / weights.mean(), noise)

    def back(self, tree: Expression) -> Expression:
        """Return a formula of the rest times the wave."""
        return Binary("*", self.tree, tree)


def wave_of(sample: Sample) -> Wave | None:
    """Return the wave that leaves least unexplained, None where no column enters as one only."""
    if not 2 <= len(sample.columns) <= MOST_COLUMNS:
        return None
    whole = smooth(np.array(list(sample.columns.values())), sample.target)
    if whole is None:
        return None
    best, least = None, min(AS_GOOD * whole.error, MOST_LEFT)
    for name, column in sample.columns.items():
        others = np.array([other for n, other in sample.columns.items() if n != name])
        for tree in _waves(name, column):
            error = _left(evaluate(tree, {name: column}), others, sample.target)
            if error < least:
                best, least = Wave(name, tree), error
    return best


def _left(size: Array, others: Array, target: Array) -> float:
    """Return how much the other columns leave unexplained of the target divided by a wave."""
    if not np.isfinite(size).all():
        return np.inf
    seen = np.abs(size) > SEEN * np.abs(size).max()
    if seen.sum() < LEAST_ROWS:
        return np.inf
    found = smooth(others[:, seen], target[seen] / size[seen])
    return np.inf if found is None else found.error


def _waves(name: str, column: Array) -> Iterator[Expression]:
    """Yield waves of a column, alone, squared, and over the column as diffraction has them."""
    reach = float(column.max() - column.min())
    for turn in TURNS:
        if not LEAST_RADIANS < turn * reach < MOST_RADIANS:
            continue
        for function in ("cos", "sin"):
            wave = Call(function, times(turn, Name(name)))
            yield from (wave, squared(wave))
        yield Binary("/", wave, Name(name))
        yield squared(Binary("/", wave, Name(name)))
