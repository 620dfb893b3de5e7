"""Rows that repeat or contradict others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sciharness import Table
from sciharness_tabular.description.content import Content
from sciharness_tabular.hashing import with_column

Hashes = NDArray[np.uint64]


def repeated_rows(content: Content, table: Table | None) -> tuple[int, int | None]:
    """Return how many rows equal an earlier one, and how many contradict another one.

    Rows contradict each other if all features are equal and the target is not;
    ``None`` without a target.
    """
    rows = np.zeros(content.rows, np.uint64)
    features = rows.copy()
    target = None if table is None else table.target
    for name in content.names:
        bits = content.bits(name)
        rows = with_column(rows, bits)
        if table is not None and name in table.features:
            features = with_column(features, bits)
    ordered = np.sort(rows)
    repeated = int((ordered[1:] == ordered[:-1]).sum())
    if target is None or not content.rows:
        return repeated, None
    return repeated, _conflicting(features, with_column(features, content.bits(target)))


def _conflicting(features: Hashes, labelled: Hashes) -> int:
    """Return how many rows share their features with a row of another target."""
    _, first, group, count = np.unique(
        features, return_index=True, return_inverse=True, return_counts=True
    )
    differs = labelled != labelled[first][group]
    return int(count[np.unique(group[differs])].sum())
