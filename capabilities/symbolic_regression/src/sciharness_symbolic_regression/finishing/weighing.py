"""The choice among candidates with plain constants weighed.

With constants as fitted the criterion of
:mod:`choosing <sciharness_symbolic_regression.finishing.choosing>` ranks formulas. One whose
constants may be plain is set beside the first of that ranking by the length of a
description, as :mod:`recognising <sciharness_symbolic_regression.finishing.recognising>`
has it, where a free constant counts no less than log(n). Wide intervals are looked at:
a law is not given up where one of its constants lies just outside the interval
within which it would be shown as plain; how far it lies off is in the misfit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sciharness_publisher.expression import complexity
from sciharness_symbolic_regression.finishing.candidates import Candidate, front, never
from sciharness_symbolic_regression.finishing.choosing import (
    PER_NODE,
    Choice,
    ranked,
    score,
)
from sciharness_symbolic_regression.finishing.fitting import fit
from sciharness_symbolic_regression.finishing.recognising import Measure, recognise
from sciharness_symbolic_regression.finishing.soundness import is_sound, probes_between
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import Sum, constants, fixed, shape
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.samples.sample import Rows, Sample, thinned

MOST_ROWS = 20_000
WEIGHED = 8  # formulas that are weighed, those of the best score
WIDE = 0.999  # confidence level of the intervals in which plain values are looked for


def choose_plain(
    candidates: Sequence[Candidate],
    rows: Rows,
    sample: Sample,
    late: Callable[[], bool] = never,
) -> Choice:
    """Return the choice by :data:`choosing.RULE`; at least one candidate is given.

    ``sample`` are all rows that may be seen. A formula beside the front is chosen for
    its plain constants only. Plain constants that make a special case of another
    candidate do not count: that one's own constants tell whether the data allow it.
    Nor do those for which it is ``late``.
    """
    floor = rows.validation.noise_floor
    scores = [score(one, floor) for one in candidates]
    order, best = ranked(candidates, rows), front(candidates, rows)
    able = [index for index in order if candidates[index] in best]
    first, shapes = able[0], {one.shape for one in candidates}
    start = scores[first]
    scales = _Scales(thinned(sample, MOST_ROWS, seed=0), rows.loss)
    fitted = math.inf if late() else scales.fitted(candidates[first])
    for index in order[:WEIGHED] if math.isfinite(fitted) else ():
        plain = math.inf if late() else scales.plain(candidates[index], shapes)
        if math.isfinite(plain):
            scores[index] = min(scores[index], start + plain - fitted)
            able.append(index)
    return Choice.of(candidates, scores, min(able, key=lambda index: scores[index]), rows)


class _Scales:
    """Lengths of descriptions on a sample; infinite where one is not defined."""

    def __init__(self, sample: Sample, loss: str) -> None:
        self._sample = sample
        self._loss = loss
        self._probes = probes_between(sample, seed=0)

    def fitted(self, candidate: Candidate) -> float:
        """Return the length with all constants fitted."""
        form = self._fit(candidate)
        return self._length(form, Measure.of(form, self._sample, self._loss))

    def plain(self, candidate: Candidate, shapes: set[str]) -> float:
        """Return the length with plain constants; infinite without one that counts."""
        form = self._fit(candidate)
        plain, told = recognise(form, self._sample, self._loss, WIDE)
        if not told or self._shape(plain) in shapes - {candidate.shape}:
            return math.inf
        if not is_sound(plain, self._probes):
            return math.inf
        return self._length(plain, Measure.of(form, self._sample, self._loss))

    def _fit(self, candidate: Candidate) -> Sum:
        return fit(candidate.form, self._sample, self._loss) or candidate.form

    def _shape(self, form: Sum) -> str:
        try:
            return shape(canonical(tree_of(form), self._sample.nonnegative()))
        except Undefined:
            return ""

    def _length(self, form: Sum, measure: Measure) -> float:
        rows = self._sample.rows
        misfit = max(measure.misfit(form), 2 * rows * math.log(self._sample.noise_floor))
        prices = sum(one.price for one in fixed(form))
        length = misfit + _digits(form, measure) + prices + PER_NODE * complexity(tree_of(form))
        return length if math.isfinite(length) else math.inf


def _digits(form: Sum, measure: Measure) -> float:
    """Return what the free constants count, at least log(n) each."""
    spread, theta = measure.spread(form), np.array(constants(form))
    if spread is None:
        return math.inf
    if not len(theta):
        return 0.0
    with np.errstate(all="ignore"):
        found = -float(np.linalg.slogdet(spread / np.outer(theta, theta))[1])
    return max(found, len(theta) * math.log(measure.sample.rows))
