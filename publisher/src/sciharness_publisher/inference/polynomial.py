"""Predictions of models that are sums of products of scaled columns, one sum per output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from sciharness_publisher.inference.protocol import Columns, Predict, Refused, main

BLOCK = 1 << 12  # rows whose products stay in the processor's cache


def build(model: dict[str, Any]) -> Predict:
    """Return the function of the model's columns that the model stands for."""
    if model["kind"] != "polynomial":
        raise Refused(f"model: unknown kind {model['kind']!r}")
    shift, scale = (np.array(model[name], dtype=np.float64) for name in ("shift", "scale"))
    names = [column["symbol"] for column in model["columns"]]

    def predict(columns: Columns) -> np.ndarray:
        rows = len(columns[names[0]])
        found = np.empty((rows, len(model["intercepts"])))
        for start in range(0, rows, BLOCK):
            block = np.stack([columns[name][start : start + BLOCK] for name in names])
            terms = products(scaled(block, shift, scale), model["terms"])
            found[start : start + BLOCK] = sums(terms, model["intercepts"], model["coefficients"])
        return found[:, 0] if model["link"] == "identity" else found

    return predict


def scaled(columns: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return columns (columns, rows) less their shift, over their scale."""
    return np.asarray((columns - shift[:, None]) / scale[:, None])


def products(columns: np.ndarray, terms: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the product of each term's columns, shape (terms, rows).

    A term lists places of columns in rising order; the term without its last
    place has to come earlier.
    """
    found = np.empty((len(terms), columns.shape[1]))
    places: dict[tuple[int, ...], int] = {}
    for place, term in enumerate(terms):
        *head, last = term
        if head:
            np.multiply(found[places[tuple(head)]], columns[last], out=found[place])
        else:
            found[place] = columns[last]
        places[tuple(term)] = place
    return found


def sums(
    terms: np.ndarray, intercepts: Sequence[float], coefficients: Sequence[Sequence[float]]
) -> np.ndarray:
    """Return intercept plus the sum of coefficient times term, shape (rows, outputs)."""
    found = np.empty((terms.shape[1], len(intercepts)))
    for output, (intercept, weights) in enumerate(zip(intercepts, coefficients, strict=True)):
        total = np.full(terms.shape[1], np.float64(intercept))
        for term, weight in zip(terms, weights, strict=True):
            total += np.float64(weight) * term
        found[:, output] = total
    return found


if __name__ == "__main__":
    sys.exit(main(None, build))
