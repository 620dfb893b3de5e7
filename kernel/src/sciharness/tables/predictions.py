"""Predictions of a predictor as an array."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Predictions: TypeAlias = "NDArray[np.float64] | NDArray[np.str_]"


def read_predictions(path: Path, *, text: bool = False) -> Predictions:
    """Return the column ``prediction`` of an OUTPUT file, shape (rows,).

    float64 in the unit of the target; with ``text`` class names.
    """
    import numpy as np

    with path.open(newline="", encoding="utf-8") as stream:
        values = [row["prediction"] for row in csv.DictReader(stream)]
    if text:
        return np.array(values, dtype=np.str_)
    return np.array(values, dtype=np.float64)
