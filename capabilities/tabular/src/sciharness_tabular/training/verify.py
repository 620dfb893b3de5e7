"""An exported model against scikit-learn, before anything is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from sciharness_publisher.inference import polynomial, trees
from sciharness_publisher.inference.protocol import Predict, probabilities
from sciharness_tabular.families.base import Fitted
from sciharness_tabular.families.trees import ExportError
from sciharness_tabular.rows import Array, Rows

Json = Mapping[str, Any]  # Any: JSON values

TOLERANCE = 1e-12
PROBE_ROWS = 2_500
BEYOND = 0.5  # of a column's range, on either side


def verify(document: Json, fitted: Fitted, rows: Rows, seed: int) -> float:
    """Return the largest difference of the exported model from scikit-learn.

    ``document`` is model.json as plain values. It goes through text and the
    very functions of inference.py, on training rows and on rows around them.
    Differences are shares of the value or, if that is less, of the spread of
    the target; of probabilities they are absolute.

    Raises:
        ExportError: the difference is above ``TOLERANCE``, or classes differ.
    """
    probes = probe_rows(rows, seed)
    expected = fitted.outputs(probes)
    found = exported_outputs(json.loads(json.dumps(document, allow_nan=False)), probes)
    if rows.classes:
        apart = np.abs(found - expected)
        _check_classes(found, expected)
    else:
        real = expected[:, 0] * rows.spread + rows.centre
        apart = np.abs(found - real) / np.maximum(np.abs(real), rows.spread)
    worst = float(apart.max())
    if not worst <= TOLERANCE:  # NaN is no agreement
        raise ExportError(
            f"exported predictions differ from scikit-learn's by {worst:.3g}, "
            f"at most {TOLERANCE:g} is allowed",
            hint="Nothing was written. Leave this model out of `models`.",
        )
    return worst


def probe_rows(rows: Rows, seed: int) -> Array:
    """Return training rows, and as many drawn from ranges half as wide again on each side."""
    random = np.random.default_rng(seed)
    some = rows.thinned(PROBE_ROWS, seed).features
    low, high = rows.features.min(axis=0), rows.features.max(axis=0)
    part = random.uniform(-BEYOND, 1.0 + BEYOND, some.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        around = low * (1.0 - part) + high * part
    return np.concatenate([some, around[np.isfinite(around).all(axis=1)]])


def exported_outputs(document: Json, features: Array) -> Array:
    """Return what inference.py computes: predictions (rows,), or probabilities (rows, classes)."""
    builders = {"polynomial": polynomial.build, "trees": trees.build}
    predict: Predict = builders[document["kind"]](dict(document))
    symbols = [column["symbol"] for column in document["columns"]]
    columns = {symbol: np.ascontiguousarray(features[:, i]) for i, symbol in enumerate(symbols)}
    found = predict(columns)
    if document["task"] == "classification":
        return np.asarray(probabilities(document["link"], found), dtype=np.float64)
    return np.asarray(found, dtype=np.float64).reshape(-1)


def _check_classes(found: Array, expected: Array) -> None:
    """Refuse another class than scikit-learn's, unless its two best are equal."""
    own, theirs = found.argmax(axis=1), expected.argmax(axis=1)
    places = np.arange(len(expected))
    lead = expected[places, theirs] - expected[places, own]
    if (lead > TOLERANCE).any():
        count = int((lead > TOLERANCE).sum())
        raise ExportError(f"exported classes differ from scikit-learn's in {count} rows")
