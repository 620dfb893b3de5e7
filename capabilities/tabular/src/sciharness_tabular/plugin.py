"""The plugin: describe a table, train an ordinary predictor on it."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import (
    PREDICTOR_OUTPUTS,
    Capability,
    Context,
    InputSpec,
    Outcome,
    OutputSpec,
    hookimpl,
)
from sciharness_tabular.requests import DescribeRequest, TrainRequest

DESCRIBE_METRICS = (
    "rows",
    "columns",
    "number_columns",
    "text_columns",
    "duplicates",
    "missing_cells",
    "constant_columns",
    "near_constant_columns",
    "strong_pairs",
    "largest_correlation",
    "classes",
    "smallest_class_share",
)
TRAIN_METRICS = (
    "relative_rmse",
    "r2",
    "rmse",
    "mae",
    "max_abs_error",
    "nrmse_std",
    "mean_relative_rmse",
    "interval_half_width",
    "balanced_accuracy",
    "accuracy",
    "auc",
    "brier",
    "majority_accuracy",
)


def describe(request: DescribeRequest, context: Context) -> Outcome:
    """Say what the columns of a table hold and how they go together.

    Raises:
        DataError: the file is no table.
    """
    from sciharness_tabular.description.operation import run  # numpy, not needed to describe

    return run(request, context)


DESCRIBE = Capability(
    operation="describe",
    run=describe,
    request=DescribeRequest,
    summary="Describe a table: types, ranges, gaps, duplicates, correlations, balance.",
    group="analysis",
    inputs=(InputSpec("data", ("labelled_table", "table", "DATASET"), summary="the rows"),),
    outputs=(
        OutputSpec("description.json", "analysis_result"),
        OutputSpec("description.md", "OTHER"),
    ),
    metrics=DESCRIBE_METRICS,
)


def train(request: TrainRequest, context: Context) -> Outcome:
    """Compare models by cross-validation and write the chosen one as a predictor.

    Metrics are those of the chosen model on held-out rows.

    Raises:
        DataError: the rows cannot be trained on.
        ExportError: the exported model predicts anything else than scikit-learn.
    """
    from sciharness_tabular.training.operation import run  # scikit-learn, as above

    return run(request, context)


TRAIN = Capability(
    operation="train",
    run=train,
    request=TrainRequest,
    summary="Train a regressor or classifier, chosen by cross-validation.",
    group="execution and training",
    inputs=(InputSpec("data", ("labelled_table", "DATASET"), summary="the visible rows"),),
    outputs=(
        OutputSpec("model_selection.json", "analysis_result"),
        *PREDICTOR_OUTPUTS,
    ),
    metrics=TRAIN_METRICS,
)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the two operations."""
    return (DESCRIBE, TRAIN)
