"""Bins of at least ten rows: what may be shown of rows whose labels are sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciharness_evaluation.sums import deviation, mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_ROWS = 10
_MOST_BINS = 20
_LARGEST = 1e300  # beyond it a residual might not be a float


def bins(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> list[dict[str, float]]:
    """Return rows of like prediction joined to bins, in the order of the prediction.

    Bins are cut by prediction and row number alone, never by the labels; each
    has at least ``LEAST_ROWS`` rows. Fewer rows in all, or values beyond 1e300,
    give no bin.
    A residual is true minus predicted; deviations are of the population.
    """
    import numpy as np

    count = min(_MOST_BINS, len(true) // LEAST_ROWS)
    if not count or max(np.abs(predicted).max(), np.abs(true).max()) > _LARGEST:
        return []
    order = np.argsort(predicted, kind="stable")
    return [_bin(predicted[rows], true[rows]) for rows in np.array_split(order, count)]


def _bin(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> dict[str, float]:
    residual = true - predicted
    return {
        "n": len(true),
        "predicted_mean": mean(predicted),
        "true_mean": mean(true),
        "residual_mean": mean(residual),
        "residual_std": deviation(residual),
    }
