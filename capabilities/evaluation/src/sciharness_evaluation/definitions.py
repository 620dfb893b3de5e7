"""The metrics and their definitions, in words.

In the formulas ``p`` are predictions and ``y`` true values.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REGRESSION: Mapping[str, str] = MappingProxyType(
    {
        "relative_rmse": "RMSE divided by the root mean square of the true values about zero, "
        "sqrt(sum((p-y)^2) / sum(y^2)); undefined when all true values are zero",
        "r2": "1 - sum((p-y)^2) / sum((y-mean(y))^2); undefined when all true values are equal",
        "rmse": "root mean square error sqrt(mean((p-y)^2)), in the unit of the target",
        "mae": "mean absolute error mean(|p-y|), in the unit of the target",
        "max_abs_error": "largest absolute error max(|p-y|), in the unit of the target",
        "nrmse_std": "RMSE divided by the population standard deviation of the true values; "
        "undefined when all true values are equal",
    }
)

CLASSIFICATION: Mapping[str, str] = MappingProxyType(
    {
        "balanced_accuracy": "mean of the recalls of the classes present in the true labels; "
        "undefined when only one class is present",
        "accuracy": "share of rows whose predicted class is the true class",
        "auc": "chance that a row of the second class has a higher probability than one of the "
        "first, ties counting one half; undefined without probabilities, unless there are two "
        "classes, and when only one class is present",
        "brier": "mean of (probability - 1 if the row is of the second class else 0)^2; "
        "undefined without probabilities and unless there are two classes",
    }
)
