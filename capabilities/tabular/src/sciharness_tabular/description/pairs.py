"""How columns of numbers go together: Pearson and Spearman correlations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciharness_tabular.scaling import scaling_of

Array = NDArray[np.float64]

BLOCK_CELLS = 4_000_000
ROUNDING = 1e-12  # share of its squares that a constant column may seem to vary by


def pearson(values: Array) -> Array:
    """Return the correlations of all pairs of columns of (rows, columns), shape (columns, columns).

    NaN is a missing cell: each pair is taken over the rows that have both. A
    pair without a correlation (a constant column, fewer than two rows) is NaN.
    """
    known = ~np.isnan(values)
    scaling = scaling_of(np.where(known, values, 0.0))
    size = values.shape[1]
    count, total, square, product = (np.zeros((size, size)) for _ in range(4))
    step = max(BLOCK_CELLS // max(size, 1), 1)
    for start in range(0, len(values), step):
        here = known[start : start + step].astype(np.float64)
        block = (values[start : start + step] - scaling.shift) / scaling.scale
        block[here == 0.0] = 0.0
        count += here.T @ here
        total += block.T @ here  # of the first column, over rows that have the second too
        square += (block * block).T @ here
        product += block.T @ block
    with np.errstate(all="ignore"):
        covariance = product - total * total.T / count
        variance = square - total * total / count
        found = covariance / np.sqrt(variance * variance.T)
        constant = variance <= ROUNDING * square
        found[constant | constant.T | (count < 2)] = np.nan
    return np.clip(found, -1.0, 1.0)


def spearman(values: Array) -> Array:
    """Return the same of ranks; equal values share their mean rank."""
    return pearson(np.stack([ranks(column) for column in values.T], axis=1))


def ranks(column: Array) -> Array:
    """Return ranks from 1 of the known values of a column; NaN stays."""
    found = np.full(len(column), np.nan)
    known = ~np.isnan(column)
    _, place, counts = np.unique(column[known], return_inverse=True, return_counts=True)
    found[known] = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return found
