"""Choosing a surrogate by cross-validation on the training cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness_file_solver.training.families import Box, Setting, settings

Array = NDArray[np.float64]
# A quicker kind is taken if its error is at most this much above the least.
SPARE = 1.1


@frozen(eq=False)
class Compared:
    """One way to fit and its predictions (n,) of cases that each fit had not seen."""

    setting: Setting
    predicted: Array
    relative_rmse: float


def compare(
    box: Box,
    rows: Array,
    values: Array,
    *,
    families: Sequence[str],
    folds: int,
    seed: int,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Compared]:
    """Return every way to fit that the cases are enough for, compared on the same folds.

    Raises:
        DataError: there are too few cases for any.
    """
    fold = np.random.default_rng(seed).permutation(len(rows)) % folds
    smallest = len(rows) - int(np.ceil(len(rows) / folds))
    found: list[Compared] = []
    for setting in settings(families, rows.shape[1]):
        if setting.fits(smallest) and not (found and stopped()):
            found.append(_validated(setting, box, rows, values, fold, seed))
    if not found:
        raise DataError(
            f"{len(rows)} answered cases are too few to train on",
            where="data",
            hint="Raise `count` of file_solver.sample, or allow more families.",
        )
    return found


def _validated(
    setting: Setting, box: Box, rows: Array, values: Array, fold: NDArray[np.int_], seed: int
) -> Compared:
    predicted = np.empty(len(values))
    for part in range(int(fold.max()) + 1):
        out = fold == part
        predicted[out] = setting.fit(box, rows[~out], values[~out], seed).predict(rows[out])
    size = float(np.sqrt((values**2).mean())) or 1.0
    return Compared(setting, predicted, float(np.sqrt(((predicted - values) ** 2).mean())) / size)


def choose(compared: Sequence[Compared]) -> Compared:
    """Return the first, and so quickest, whose error is about the least."""
    least = min(one.relative_rmse for one in compared)
    return next(one for one in compared if one.relative_rmse <= SPARE * least)
