"""Whether a formula is defined everywhere between the rows, not on the rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import evolve
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

PROBES = 2000
ZEROS, HALVINGS = 16, 60  # zeros of a denominator that are looked at, and how they are found
NEAR = 1e-7  # of the line between two probes: how near to a zero the formula is looked at
USUAL, BOUNDED = 0.99, 10.0  # share of the values that are usual, and how far a bounded one goes


def sound_only(candidates: Iterable[Candidate], rows: Rows, seed: int) -> list[Candidate]:
    """Return the candidates that are defined between the rows, see :func:`is_sound`."""
    probes = probes_between(rows.train, seed)
    return [candidate for candidate in candidates if is_sound(candidate.form, probes)]


def is_sound(form: Sum, probes: Sample) -> bool:
    """Whether the formula is defined on all probes and has no pole between them.

    Where a denominator changes sign, the formula has to stay bounded: sin(x)/x does.
    """
    with np.errstate(all="ignore"):
        found = values(form, probes)
        if not np.isfinite(found).all():
            return False
        limit = BOUNDED * float(np.quantile(np.abs(found), USUAL))
        return all(
            float(np.abs(values(form, near)).max()) <= limit
            for base in denominators(form)
            for near in _near_zeros(base, probes)
        )


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


def _near_zeros(base: Base, probes: Sample) -> Iterator[Sample]:
    """Yield points beside zeros of a denominator, on both sides, if it changes sign."""
    found = _values(base, probes)
    above, below = np.flatnonzero(found > 0)[:ZEROS], np.flatnonzero(found <= 0)[:ZEROS]
    if not len(above) or not len(below):
        return
    count = max(len(above), len(below))
    above, below = np.resize(above, count), np.resize(below, count)
    least, most = np.zeros(count), np.ones(count)
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        positive = _values(base, _between(probes, above, below, middle)) > 0
        least, most = np.where(positive, middle, least), np.where(positive, most, middle)
    for side in (-NEAR, NEAR):
        yield _between(probes, above, below, least + side)


def _between(
    probes: Sample, first: NDArray[np.intp], second: NDArray[np.intp], part: Array
) -> Sample:
    columns = {
        name: column[first] + part * (column[second] - column[first])
        for name, column in probes.columns.items()
    }
    return evolve(probes, columns=columns, target=probes.target[first], weights=np.ones(len(first)))


def _values(base: Base, probes: Sample) -> Array:
    if isinstance(base, Variable):
        return probes.columns[base.name]
    if isinstance(base, Sum):
        return values(base, probes)
    return values(Sum(((1.0, Product(((base, ONE),))),)), probes)
