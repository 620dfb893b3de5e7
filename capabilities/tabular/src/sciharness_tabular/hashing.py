"""Hashes of rows: equal rows have equal hashes, others practically never."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

# The constants of SplitMix64 (Steele, Lea and Flood, 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def row_hashes(columns: NDArray[np.float64]) -> Hashes:
    """Return a hash of each row of (rows, columns) float64; -0 equals 0, NaN equals NaN."""
    found = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        found = with_column(found, column_bits(column))
    return found


def column_bits(column: NDArray[np.float64]) -> Hashes:
    """Return the bits of a column of numbers, equal for equal numbers."""
    plain = column + 0.0  # turns -0 into 0
    plain[np.isnan(plain)] = np.nan
    return plain.view(np.uint64)


def with_column(found: Hashes, bits: Hashes) -> Hashes:
    """Return hashes that also depend on one more column."""
    mixed = (found + _STEP) ^ bits  # uint64 arithmetic wraps around
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)
