"""Closed forms that linear least squares can find: sums of simple terms, power laws, exponentials.

Small, deterministic, numpy only. It names simple laws and never searches.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

MOST_COLUMNS = 12  # the ones that move most with the target; pairs of them are terms as well
MOST_TERMS = 6
ROUNDED = 4  # exponents of power laws are also tried as multiples of 1/4
LEAST_NEW = 1e-9


@frozen(eq=False)
class Term:
    """A term of a sum: its text and its values (rows,)."""

    text: str
    values: Array


def formulas(sample: Sample) -> tuple[str, ...]:
    """Return formula texts over the sample's symbols, each with constants of least squares."""
    names = strongest(sample)
    found = [*_sums(sample, names), *_power_laws(sample, names), *_exponentials(sample, names)]
    return tuple(dict.fromkeys(found))


def strongest(sample: Sample, most: int = MOST_COLUMNS) -> list[str]:
    """Return the columns that move most with the target, in their order."""
    strength = {}
    target = _ranks(sample.target)
    for name, column in sample.columns.items():
        ranks = _ranks(column)
        power = float(np.sqrt((ranks @ ranks) * (target @ target)))
        if np.ptp(column) > 0 and power > 0:
            strength[name] = abs(float(ranks @ target)) / power
    best = sorted(strength, key=lambda name: (-strength[name], name))[:most]
    return [name for name in sample.columns if name in best]


def _ranks(values: Array) -> Array:
    ranks: Array = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return np.asarray(ranks - ranks.mean())


def _terms(sample: Sample, names: list[str]) -> list[Term]:
    found = []
    for name in names:
        column = sample.columns[name]
        found += [Term(name, column), Term(f"{name}**2", column**2)]
        with np.errstate(all="ignore"):
            found += [
                Term(f"1/{name}", 1 / column),
                Term(f"1/{name}**2", 1 / column**2),
                Term(f"sqrt({name})", np.sqrt(column)),
                Term(f"log({name})", np.log(column)),
                Term(f"{name}**3", column**3),
            ]
    for place, left in enumerate(names):
        for right in names[place + 1 :]:
            a, b = sample.columns[left], sample.columns[right]
            with np.errstate(all="ignore"):
                found += [
                    Term(f"{left}*{right}", a * b),
                    Term(f"{left}/{right}", a / b),
                    Term(f"{right}/{left}", b / a),
                ]
    return [term for term in found if np.isfinite(term.values).all()]


def _sums(sample: Sample, names: list[str]) -> Iterator[str]:
    """Yield sums of one term, two terms and so on, with and without a constant."""
    terms = _terms(sample, names)
    root = np.sqrt(sample.weights)
    for constant in (True, False):
        chosen: list[Term] = []
        while len(chosen) < MOST_TERMS:
            fixed = [np.ones_like(root)] if constant else []
            basis = [*fixed, *(term.values for term in chosen)]
            rest = sample.target - _fitted(basis, sample.target, root) if basis else sample.target
            best = _next(terms, chosen, basis, rest, root)
            if best is None:
                break
            chosen.append(best)
            yield _sum_text(chosen, constant, sample, root)


def _next(
    terms: list[Term], chosen: list[Term], basis: list[Array], rest: Array, root: Array
) -> Term | None:
    """Return the term that explains most of what is left beside the basis."""
    table = np.column_stack([one * root for one in basis]) if basis else np.empty((len(root), 0))
    directions, _ = np.linalg.qr(table)
    best, most = None, 0.0
    for term in terms:
        values = term.values * root
        new = values - directions @ (directions.T @ values)
        size, power = float(values @ values), float(new @ new)
        if term not in chosen and power > LEAST_NEW * size > 0:
            gain = float(new @ (rest * root)) ** 2 / power
            if gain > most * (1 + 1e-12):
                best, most = term, gain
    return best


def _sum_text(chosen: list[Term], constant: bool, sample: Sample, root: Array) -> str:
    columns = [term.values for term in chosen] + [np.ones_like(root)] * constant
    weights = weights_of(columns, sample.target, root)
    texts = [f"{weight!r}*{term.text}" for weight, term in zip(weights, chosen, strict=False)]
    return " + ".join([*texts, repr(weights[-1])] if constant else texts)


def _power_laws(sample: Sample, names: list[str]) -> Iterator[str]:
    """Yield one product of powers, and the same with exponents rounded."""
    usable = [name for name in names if (sample.columns[name] > 0).all()]
    sign = _sign(sample.target)
    if not usable or not sign:
        return
    columns = [np.log(sample.columns[name]) for name in usable]
    size = sign * sample.target
    weights = weights_of([*columns, np.ones_like(size)], np.log(size), size)  # as errors of size
    for exponents in (weights[:-1], [round(one * ROUNDED) / ROUNDED for one in weights[:-1]]):
        parts = [f"{name}**({one!r})" for name, one in zip(usable, exponents, strict=True) if one]
        yield "*".join([repr(sign * float(np.exp(weights[-1]))), *parts])


def _exponentials(sample: Sample, names: list[str]) -> Iterator[str]:
    """Yield the exponential of a linear form."""
    sign = _sign(sample.target)
    if not names or not sign:
        return
    columns = [sample.columns[name] for name in names]
    size = sign * sample.target
    weights = weights_of([*columns, np.ones_like(size)], np.log(size), size)  # as errors of size
    inside = " + ".join(f"{one!r}*{name}" for one, name in zip(weights, names, strict=False))
    yield f"{sign * float(np.exp(weights[-1]))!r}*exp({inside})"


def _sign(target: Array) -> float:
    """Return the sign that all numbers have, or 0."""
    return 1.0 if (target > 0).all() else -1.0 if (target < 0).all() else 0.0


def weights_of(columns: list[Array], target: Array, root: Array | None = None) -> list[float]:
    """Return the weights of least squares; ``root`` are square roots of the rows' weights."""
    table = np.column_stack(columns)
    scale = np.abs(table).max(axis=0)
    scale[scale == 0] = 1.0
    left, right = table / scale, target
    if root is not None:
        left, right = left * root[:, None], right * root
    found, *_ = np.linalg.lstsq(left, right, rcond=None)
    return [float(one) for one in found / scale]


def _fitted(columns: list[Array], target: Array, root: Array) -> Array:
    return np.asarray(np.column_stack(columns) @ np.array(weights_of(columns, target, root)))
