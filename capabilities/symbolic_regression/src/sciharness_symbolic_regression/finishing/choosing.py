"""Choose one formula by a rule that is stated with the result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen

from sciharness_symbolic_regression.finishing.candidates import Candidate, front
from sciharness_symbolic_regression.samples.sample import Rows

RULE = (
    "smallest n log(mean loss) + constants log(n) + 3.5 complexity over all n visible rows, an "
    "information criterion that counts a node as a choice among six, among the formulas whose "
    "validation error is within two standard errors of the smallest one on the front. Among these, "
    "one whose constants may be plain values is set beside the best as fitted by what both need: "
    "a fitted constant counts 2 log(value/error), at least log(n), a plain one 2 log(number of "
    "values as plain). Constants are fitted on training rows only, but for this comparison; the "
    "standard error is that of the row-by-row difference to the best formula. Left out before: "
    "formulas that are undefined between the rows, or have a pole there. "
    "Constants shown are fitted on all visible rows."
)
STANDARD_ERRORS = 2.0
PER_NODE = 3.5  # about 2 log(6): a node is one choice among some six
BESIDE = 5  # formulas that a simpler one equals, and that plain constants could make the choice


@frozen(eq=False)
class Choice:
    """Candidates to show, the index of the chosen one, and the criterion of each as it chose."""

    candidates: tuple[Candidate, ...]
    index: int
    scores: tuple[float, ...]

    @property
    def chosen(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[self.index]

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], scores: Sequence[float], index: int, rows: Rows
    ) -> Choice:
        """Return the choice without those that are neither chosen nor on the front."""
        best = front(candidates, rows)
        kept = [i for i, one in enumerate(candidates) if i == index or one in best]
        return cls(
            tuple(candidates[i] for i in kept), kept.index(index), tuple(scores[i] for i in kept)
        )


def choose(candidates: Sequence[Candidate], rows: Rows) -> Choice:
    """Return the choice by :data:`RULE` with all constants as fitted; at least one is given.

    Where constants may be plain, :func:`weighing.choose_plain` chooses.
    """
    floor = rows.validation.noise_floor
    scores = [score(one, floor) for one in candidates]
    return Choice.of(candidates, scores, ranked(candidates, rows)[0], rows)


def ranked(candidates: Sequence[Candidate], rows: Rows) -> list[int]:
    """Return the indices of those that are within two standard errors, the best score first.

    The smallest error is that of the front: among more formulas, chance finds a smaller one.
    """
    floor = rows.validation.noise_floor
    best = min(front(candidates, rows), key=lambda one: (one.validation_error, one.complexity))
    good = [i for i, one in enumerate(candidates) if _is_as_good(one, best, floor)]
    return sorted(good, key=lambda i: (score(candidates[i], floor), candidates[i].complexity))


def contenders(candidates: Iterable[Candidate], rows: Rows) -> list[Candidate]:
    """Return the front and, beside it, the few best that plain constants could make the choice.

    A stand-in that is a node shorter takes the place of a law on the front.
    """
    everyone = list(candidates)
    best = list(front(everyone, rows))
    good = [everyone[i] for i in ranked(everyone, rows)] if best else []
    return [*best, *[one for one in good if one not in best][:BESIDE]]


def score(candidate: Candidate, floor: float) -> float:
    """Return the information criterion of :data:`RULE`; losses below ``floor`` squared are equal.

    Differences between candidates matter, not the value.
    """
    count = len(candidate.train) + len(candidate.validation)
    loss = float(candidate.train.sum() + candidate.validation.sum()) / count
    misfit = 2 * count * math.log(max(math.sqrt(loss), floor))
    return misfit + price(candidate.complexity, candidate.constants, count)


def price(complexity: int, constants: int, rows: int) -> float:
    """Return what the size of a formula counts against its fit in :data:`RULE`."""
    return constants * math.log(rows) + PER_NODE * complexity


def _is_as_good(candidate: Candidate, best: Candidate, floor: float) -> bool:
    if candidate.validation_error <= max(floor, best.validation_error):
        return True
    more = candidate.validation - best.validation
    with np.errstate(over="ignore", invalid="ignore"):  # a loss may be infinite
        deviation = float(more.std(ddof=1)) if len(more) > 1 else 0.0
        return float(more.mean()) <= STANDARD_ERRORS * deviation / math.sqrt(len(more))
