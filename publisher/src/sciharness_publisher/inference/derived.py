"""Chances of the second of two classes, from features that are derived of scaled columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sciharness_publisher.inference.protocol import Columns, Predict, Refused, main

BLOCK = 1 << 11  # rows whose distances to all points fit into memory

Score = Callable[[np.ndarray], np.ndarray]


def build(model: dict[str, Any]) -> Predict:
    """Return the function of the model's columns that the model stands for."""
    makers = {"linear": linear_score, "kernel": kernel_score, "trees": trees_score}
    if model["kind"] != "derived" or model["body"]["kind"] not in makers:
        raise Refused(f"model: unknown kind {model['kind']!r} or body")
    names = [column["symbol"] for column in model["columns"]]
    centre, scale, shift, spread = (
        np.array(model[name], dtype=np.float64)[:, None]
        for name in ("centre", "scale", "shift", "spread")
    )
    score = makers[model["body"]["kind"]](model["body"])
    slope, level = float(model["slope"]), float(model["level"])

    def predict(columns: Columns) -> np.ndarray:
        rows = len(columns[names[0]])
        found = np.empty((rows, 1))
        for first in range(0, rows, BLOCK):
            block = np.stack([columns[name][first : first + BLOCK] for name in names])
            features = derived((block - centre) / scale, model["features"])
            scores = score((features - shift) / spread)
            found[first : first + BLOCK, 0] = slope * scores + level
        return found

    return predict


def derived(columns: np.ndarray, features: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return features (features, rows) of scaled columns (columns, rows).

    A feature is a kind and places of columns: ``product``, ``radius`` (the
    root of the sum of squares) or ``sine`` and ``cosine`` of the angle in the
    plane of two columns.
    """
    found = np.empty((len(features), columns.shape[1]))
    for row, (kind, *places) in enumerate(features):
        chosen = columns[places]
        if kind == "product":
            found[row] = chosen.prod(axis=0)
        elif kind == "radius":
            found[row] = np.sqrt((chosen * chosen).sum(axis=0))
        elif kind in ("sine", "cosine"):
            angle = np.arctan2(chosen[1], chosen[0])
            found[row] = np.sin(angle) if kind == "sine" else np.cos(angle)
        else:
            raise Refused(f"model: unknown feature {kind!r}")
    return found


def linear_score(body: dict[str, Any]) -> Score:
    """Return the scorer of a weighted sum."""
    weights = np.array(body["weights"], dtype=np.float64)

    def score(features: np.ndarray) -> np.ndarray:
        total = np.full(features.shape[1], float(body["offset"]))
        for weight, feature in zip(weights, features, strict=True):
            total += weight * feature
        return total

    return score


def kernel_score(body: dict[str, Any]) -> Score:
    """Return the scorer of Gaussian bells around points, each with its weight."""
    points = np.array(body["points"], dtype=np.float64)
    weights = np.array(body["weights"], dtype=np.float64)

    def score(features: np.ndarray) -> np.ndarray:
        apart = np.zeros((len(points), features.shape[1]))
        for place, feature in enumerate(features):
            apart += np.square(points[:, place, None] - feature)
        bells = np.exp(-float(body["width"]) * apart)
        return np.asarray((weights[:, None] * bells).sum(axis=0) + float(body["offset"]))

    return score


def trees_score(body: dict[str, Any]) -> Score:
    """Return the scorer of a sum of trees; a value up to the threshold goes to the next node."""
    trees = [Walk(tree) for tree in body["trees"]]

    def score(features: np.ndarray) -> np.ndarray:
        total = np.full(features.shape[1], float(body["offset"]))
        for tree in trees:
            total += tree.values(features)
        return total

    return score


class Walk:
    """One tree; nodes are in the order in which a walk left child first meets them."""

    def __init__(self, tree: dict[str, Any]) -> None:
        self.feature = np.array(tree["feature"], dtype=np.intp)
        inner = self.feature >= 0
        self.threshold = np.zeros(len(inner))
        self.threshold[inner] = tree["threshold"]
        self.right = np.arange(len(inner))
        self.right[inner] = tree["right"]
        self.value = np.zeros(len(inner))
        self.value[~inner] = tree["value"]

    def values(self, features: np.ndarray) -> np.ndarray:
        """Return the value of the leaf that each row ends in."""
        node = np.zeros(features.shape[1], dtype=np.intp)
        rows = np.arange(len(node))
        while (at := self.feature[node]).max(initial=-1) >= 0:
            inner = at >= 0
            goes_left = features[np.maximum(at, 0), rows] <= self.threshold[node]
            node = np.where(inner, np.where(goes_left, node + 1, self.right[node]), node)
        return np.asarray(self.value[node])


if __name__ == "__main__":
    sys.exit(main(None, build))
