"""From the two tables of an evaluation to its metrics and its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sciharness import Context, Input, Outcome, canonical_json
from sciharness.errors import DataError
from sciharness_evaluation import classification, regression
from sciharness_evaluation.aggregates import (
    classification_aggregates,
    regression_aggregates,
    rows_outside,
)
from sciharness_evaluation.columns import Columns, check_rows, read_columns
from sciharness_evaluation.definitions import CLASSIFICATION, REGRESSION
from sciharness_evaluation.measures import Measures

SCHEMA = "predictor-evaluation-v1"


def judge_regression(context: Context) -> Outcome:
    """Measure predicted numbers and write ``evaluation.json``."""
    predictions, labels, target = _tables(context)
    predicted, true = predictions.numbers("prediction"), labels.numbers(target, secret=True)
    facts = _facts("regression", target, predictions, context.inputs["labels"])
    mean = _training_mean(context.inputs["labels"])
    if mean is not None:
        always = regression.measure(np.full(len(true), mean), true)
        facts["baseline"] = _baseline("the mean of the training rows", always)
    if _may_show_bins(context.inputs["labels"]):
        facts |= regression_aggregates(predictions, predicted, true)
    return _outcome(context, facts, regression.measure(predicted, true), REGRESSION)


def judge_classification(context: Context) -> Outcome:
    """Measure predicted classes and write ``evaluation.json``."""
    predictions, labels, target = _tables(context)
    known = [str(name) for name in context.inputs["labels"].meta.get("classes") or ()]
    rows = classification.classify(predictions, labels, target, known)
    facts = _facts("classification", target, predictions, context.inputs["labels"])
    facts["classes"] = list(rows.classes)
    share = _training_mean(context.inputs["labels"])
    if share is not None and len(rows.classes) == 2 and 0 <= share <= 1:
        always = classification.measure(classification.constant(rows, share))
        facts["baseline"] = _baseline("the more frequent class, with its training share", always)
    if _may_show_bins(context.inputs["labels"]):
        facts |= classification_aggregates(rows)
    return _outcome(context, facts, classification.measure(rows), CLASSIFICATION)


def _tables(context: Context) -> tuple[Columns, Columns, str]:
    predictions = read_columns(context.inputs["predictions"].path, "predictions")
    labels = read_columns(context.inputs["labels"].path, "labels")
    check_rows(predictions, labels)
    targets = [name for name in labels.cells if name != "sample_id"]
    if len(targets) != 1:
        raise DataError("expected sample_id and one target column", where="labels")
    return predictions, labels, targets[0]


def _training_mean(labels: Input) -> float | None:
    """Return the mean of the training labels; of two classes, the share of the second."""
    mean = labels.meta.get("train_mean")
    return float(mean) if isinstance(mean, int | float) else None


def _baseline(predicts: str, measures: Measures) -> dict[str, Any]:  # Any: JSON values
    return {"predicts": predicts, "metrics": dict(measures.values)}


def _may_show_bins(labels: Input) -> bool:
    """Return whether no later query of these labels could use what bins tell of them."""
    return labels.meta.get("last_query") is True or labels.meta.get("visible") is True


def _facts(
    task: str, target: str, predictions: Columns, labels: Input
) -> dict[str, Any]:  # Any: JSON values
    facts: dict[str, Any] = {  # Any: JSON values
        "schema": SCHEMA,
        "task": task,
        "target": target,
        "rows": predictions.rows,
    }
    if view := labels.meta.get("view"):
        facts["view"] = str(view)
    outside = rows_outside(predictions)
    return facts if outside is None else facts | {"rows_outside_domain": outside}


def _outcome(
    context: Context,
    facts: Mapping[str, Any],  # Any: JSON values
    measures: Measures,
    definitions: Mapping[str, str],
) -> Outcome:
    record = dict(facts) | {
        "metrics": dict(measures.values),
        "undefined": dict(measures.undefined),
        "definitions": dict(definitions),
    }
    context.output("evaluation.json", "predictor.evaluation").write_bytes(canonical_json(record))
    notes = tuple(f"{name} is undefined: {why}" for name, why in measures.undefined.items())
    return Outcome(metrics=measures.values, notes=notes)
