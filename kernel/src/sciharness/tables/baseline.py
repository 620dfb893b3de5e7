"""What a predictor reaches that knows nothing but the visible target values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def baseline(
    target: NDArray[np.float64] | NDArray[np.int64], classes: Sequence[str]
) -> dict[str, Any]:  # Any: JSON values
    """Return facts about visible target values: the mean or majority class and its metrics.

    ``metrics`` holds what predicting the mean (the majority class with its
    share as probability) reaches on the rows it was taken from; a metric that
    is undefined there is left out.
    """
    return _of_classes(target, classes) if classes else _of_numbers(target)


def _of_numbers(target: NDArray[Any]) -> dict[str, Any]:  # Any: floats; JSON values
    import numpy as np

    # Divided by a power of two near the largest magnitude, nothing is rounded and
    # the squares of very large values stay finite.
    largest = float(np.abs(target).max())
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    scaled = target / scale
    mean = float(np.mean(scaled))
    errors = scaled - mean
    rmse = scale * math.sqrt(float(np.mean(errors**2)))
    rms = scale * math.sqrt(float(np.mean(scaled**2)))
    metrics = {
        "rmse": rmse,
        "mae": scale * float(np.mean(np.abs(errors))),
        "max_abs_error": scale * float(np.abs(errors).max()),
    }
    if rms > 0:
        metrics["relative_rmse"] = rmse / rms
    if rmse > 0:
        metrics |= {"r2": 0.0, "nrmse_std": 1.0}
    facts = {
        "train_mean": scale * mean,
        "train_rms": rms,
        "train_std": rmse,
        "train_min": float(target.min()),
        "train_max": float(target.max()),
    }
    finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
    return {**_finite(facts), "baseline": {"kind": "training mean", "metrics": finite}}


def _of_classes(
    target: NDArray[Any],
    classes: Sequence[str],  # Any: class numbers
) -> dict[str, Any]:  # Any: JSON values
    import numpy as np

    counts = np.bincount(target, minlength=len(classes))
    majority = int(counts.argmax())
    share = float(counts[majority]) / len(target)
    present = int((counts > 0).sum())
    metrics = {"accuracy": share}
    if present > 1:
        metrics["balanced_accuracy"] = 1 / present
    if present == 2:
        metrics |= {"auc": 0.5, "brier": share * (1 - share)}
    return {
        "train_mean": float(counts[-1]) / len(target) if len(classes) == 2 else None,
        "majority_class": classes[majority],
        "class_counts": {name: int(count) for name, count in zip(classes, counts, strict=True)},
        "baseline": {"kind": "majority class", "metrics": metrics},
    }


def _finite(facts: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in facts.items() if math.isfinite(value)}
