"""The plugin: evaluators for regression and classification."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from sciharness import Context, Evaluator, Outcome, OutputSpec, hookimpl
from sciharness_evaluation.definitions import CLASSIFICATION, REGRESSION

_OUTPUTS = (OutputSpec("evaluation.json", "predictor.evaluation"),)


@frozen
class RegressionRequest:
    """Nothing can be chosen: the metrics are defined once and for all."""


@frozen
class ClassificationRequest:
    """Nothing can be chosen: the metrics are defined once and for all."""


def regression(request: RegressionRequest, context: Context) -> Outcome:
    """Return the regression metrics of ``predictions`` against ``labels``.

    Raises:
        DataError: predictions are missing, added, out of order, or no finite numbers.
    """
    from sciharness_evaluation.judging import judge_regression  # numpy, not needed to describe

    return judge_regression(context)


def classification(request: ClassificationRequest, context: Context) -> Outcome:
    """Return the classification metrics of ``predictions`` against ``labels``.

    Raises:
        DataError: predictions are missing, added, out of order, or of no known class.
    """
    from sciharness_evaluation.judging import judge_classification  # numpy, as above

    return judge_classification(context)


@hookimpl
def harness_evaluators() -> Sequence[Evaluator]:
    """Return the two evaluators; all their metrics may be trusted."""
    return (
        Evaluator(
            operation="regression",
            run=regression,
            request=RegressionRequest,
            summary="Judge predicted numbers: relative RMSE, R2, RMSE, MAE, largest error.",
            task="regression",
            metrics=tuple(REGRESSION),
            trusted_metrics=tuple(REGRESSION),
            outputs=_OUTPUTS,
        ),
        Evaluator(
            operation="classification",
            run=classification,
            request=ClassificationRequest,
            summary="Judge predicted classes: balanced accuracy, accuracy, AUC, Brier score.",
            task="classification",
            metrics=tuple(CLASSIFICATION),
            trusted_metrics=tuple(CLASSIFICATION),
            outputs=_OUTPUTS,
        ),
    )
