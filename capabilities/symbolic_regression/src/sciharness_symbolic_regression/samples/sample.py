"""The rows that a search works on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array = NDArray[np.float64]


@frozen(eq=False)
class Sample:
    """Columns by symbol (rows,), target (rows,), and weights (rows,) with mean 1.

    All are finite float64. ``weights`` multiply squared errors; they are all 1
    when neither weights nor measurement errors were given. ``noise`` is an
    error of the target that is known beforehand, below which formulas are equal.
    """

    columns: Mapping[str, Array]
    target: Array
    weights: Array
    noise: float = 0.0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(self.columns)

    @property
    def spread(self) -> float:
        """Weighted standard deviation of the target, never 0."""
        centre = np.average(self.target, weights=self.weights)
        variance = np.average((self.target - centre) ** 2, weights=self.weights)
        return float(np.sqrt(variance)) or 1.0

    @property
    def noise_floor(self) -> float:
        """Error below which two formulas cannot be told apart: rounding, or known noise."""
        rounding = 8 * float(np.finfo(float).eps * np.abs(self.target).max())
        return max(1e-9 * self.spread, rounding, self.noise)

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return the given rows; weights are scaled to mean 1 again."""
        return self._of(rows)

    def part(self, rows: slice) -> Sample:
        """Return rows beside each other without a copy; weights are scaled to mean 1 again."""
        return self._of(rows)

    def rearrange(self, order: NDArray[np.intp]) -> None:
        """Put the rows in another order, in place: a large table is not copied."""
        for column in (*self.columns.values(), self.target, self.weights):
            column[:] = column[order]

    def _of(self, rows: NDArray[np.intp] | slice) -> Sample:
        weights = self.weights[rows]
        mean = float(weights.mean())
        columns = {name: column[rows] for name, column in self.columns.items()}
        scaled = weights if mean == 1.0 else weights / mean
        return Sample(columns, self.target[rows], scaled, self.noise)

    def nonnegative(self) -> frozenset[str]:
        """Return the symbols of columns without a negative value."""
        return frozenset(name for name, column in self.columns.items() if column.min() >= 0)


def thinned(sample: Sample, rows: int, seed: int) -> Sample:
    """Return at most ``rows`` rows, drawn without replacement, in their order."""
    if sample.rows <= rows:
        return sample
    return sample.take(thinned_places(np.arange(sample.rows), rows, seed))


def thinned_places(places: NDArray[np.intp], rows: int, seed: int) -> NDArray[np.intp]:
    """Return at most ``rows`` of some places, drawn without replacement, in their order."""
    if len(places) <= rows:
        return places
    chosen = np.random.default_rng(seed).choice(len(places), rows, replace=False)
    return np.asarray(places[np.sort(chosen)])


def derived_seed(seed: int, *place: int) -> int:
    """Return a seed (0..2^63-1) for one place in the work; any integer may be given as seed."""
    sequence = np.random.SeedSequence([seed % 2**64, *place])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


@frozen(eq=False)
class Rows:
    """Training and validation rows of one search, and how errors are weighed."""

    train: Sample
    validation: Sample
    loss: str = "squared"

    def joined(self) -> Sample:
        """Return the rows of both sides as one sample."""
        both = (self.train, self.validation)
        return Sample(
            {name: np.concatenate([one.columns[name] for one in both]) for name in both[0].columns},
            np.concatenate([one.target for one in both]),
            np.concatenate([one.weights for one in both]),
            self.train.noise,
        )

    def thinned(self, rows: int, seed: int) -> Rows:
        """Return the same with at most ``rows`` rows on each side."""
        return Rows(
            thinned(self.train, rows, seed), thinned(self.validation, rows, seed), self.loss
        )
