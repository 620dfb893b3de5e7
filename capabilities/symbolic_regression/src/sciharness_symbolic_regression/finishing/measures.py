"""Error measures, defined as the evaluation plugin defines them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NAMES = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std")


def measures(predicted: Array, target: Array) -> Mapping[str, float]:
    """Return the measures of :data:`NAMES` that are defined and finite, rows unweighted.

    ``relative_rmse`` is the error over the root mean square of the target about
    zero, ``nrmse_std`` over its standard deviation.
    """
    errors = predicted - target
    scale = float(np.abs(errors).max()) or 1.0  # squares of tiny errors would underflow
    rmse = scale * math.sqrt(float(np.mean(np.square(errors / scale))))
    size, spread = _root_mean_square(target), _root_mean_square(target - target.mean())
    found = {
        "rmse": rmse,
        "mae": float(np.mean(np.abs(errors))),
        "max_abs_error": float(np.abs(errors).max()),
    }
    if size > 0:
        found["relative_rmse"] = rmse / size
    if spread > 0:
        found["nrmse_std"] = rmse / spread
        found["r2"] = 1.0 - (rmse / spread) ** 2
    return {name: found[name] for name in NAMES if math.isfinite(found.get(name, math.nan))}


def _root_mean_square(numbers: Array) -> float:
    scale = float(np.abs(numbers).max())
    return scale * math.sqrt(float(np.mean(np.square(numbers / scale)))) if scale else 0.0
