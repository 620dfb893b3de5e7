"""Aggregates beside the metrics, given once no further query of the labels can come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sciharness_evaluation.bins import LEAST_ROWS, bins
from sciharness_evaluation.classification import Classified
from sciharness_evaluation.columns import Columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_CLASSES = 20


def regression_aggregates(
    predictions: Columns, predicted: NDArray[np.float64], true: NDArray[np.float64]
) -> dict[str, Any]:  # Any: JSON values
    """Return bins, and the share of true values inside the predicted intervals if given."""
    found: dict[str, Any] = {"bins": bins(predicted, true)}  # Any: JSON values
    if {"lower", "upper"} <= predictions.cells.keys() and len(true) >= LEAST_ROWS:
        lower, upper = predictions.numbers("lower"), predictions.numbers("upper")
        found["interval_coverage"] = int(((lower <= true) & (true <= upper)).sum()) / len(true)
    return found


def classification_aggregates(rows: Classified) -> dict[str, Any]:  # Any: JSON values
    """Return bins by probability for two classes, and the confusion of the larger classes."""
    found: dict[str, Any] = {"bins": []}  # Any: JSON values
    if rows.probability is not None and len(rows.classes) == 2:
        found["bins"] = bins(rows.probability, (rows.true == 1).astype(float))
    if len(rows.classes) <= _MOST_CLASSES:
        found["confusion"] = _confusion(rows)
    return found


def _confusion(rows: Classified) -> list[dict[str, Any]]:  # Any: JSON values
    import numpy as np

    width = len(rows.classes)
    counts = np.bincount(rows.true * width + rows.predicted, minlength=width * width)
    return [
        {"true": rows.classes[code], "n": int(row.sum()), "predicted": row.tolist()}
        for code, row in enumerate(counts.reshape(width, width))
        if row.sum() >= LEAST_ROWS
    ]


def rows_outside(predictions: Columns) -> int | None:
    """Return how many rows the predictor marked as outside its domain, if it marks them."""
    marks = predictions.cells.get("in_domain")
    return None if marks is None else sum(mark == b"0" for mark in marks)
