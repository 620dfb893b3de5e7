"""Predictions of Gaussian processes: sums of a kernel between rows and training points."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sciharness_publisher.inference.protocol import Columns, Predict, Refused, main

BLOCK = 1 << 9  # rows whose distances to all points stay in the processor's cache
SQRT5 = 5.0**0.5


def build(model: dict[str, Any]) -> Predict:
    """Return the function of the model's columns that the model stands for."""
    if model["kind"] != "gaussian_process":
        raise Refused(f"model: unknown kind {model['kind']!r}")
    names = [column["symbol"] for column in model["columns"]]
    shift, scale = (np.array(model[name], dtype=np.float64) for name in ("shift", "scale"))
    points = np.array(model["points"], dtype=np.float64)
    weights = np.array(model["weights"], dtype=np.float64)
    squares = (points**2).sum(axis=1)

    def predict(columns: Columns) -> np.ndarray:
        rows = np.stack([columns[name] for name in names], axis=1)
        rows = (rows - shift) / scale
        found = np.empty(len(rows))
        for first in range(0, len(rows), BLOCK):
            block = rows[first : first + BLOCK]
            distance = (block**2).sum(axis=1)[:, None] + squares - 2.0 * (block @ points.T)
            found[first : first + BLOCK] = kernel(model["kernel"], distance) @ weights
        return float(model["mean"]) + found

    return predict


def kernel(name: str, squared: np.ndarray) -> np.ndarray:
    """Return the kernel of squared distances that are already over the length scales."""
    np.maximum(squared, 0.0, out=squared)
    if name == "rbf":
        return np.exp(-0.5 * squared)
    if name != "matern52":
        raise Refused(f"model: unknown kernel {name!r}")
    far = SQRT5 * np.sqrt(squared)
    return np.asarray((1.0 + far + far * far / 3.0) * np.exp(-far))


if __name__ == "__main__":
    sys.exit(main(None, build))
