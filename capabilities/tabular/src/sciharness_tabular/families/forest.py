"""Extremely randomised trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_publisher.families import TreesModel
from sciharness_tabular.families.base import FitRecord, Frame, Means, Setting, Trial, aligned
from sciharness_tabular.families.trees import tree_record
from sciharness_tabular.rows import Array, Rows
from sciharness_tabular.scaling import Scaling, scaling_of

TREES = 50
ALL_ROWS = 5_000  # up to this many every tree sees all rows and splits to the end
ROWS_PER_TREE = 10_000
LEAF_ROWS = 3


@frozen
class Forest:
    """Extremely randomised trees; with many rows each tree sees a bounded sample."""

    name: str = "forest"

    def reason_against(self, rows: Rows) -> str:
        """Return nothing: it suits every table."""
        return ""

    def trials(self, rows: Rows, held_out: Array, means: Means) -> Iterator[Trial]:
        """Yield the one fit there is."""
        fitted = self.fit(rows, {}, means)
        yield Trial(fitted.record, (({}, fitted.outputs(held_out)),))

    def fit(self, rows: Rows, setting: Setting, means: Means) -> FittedForest:
        """Return the fitted forest."""
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        kind = ExtraTreesClassifier if rows.classes else ExtraTreesRegressor
        parameters: dict[str, Any] = {"n_estimators": TREES, "random_state": means.seed}
        if rows.count > ALL_ROWS:
            parameters |= {
                "bootstrap": True,
                "max_samples": min(ROWS_PER_TREE, rows.count),
                "min_samples_leaf": LEAF_ROWS,
            }
        scaling = scaling_of(rows.features)
        estimator = kind(n_jobs=means.workers, **parameters)
        estimator.fit(_single(scaling, rows.features), rows.target, rows.sample_weight)
        estimator.set_params(n_jobs=1)  # threads would add up trees in changing order
        record = FitRecord(
            f"sklearn.ensemble.{kind.__name__}", parameters, rows.count, rows.features.shape[1]
        )
        return FittedForest(estimator, scaling, rows, record)


@frozen(eq=False)
class FittedForest:
    """A forest of scikit-learn on scaled columns."""

    estimator: Any  # Any: scikit-learn is untyped
    scaling: Scaling
    rows: Rows
    record: FitRecord

    def outputs(self, features: Array) -> Array:
        """Return the scaled target, or a probability per class."""
        columns = _single(self.scaling, features)
        if not self.rows.classes:
            return np.asarray(self.estimator.predict(columns), dtype=np.float64)[:, None]
        chances = self.estimator.predict_proba(columns)
        return aligned(chances, self.estimator.classes_, len(self.rows.classes))

    def model(self, frame: Frame) -> TreesModel:
        """Return the model in the unit of the target."""
        rows, estimators = self.rows, self.estimator.estimators_
        count = len(estimators)
        values = _chances if rows.classes else _numbers
        outputs = 1 if len(rows.classes) <= 2 else len(rows.classes)
        return TreesModel(
            target=frame.target,
            columns=frame.columns,
            trees=tuple(
                tree_record(
                    tree.feature,
                    tree.threshold,
                    tree.children_left,
                    tree.children_right,
                    values(tree.value) * rows.spread,
                    single_precision=True,
                )
                for tree in (estimator.tree_ for estimator in estimators)
            ),
            start=[rows.centre * count] * outputs,
            divisor=float(count),
            single_precision=True,
            shift=self.scaling.shift.tolist(),
            scale=self.scaling.scale.tolist(),
            link="probability" if rows.classes else "identity",
            unit=frame.unit,
            out_of_domain=frame.out_of_domain,
            interval=frame.interval,
        )


def _single(scaling: Scaling, features: Array) -> Any:  # Any: float32 array
    """Return scaled columns as the trees compare them, shape (rows, columns)."""
    return np.ascontiguousarray(scaling.columns(features).T, dtype=np.float32)


def _numbers(value: Array) -> Array:
    """Return the value of each node, shape (nodes, 1)."""
    return value[:, :, 0]


def _chances(value: Array) -> Array:
    """Return class shares per node: of the second of two classes, else of all."""
    counts = value[:, 0, :]
    shares = np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)
    return shares[:, 1:] if shares.shape[1] == 2 else shares
