"""The rows that models are trained on: checked, weighted, the target scaled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

if TYPE_CHECKING:
    from sciharness.tables import TableArrays

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_ROWS = 10


@frozen(eq=False)
class Rows:
    """Rows of one training.

    ``features`` (rows, columns) float64. ``target`` (rows,): for regression
    float64, less ``centre`` and over ``spread``, a power of two near the
    standard deviation; for classification int64 places in ``classes``.
    ``weights`` (rows,) have mean 1. ``units`` (rows,) int64: rows of one
    number are never on two sides of a split.
    """

    features: Array
    target: NDArray[np.float64] | Codes
    weights: Array
    units: Codes
    classes: tuple[str, ...] = ()
    centre: float = 0.0
    spread: float = 1.0
    weighted: bool = False

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.target)

    def take(self, places: NDArray[np.intp]) -> Rows:
        """Return the given rows; weights have mean 1 again."""
        weights = self.weights[places]
        return evolve(
            self,
            features=self.features[places],
            target=self.target[places],
            weights=weights / weights.mean(),
            units=self.units[places],
        )

    def thinned(self, count: int, seed: int) -> Rows:
        """Return at most ``count`` rows, drawn without replacement, in their order."""
        if self.count <= count:
            return self
        return self.take(np.sort(np.random.default_rng(seed).permutation(self.count)[:count]))

    @property
    def sample_weight(self) -> Array | None:
        """The weights, ``None`` if all are equal."""
        return self.weights if self.weighted else None


def rows_of(table: TableArrays, balance: bool = False) -> Rows:
    """Return the rows of a labelled table; rows of weight 0 are left out.

    A measurement error counts as the weight 1 / error^2, beside a given weight.
    ``balance`` gives each class the same total weight.

    Raises:
        DataError: too few rows, no feature, a constant target, or weights and
            errors that are not positive.
    """
    counted = np.arange(len(table.X)) if table.weights is None else np.flatnonzero(table.weights)
    features = np.ascontiguousarray(table.X[counted], dtype=np.float64)
    weights = _weights(table, counted)
    _check(features, weights)
    group = None if table.group is None else table.group[counted]
    units = group if group is not None else equal_rows(features)
    rows = Rows(features, np.zeros(len(features)), weights / weights.mean(), units)
    target = np.asarray(table.y)[counted]
    placed = _classified(rows, target, table, balance) if table.classes else _scaled(rows, target)
    return evolve(placed, weighted=bool((placed.weights != placed.weights[0]).any()))


def equal_rows(features: Array) -> Codes:
    """Return a number for each row, the same for rows that equal in all columns."""
    from sciharness_tabular.hashing import row_hashes

    return np.unique(row_hashes(features), return_inverse=True)[1].astype(np.int64)


def _weights(table: TableArrays, counted: NDArray[np.intp]) -> Array:
    weights = np.ones(len(counted)) if table.weights is None else table.weights[counted]
    if table.sigma is None:
        return np.asarray(weights, dtype=np.float64)
    sigma = table.sigma[counted]
    with np.errstate(all="ignore"):  # what is not positive is refused afterwards
        return np.asarray(weights * np.square(sigma.min() / sigma), dtype=np.float64)


def _check(features: Array, weights: Array) -> None:
    found = ""
    if len(features) < LEAST_ROWS:
        found = f"expected at least {LEAST_ROWS} rows of weight above 0, found {len(features)}"
    elif features.shape[1] == 0:
        found = "expected at least one feature column, found none"
    elif not np.isfinite(features).all():
        found = "expected finite numbers in all features, found others"
    elif not (np.isfinite(weights).all() and (weights > 0).all()):
        found = "expected positive finite weights and errors, found others"
    if found:
        raise DataError(found, where="data")


def _scaled(rows: Rows, target: NDArray[np.float64]) -> Rows:
    if target.min() == target.max():
        value = float(target[0])
        raise DataError(f"expected a target that varies, found {value!r} in all rows", where="data")
    # A power of two near the largest magnitude rounds nothing, so very large and
    # very small values neither overflow nor vanish when they are squared.
    step = 2.0 ** (math.frexp(float(np.abs(target).max()))[1] - 1)
    centre = float(np.mean(target / step))
    deviation = float(np.std(target / step))
    spread = 2.0 ** round(math.log2(deviation)) if deviation else 1.0
    scaled = (target / step - centre) / spread
    return evolve(rows, target=scaled, centre=centre * step, spread=spread * step)


def _classified(rows: Rows, target: Codes, table: TableArrays, balance: bool) -> Rows:
    present, codes = np.unique(target, return_inverse=True)
    classes = tuple(table.classes[place] for place in present.tolist())
    if len(classes) < 2:
        raise DataError(f"expected at least two classes, found {classes[0]!r} alone", where="data")
    weights = rows.weights
    if balance:
        totals = np.bincount(codes, weights=weights)
        weights = weights / totals[codes]
        weights = weights / weights.mean()
    return evolve(rows, target=codes.astype(np.int64), classes=classes, weights=weights)
