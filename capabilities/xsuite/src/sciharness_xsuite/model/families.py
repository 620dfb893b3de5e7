"""Families of survival models: how each is fitted by scikit-learn, and its score in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from sciharness_publisher.derived import Feature
from sciharness_publisher.inference.derived import derived
from sciharness_xsuite.model import features
from sciharness_xsuite.model.request import Family

Array = np.ndarray[Any, np.dtype[np.float64]]
Json = dict[str, Any]  # Any: JSON values

COSTS = (10.0, 100.0, 1_000.0)
WIDTHS = (0.1, 0.3, 1.0)  # times one over the number of columns
PENALTIES = (1.0, 100.0)
DEGREES = (2, 4, 6)
TREES, LEAF_ROWS, RATE = 300, 8, 0.06
MOST_KERNEL_ROWS, MOST_ROWS = 20_000, 100_000


@frozen
class Candidate:
    """A family under one setting: its features, and its score after a fit."""

    family: Family
    setting: Mapping[str, float]
    features: tuple[Feature, ...]


@frozen(eq=False)
class Fitted:
    """A fitted candidate; ``body`` is its score as the predictor has it."""

    candidate: Candidate
    shift: Array
    spread: Array
    body: Json
    estimator: Any = field(repr=False)  # Any: scikit-learn is untyped

    def scores(self, unit: Array) -> Array:
        """Return scikit-learn's own score of scaled rows, positive for survival."""
        rows = matrix(unit, self.candidate.features)
        return np.asarray(self.estimator.decision_function((rows - self.shift) / self.spread))


def candidates(models: Sequence[Family], columns: Sequence[str]) -> list[Candidate]:
    """Return all candidates of the families that are asked for."""
    every: list[Candidate] = []
    for cost in COSTS:
        for width in WIDTHS:
            setting = {"cost": cost, "width": width / len(columns)}
            every.append(Candidate("kernel", setting, features.plain(columns)))
    for degree in DEGREES:
        terms = features.products(columns, degree)
        for penalty in PENALTIES:
            if degree == max(map(len, terms)) - 1:
                setting = {"degree": degree, "cost": penalty}
                every.append(Candidate("polynomial", setting, terms))
    every.append(Candidate("boosting", {"trees": TREES}, features.shapes(columns)))
    return [one for one in every if one.family in models]


def matrix(unit: Array, wanted: tuple[Feature, ...]) -> Array:
    """Return the features of scaled rows, shape (rows, features)."""
    return np.ascontiguousarray(derived(np.ascontiguousarray(unit.T), wanted).T)


def fit(candidate: Candidate, unit: Array, survived: Any, seed: int) -> Fitted:
    """Return a candidate fitted to scaled rows (rows, columns) with columns in -1 .. 1."""
    rows = matrix(unit, candidate.features)
    if candidate.family == "boosting":
        shift, spread = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    else:
        shift, deviation = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(deviation > 0, deviation, 1.0)
    scaled = (rows - shift) / spread
    makers = {"kernel": _kernel, "polynomial": _polynomial, "boosting": _boosting}
    estimator, body = makers[candidate.family](candidate, scaled, survived, seed)
    return Fitted(candidate, shift, spread, body, estimator)


def _kernel(one: Candidate, rows: Array, survived: Any, seed: int) -> tuple[Any, Json]:
    from sklearn.svm import SVC

    machine = SVC(C=one.setting["cost"], gamma=one.setting["width"], cache_size=500)
    machine.fit(rows, survived)
    return machine, {
        "kind": "kernel",
        "width": one.setting["width"],
        "offset": float(machine.intercept_[0]),
        "weights": machine.dual_coef_[0].tolist(),
        "points": machine.support_vectors_.tolist(),
    }


def _polynomial(one: Candidate, rows: Array, survived: Any, seed: int) -> tuple[Any, Json]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=one.setting["cost"], max_iter=2_000, tol=1e-5)
    model.fit(rows, survived)
    return model, {
        "kind": "linear",
        "offset": float(model.intercept_[0]),
        "weights": model.coef_[0].tolist(),
    }


def _boosting(one: Candidate, rows: Array, survived: Any, seed: int) -> tuple[Any, Json]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=int(one.setting["trees"]),
        learning_rate=RATE,
        min_samples_leaf=LEAF_ROWS,
        early_stopping=False,
        random_state=seed,
    ).fit(rows, survived)
    return model, {
        "kind": "trees",
        "offset": float(np.ravel(model._baseline_prediction)[0]),
        "trees": [_tree(predictor.nodes) for (predictor,) in model._predictors],
    }


def _tree(nodes: Any) -> Json:  # Any: a structured array
    leaf = nodes["is_leaf"].astype(bool)
    inner = ~leaf
    return {
        "feature": np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)).tolist(),
        "threshold": nodes["num_threshold"][inner].tolist(),
        "right": nodes["right"][inner].astype(np.int64).tolist(),
        "value": nodes["value"][leaf].tolist(),
    }
