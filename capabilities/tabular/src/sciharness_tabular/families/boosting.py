"""Histogram gradient boosting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_publisher.families import TreesModel
from sciharness_tabular.families.base import FitRecord, Frame, Means, Setting, Trial, aligned
from sciharness_tabular.families.trees import tree_record
from sciharness_tabular.rows import Array, Rows

STAGES = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5)  # and ten times, a hundred times as many
MOST_CLASSES = 30
MOST_TREES = 900  # of more than two classes together
LEAST = 10
USUAL_LEAF = 20
SMALL_SHARE = 20  # few rows: a leaf holds one part in this many


@frozen
class Boosting:
    """Histogram gradient boosting; one fit covers all numbers of iterations."""

    iterations: int = 300
    name: str = "boosting"

    def reason_against(self, rows: Rows) -> str:
        """Return whether there are too many classes: each needs trees of its own."""
        classes = len(rows.classes)
        return f"{classes} classes, at most {MOST_CLASSES}" if classes > MOST_CLASSES else ""

    def trials(self, rows: Rows, held_out: Array, means: Means) -> Iterator[Trial]:
        """Yield the longest fit with its outputs at each stage."""
        stages = _stages(rows, self.iterations)
        fitted = self.fit(rows, {"iterations": stages[-1]}, means)
        staged = fitted.staged_outputs(held_out, stages)
        settings = ({"iterations": stage} for stage in stages)
        yield Trial(fitted.record, tuple(zip(settings, staged, strict=True)))

    def fit(self, rows: Rows, setting: Setting, means: Means) -> FittedBoosting:
        """Return the fit of some iterations."""
        from sklearn.ensemble import (
            HistGradientBoostingClassifier,
            HistGradientBoostingRegressor,
        )

        kind = HistGradientBoostingClassifier if rows.classes else HistGradientBoostingRegressor
        parameters: dict[str, Any] = {
            "max_iter": int(setting["iterations"]),
            "min_samples_leaf": min(USUAL_LEAF, max(2, rows.count // SMALL_SHARE)),
            "early_stopping": False,
            "random_state": means.seed,
        }
        estimator = kind(**parameters).fit(rows.features, rows.target, rows.sample_weight)
        record = FitRecord(
            f"sklearn.ensemble.{kind.__name__}", parameters, rows.count, rows.features.shape[1]
        )
        return FittedBoosting(estimator, rows, record)


@frozen(eq=False)
class FittedBoosting:
    """Boosted trees of scikit-learn."""

    estimator: Any  # Any: scikit-learn is untyped
    rows: Rows
    record: FitRecord

    def outputs(self, features: Array) -> Array:
        """Return the scaled target, or a probability per class."""
        if not self.rows.classes:
            return np.asarray(self.estimator.predict(features), dtype=np.float64)[:, None]
        return self._aligned(self.estimator.predict_proba(features))

    def staged_outputs(self, features: Array, stages: tuple[int, ...]) -> Iterator[Array]:
        """Yield the outputs after each of some numbers of iterations."""
        wanted = {stage - 1 for stage in stages}
        if self.rows.classes:
            found = self.estimator.staged_predict_proba(features)
        else:
            found = self.estimator.staged_predict(features)
        for place, outputs in enumerate(islice(found, stages[-1])):
            if place in wanted:
                yield self._aligned(outputs) if self.rows.classes else outputs[:, None].copy()

    def _aligned(self, chances: Array) -> Array:
        return aligned(chances, self.estimator.classes_, len(self.rows.classes)).copy()

    def model(self, frame: Frame) -> TreesModel:
        """Return the model in the unit of the target."""
        rows = self.rows
        start = np.ravel(self.estimator._baseline_prediction) * rows.spread + rows.centre
        return TreesModel(
            target=frame.target,
            columns=frame.columns,
            trees=tuple(
                tree_record(
                    predictor.nodes["feature_idx"].astype(np.int64),
                    predictor.nodes["num_threshold"],
                    *_children(predictor.nodes),
                    predictor.nodes["value"][:, None] * rows.spread,
                    output=output,
                )
                for iteration in self.estimator._predictors
                for output, predictor in enumerate(iteration)
            ),
            start=start.tolist(),
            link="identity" if not rows.classes else "sigmoid" if len(start) == 1 else "softmax",
            unit=frame.unit,
            out_of_domain=frame.out_of_domain,
            interval=frame.interval,
        )


def _children(nodes: Any) -> tuple[Any, Any]:  # Any: a structured array and its columns
    """Return the children of each node, -1 for leaves."""
    leaf = nodes["is_leaf"].astype(bool)
    sides = (nodes[side].astype(np.int64) for side in ("left", "right"))
    left, right = (np.where(leaf, -1, side) for side in sides)
    return left, right


def _stages(rows: Rows, most: int) -> tuple[int, ...]:
    """Return the numbers of iterations to compare; more classes, fewer of them."""
    if len(rows.classes) > 2:
        most = max(min(most, MOST_TREES // len(rows.classes)), LEAST)
    every = (round(stage * power) for power in (10, 100, 1000) for stage in STAGES)
    return (*(stage for stage in every if stage < most), most)
