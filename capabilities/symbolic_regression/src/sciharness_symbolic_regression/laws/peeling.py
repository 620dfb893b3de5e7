"""Columns that enter as a pure power: found by the slopes of a smooth fit, and divided out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEADY = 0.12  # largest scatter of a local exponent that still counts as one exponent
NEAR = 0.12
MOST_COLUMNS = 12


def pure_powers(columns: Mapping[str, Array], target: Array, weights: Array) -> dict[str, float]:
    """Return the exponents of columns that seem to be plain factors of the target.

    A quadratic in the logarithms of the positive columns is fitted to the
    logarithm of the target; a column whose local exponent is the same
    everywhere, and near a multiple of 1/2, is one.
    """
    logs = {
        name: np.log(column)
        for name, column in columns.items()
        if column.min() > 0 and column.max() > column.min()
    }
    seen = np.abs(target) > 0
    if not logs or len(columns) > MOST_COLUMNS or seen.mean() < 0.9:
        return {}
    names = list(logs)
    table = np.array([logs[name][seen] for name in names])
    centre = table.mean(axis=1, keepdims=True)
    table = table - centre
    pairs = [(i, i) for i in range(len(names))] + list(combinations(range(len(names)), 2))
    design = [np.ones(table.shape[1]), *table, *(table[i] * table[j] for i, j in pairs)]
    roots = np.sqrt(weights[seen])
    left = np.array(design).T * roots[:, None]
    if left.shape[0] < 2 * left.shape[1]:
        return {}
    found, *_ = np.linalg.lstsq(left, np.log(np.abs(target[seen])) * roots, rcond=None)
    return _steady(names, table, found[1 : 1 + len(names)], found[1 + len(names) :], pairs)


def _steady(
    names: list[str], table: Array, linear: Array, curved: Array, pairs: list[tuple[int, int]]
) -> dict[str, float]:
    steady = {}
    for place, name in enumerate(names):
        local = np.full(table.shape[1], linear[place])
        for (i, j), strength in zip(pairs, curved, strict=True):
            if place == i:
                local = local + strength * table[j]
            if place == j:
                local = local + strength * table[i]
        near = round(2 * float(local.mean())) / 2
        if near and local.std() < STEADY and abs(local.mean() - near) < NEAR:
            steady[name] = near
    return steady
