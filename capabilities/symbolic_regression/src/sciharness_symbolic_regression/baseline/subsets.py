"""Sums of up to four simple terms, each set of terms tried: what a greedy choice can miss.

Terms that depend on each other mislead a search that adds one at a time; with
few simple terms every pair, and the triples and fours of the best, are fitted
from one table of products.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sciharness_symbolic_regression.baseline.forms import Term, strongest, weights_of
from sciharness_symbolic_regression.samples.sample import Sample, thinned

Array = NDArray[np.float64]

ROWS = 2_000
COLUMNS = 8
MOST = {2: 160, 3: 40, 4: 20}  # terms among which all sets of that size are tried
KEPT = 2  # sets of each size that are handed on
ALIKE = 1e-10  # sets whose terms hold so little of their own are left out


def best_sums(sample: Sample) -> tuple[str, ...]:
    """Return the best sums of one to four simple terms as texts, with a constant and without."""
    look = thinned(sample, ROWS, seed=0)
    terms = _terms(look, strongest(look, COLUMNS))
    found: list[str] = []
    for constant in (False, True):
        for chosen in _sets(look, terms, constant):
            found.append(_text(look, chosen, constant))
    return tuple(dict.fromkeys(found))


def _terms(sample: Sample, names: list[str]) -> list[Term]:
    columns = {name: sample.columns[name] for name in names}
    found = [Term(name, column) for name, column in columns.items()]
    found += [Term(f"{name}**2", column**2) for name, column in columns.items()]
    pairs = list(combinations(columns, 2))
    found += [Term(f"{a}*{b}", columns[a] * columns[b]) for a, b in pairs]
    with np.errstate(all="ignore"):
        found += [Term(f"1/{name}", 1 / column) for name, column in columns.items()]
        for a, b in pairs:
            found.append(Term(f"{a}/{b}", columns[a] / columns[b]))
            found.append(Term(f"{b}/{a}", columns[b] / columns[a]))
        found += [Term(f"{name}**3", column**3) for name, column in columns.items()]
    return [term for term in found if np.isfinite(term.values).all()][: MOST[2]]


def _sets(sample: Sample, terms: list[Term], constant: bool) -> list[list[Term]]:
    """Return the best sets of terms, few of each size."""
    root = np.sqrt(sample.weights)
    table = np.column_stack([term.values for term in terms]) if terms else np.empty((len(root), 0))
    target = sample.target
    if constant:
        table = table - np.average(table, axis=0, weights=sample.weights)
        target = target - np.average(target, weights=sample.weights)
    table = table * root[:, None]
    size = np.sqrt(np.square(table).sum(axis=0))
    usable = np.flatnonzero(size > 1e-12 * (size.max() if len(size) else 1.0))
    table = table[:, usable] / size[usable]
    products = table.T @ table
    shares = table.T @ (target * root)
    order = np.argsort(-np.square(shares), kind="stable")
    found = [[terms[usable[place]]] for place in order[:KEPT]]
    for count in (2, 3, 4):
        among = np.sort(order[: MOST[count]])
        if len(among) <= count:
            break
        sets, gains = _gains(among, count, products, shares)
        best = np.argsort(-gains, kind="stable")
        found += [[terms[usable[place]] for place in sets[one]] for one in best[:KEPT]]
        order = _by_best(sets, gains, len(usable))
    return found


def _gains(
    among: NDArray[np.intp], count: int, products: Array, shares: Array
) -> tuple[NDArray[np.intp], Array]:
    """Return all sets of ``count`` terms and how much of the target each explains."""
    sets = np.array(list(combinations(among.tolist(), count)))
    matrices = products[sets[:, :, None], sets[:, None, :]]
    right = shares[sets]
    sound = np.linalg.det(matrices) > ALIKE
    sets, matrices, right = sets[sound], matrices[sound], right[sound]
    if not len(sets):
        return sets, np.empty(0)
    solved = np.linalg.solve(matrices, right[:, :, None])[:, :, 0]
    return sets, np.einsum("ij,ij->i", solved, right)


def _by_best(sets: NDArray[np.intp], gains: Array, terms: int) -> NDArray[np.intp]:
    """Return the terms in the order of the best set that each is part of."""
    best = np.full(terms, -np.inf)
    for place in range(sets.shape[1] if len(sets) else 0):
        np.maximum.at(best, sets[:, place], gains)
    return np.argsort(-best, kind="stable")


def _text(sample: Sample, chosen: list[Term], constant: bool) -> str:
    columns = [term.values for term in chosen] + [np.ones_like(sample.target)] * constant
    weights = weights_of(columns, sample.target, np.sqrt(sample.weights))
    texts = [f"{weight!r}*{term.text}" for weight, term in zip(weights, chosen, strict=False)]
    return " + ".join([*texts, repr(weights[-1])] if constant else texts)
