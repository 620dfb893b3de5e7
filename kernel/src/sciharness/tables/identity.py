"""Rows that are the same, and sample names that are not unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GOLDEN = 0x9E3779B97F4A7C15
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the SplitMix64 finaliser of each number: one to one, the same everywhere."""
    import numpy as np

    mixed = numbers + np.uint64(_GOLDEN)
    for shift, factor in _MIXERS:
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def row_keys(columns: Sequence[NDArray[np.float64] | NDArray[np.int64]]) -> NDArray[np.uint64]:
    """Return a 64-bit key per row, equal for rows with equal values.

    -0 equals 0. Two different rows share a key with a chance of 5e-20; all
    that follows is that the two stay on one side of a split.
    """
    import numpy as np

    keys = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        bits = column + 0.0 if column.dtype == np.float64 else column
        keys ^= bits.view(np.uint64)
        keys = scramble(keys)
    return keys


def same_rows(keys: NDArray[np.uint64]) -> NDArray[np.int64] | None:
    """Return for each row the number of its class of equal rows, or ``None`` if all differ.

    Classes are numbered by the first row of each.
    """
    import numpy as np

    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: NDArray[np.int64] = rank[inverse]
    return numbers
