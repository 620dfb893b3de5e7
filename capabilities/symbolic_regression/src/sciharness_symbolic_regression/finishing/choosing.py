"""Choose one formula by a rule that is stated with the result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sciharness_symbolic_regression.finishing.candidates import Candidate
from sciharness_symbolic_regression.finishing.fitting import values
from sciharness_symbolic_regression.formulas.forms import (
    ONE,
    Base,
    Function,
    Product,
    Sum,
    Variable,
)
from sciharness_symbolic_regression.samples.sample import Array, Rows, Sample

RULE = (
    "smallest n log(mean loss) + constants log(n) + 3.5 complexity over all n visible rows, an "
    "information criterion that counts a node as a choice among six, among the formulas whose "
    "validation error is within two standard errors of the smallest one. Constants are fitted on "
    "training rows only; the standard error is that of the row-by-row difference to the best "
    "formula. Left out before: formulas that are undefined, or have a denominator that changes "
    "sign, between the rows. Constants shown are fitted on all visible rows."
)
STANDARD_ERRORS = 2.0
PER_NODE = 3.5  # about 2 log(6): a node is one choice among some six
PROBES = 2000


def choose(candidates: Sequence[Candidate], rows: Rows) -> int:
    """Return the index of the chosen candidate by :data:`RULE`; at least one is given."""
    best = min(candidates, key=lambda one: (one.validation_error, one.complexity))
    floor = rows.validation.noise_floor
    good = [i for i, one in enumerate(candidates) if _is_as_good(one, best, floor)]
    return min(good, key=lambda i: (score(candidates[i], floor), candidates[i].complexity))


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
    deviation = float(more.std(ddof=1)) if len(more) > 1 else 0.0
    return float(more.mean()) <= STANDARD_ERRORS * deviation / math.sqrt(len(more))


def is_sound(form: Sum, probes: Sample) -> bool:
    """Whether the formula is defined on all probes and none of its denominators changes sign."""
    if not np.isfinite(values(form, probes)).all():
        return False
    return all(_keeps_its_sign(base, probes) for base in denominators(form))


def denominators(form: Sum) -> Iterator[Base]:
    """Yield every base that the formula divides by."""
    for _, product in form.terms:
        for base, exponent in product.factors:
            divides = float(exponent) < 0
            if divides and not (isinstance(base, Function) and base.name == "exp"):
                yield base
            if isinstance(base, Function):
                yield from denominators(base.argument)
            elif isinstance(base, Sum):
                yield from denominators(base)


def probes_between(sample: Sample, seed: int) -> Sample:
    """Return points on lines between random pairs of rows, and rows themselves."""
    random = np.random.default_rng(seed)
    count = min(PROBES, 4 * sample.rows)
    first, second = random.integers(0, sample.rows, (2, count))
    part = random.uniform(0.0, 1.0, count)
    part[: count // 4] = 0.0
    columns = {
        name: column[first] + part * (column[second] - column[first])
        for name, column in sample.columns.items()
    }
    return Sample(columns, sample.target[first], np.ones(count))


def _keeps_its_sign(base: Base, probes: Sample) -> bool:
    if isinstance(base, Variable):
        found: NDArray[np.float64] = probes.columns[base.name]
    elif isinstance(base, Sum):
        found = values(base, probes)
    else:
        found = _function_values(base, probes)
    return bool((found > 0).all() or (found < 0).all())


def _function_values(base: Function, probes: Sample) -> Array:
    return values(Sum(((1.0, Product(((base, ONE),))),)), probes)


def sound_only(candidates: Iterable[Candidate], rows: Rows, seed: int) -> list[Candidate]:
    """Return the candidates that are defined between the rows, see :func:`is_sound`."""
    probes = probes_between(rows.train, seed)
    return [candidate for candidate in candidates if is_sound(candidate.form, probes)]
