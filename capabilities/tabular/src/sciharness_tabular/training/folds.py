"""Folds of a cross-validation: whole groups, equal rows together, classes spread evenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness_tabular.rows import Codes, Rows

LEAST_UNITS = 2


def folds_of(rows: Rows, count: int, seed: int) -> Codes:
    """Return the fold of each row, 0 .. folds-1; there are at most as many as units.

    Units are shuffled by the seed, then laid out from the largest to the
    smallest, class by class, to and fro over the folds.

    Raises:
        DataError: there is one unit only, or rows outside a fold have one class only.
    """
    units, first, unit = _in_order(rows.units)
    if len(units) < LEAST_UNITS:
        raise DataError(
            "expected rows of at least two groups to hold one out, found one",
            where="data",
            hint="Group by a column with more values, or not at all.",
        )
    count = min(count, len(units))
    sizes = np.bincount(unit)
    shuffled = np.random.default_rng(seed).permutation(len(units))
    kinds = _kinds(rows, unit, first)
    order = shuffled[np.lexsort((-sizes[shuffled], kinds[shuffled]))]
    place = np.arange(len(units))
    there, back = place % count, count - 1 - place % count
    fold_of_unit = np.empty(len(units), np.int64)
    fold_of_unit[order] = np.where(place // count % 2, back, there)
    folds = fold_of_unit[unit]
    _check_classes(rows, folds, count)
    return folds


def _in_order(units: Codes) -> tuple[Codes, NDArray[np.intp], NDArray[np.intp]]:
    """Return units by first occurrence, the first row of each, and the place of each row's."""
    found, first, unit = np.unique(units, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return found[order], first[order], np.argsort(order)[unit]


def _kinds(rows: Rows, unit: NDArray[np.intp], first: NDArray[np.intp]) -> Codes:
    """Return a class for each unit: that of its first row; 0 for regression."""
    if not rows.classes:
        return np.zeros(len(first), np.int64)
    return np.asarray(rows.target[first], dtype=np.int64)


def _check_classes(rows: Rows, folds: Codes, count: int) -> None:
    if not rows.classes:
        return
    for fold in range(count):
        present = np.unique(rows.target[folds != fold])
        if len(present) < 2:
            raise DataError(
                f"without one of the {count} folds only {rows.classes[int(present[0])]!r} is left",
                where="data",
                hint="Group by a column that spreads the classes over more groups.",
            )
