"""Choose one formula by a rule that is stated with the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sciharness_symbolic_regression.candidates import Candidate, Rows
from sciharness_symbolic_regression.fitting import values
from sciharness_symbolic_regression.forms import ONE, Base, Function, Product, Sum, Variable
from sciharness_symbolic_regression.sample import Array, Sample

RULE = (
    "smallest complexity whose validation error is within one standard error of the smallest; "
    "the standard error is that of the row-by-row difference to the best candidate. Constants "
    "are fitted on training rows only. Left out before: formulas that are undefined or change "
    "sign in a denominator between the rows."
)
PROBES = 2000


def choose(candidates: Sequence[Candidate], rows: Rows) -> int:
    """Return the index of the chosen candidate by :data:`RULE`; at least one is given."""
    best = min(candidates, key=lambda one: (one.validation_error, one.complexity))
    ranked = sorted(
        range(len(candidates)),
        key=lambda i: (candidates[i].complexity, candidates[i].validation_error),
    )
    floor = rows.validation.noise_floor
    for index in ranked:
        if _is_as_good(candidates[index], best, floor):
            return index
    return ranked[-1]


def _is_as_good(candidate: Candidate, best: Candidate, floor: float) -> bool:
    if candidate.validation_error <= max(floor, best.validation_error):
        return True
    more = candidate.validation - best.validation
    deviation = float(more.std(ddof=1)) if len(more) > 1 else 0.0
    return float(more.mean()) <= deviation / np.sqrt(len(more))


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
