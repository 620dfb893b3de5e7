"""What every formula is compared with: the mean and a linear fit."""

from __future__ import annotations

import numpy as np

from sciharness_symbolic_regression.finishing.fitting import fit
from sciharness_symbolic_regression.formulas.algebra import plus
from sciharness_symbolic_regression.formulas.forms import ONE, Product, Sum, Variable
from sciharness_symbolic_regression.samples.sample import Sample

MOST_COLUMNS = 80  # a longer sum could not be read as one formula


def mean_form(sample: Sample) -> Sum:
    """Return the weighted mean of the target as a formula."""
    return Sum((), float(np.average(sample.target, weights=sample.weights)))


def linear_form(sample: Sample, loss: str) -> Sum:
    """Return the linear fit on all columns that vary, at most the 80 most correlated.

    Where columns depend on each other one of the equally good fits is returned.
    """
    start = mean_form(sample)
    form = Sum((), start.constant or 1.0)
    for symbol in _useful(sample):
        form = plus(form, Sum(((sample.spread, Product(((Variable(symbol), ONE),))),)))
    return fit(form, sample, loss) or start


def _useful(sample: Sample) -> list[str]:
    target = sample.target - sample.target.mean()
    strength = {}
    for symbol, column in sample.columns.items():
        centred = column - column.mean()
        width = float(np.sqrt(np.mean(np.square(centred))))
        if width > 0:
            strength[symbol] = abs(float(np.mean(centred / width * target)))
    best = sorted(strength, key=lambda symbol: (-strength[symbol], symbol))[:MOST_COLUMNS]
    return [symbol for symbol in sample.columns if symbol in best]
