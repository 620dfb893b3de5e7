"""Bands around predictions, from errors on rows that a fit had not seen."""

from __future__ import annotations

import math

import numpy as np

from sciharness_publisher.predictor import Interval
from sciharness_tabular.rows import Array, Rows


def band(outputs: Array, rows: Rows, level: float) -> Interval | None:
    """Return the band of constant width that holds new rows with probability ``level``.

    Its half width is the ceil((n + 1) level)-th smallest absolute error of the
    n held-out predictions (split conformal prediction: Lei et al., J. Am.
    Stat. Assoc. 113, 2018). ``None`` where n is too small for the level.
    """
    errors = np.sort(np.abs(outputs[:, 0] - rows.target))
    place = math.ceil((len(errors) + 1) * level)
    if place > len(errors):
        return None
    return Interval(level, float(errors[place - 1]) * rows.spread)
