"""Let formulas grow: a term is added where the errors that are left say so.

Any part of a formula may really be a sum of it and a term. To first order that
adds the term times the formula's slope by this part; the whole neighbourhood is
one table to screen, with the slopes by all constants as the basis, so that the
constants adapt. What grows well is fitted in full, cut back, and grows again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Expression, Number, parse
from sciharness_symbolic_regression.engines.base import Attempt, Findings, Report
from sciharness_symbolic_regression.finishing.reducing import reductions
from sciharness_symbolic_regression.formulas.forms import Sum, constants
from sciharness_symbolic_regression.formulas.tape import compiled
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.laws.fits import ITERATIONS, findings_of, fits_of
from sciharness_symbolic_regression.laws.library import small_table
from sciharness_symbolic_regression.laws.places import put, slopes_of
from sciharness_symbolic_regression.laws.pursuit import pursue
from sciharness_symbolic_regression.laws.terms import Terms, joined, listed
from sciharness_symbolic_regression.samples.sample import Sample

Array = NDArray[np.float64]

GROWING, ROUNDS = 5, 4  # formulas that grow in each round
SPROUTS = 8  # terms tried for each of them
MOST_CONSTANTS = 12
MOST_PLACES = 24


def grown(rows: Sample, attempt: Attempt, report: Report) -> Findings:
    """Return what grows from the formulas of the attempt."""
    starts = [parse(text) for text in attempt.starts]
    pool = fits_of(starts, rows, attempt)
    floor = rows.noise_floor
    alone = listed([(np.ones(rows.rows), Number(1.0))], rows.rows)
    small = joined([alone, small_table(rows.columns)])
    done: set[str] = set()
    spent = 0
    for _ in range(ROUNDS):
        ranked = sorted(pool.items(), key=lambda one: (one[1].score(rows.rows, floor), one[0]))
        if spent > attempt.max_evaluations or (ranked and ranked[0][1].error <= floor):
            break
        turn = [(key, one) for key, one in ranked if key not in done][:GROWING]
        done.update(key for key, _ in turn)
        trees = [
            tree
            for _, one in turn
            for tree in (*sprouts(one.form, rows, small), *reductions(tree_of(one.form)))
        ]
        found = fits_of(trees, rows, attempt)
        spent += small.count * len(turn) + ITERATIONS * len(found)
        for key, fitted in found.items():
            if key not in pool or fitted.error < pool[key].error:
                pool[key] = fitted
        report(findings_of(list(pool.values()), rows, attempt, spent))
    return findings_of(list(pool.values()), rows, attempt, spent)


def sprouts(form: Sum, rows: Sample, small: Terms) -> Iterator[Expression]:
    """Yield the formula with one term added, for the terms and places that promise most."""
    tape = compiled(form)
    if not 0 < tape.size <= MOST_CONSTANTS:
        return
    found, slopes = tape.values_and_slopes(np.array(constants(form)), rows.columns)
    tree = tree_of(form)
    places = slopes_of(tree, rows.columns)[:MOST_PLACES]
    if not places or not np.isfinite(slopes).all() or not np.isfinite(found).all():
        return
    table = np.empty((len(places), *small.values.shape))
    with np.errstate(all="ignore"):
        for sloped, (_, slope) in zip(table, places, strict=True):  # a large table, filled in place
            np.multiply(small.values, slope, out=sloped)
            sloped[~np.isfinite(sloped).all(axis=1)] = 0.0
    table = table.reshape(-1, rows.rows)
    terms = Terms(table, lambda index: small.tree(index % small.count))
    basis = np.vstack([np.ones_like(found), slopes])
    for one in pursue(terms, rows.target - found, basis, rows.weights, 1)[:SPROUTS]:
        index = one.chosen[0]
        strength = _strength(basis, table[index], rows.target - found)
        new = Binary("*", Number(strength), small.tree(index % small.count))
        yield put(tree, places[index // small.count][0], _plus(new))


def _plus(new: Expression) -> Callable[[Expression], Expression]:
    return lambda old: Binary("+", old, new)


def _strength(basis: Array, term: Array, rest: Array) -> float:
    columns = np.vstack([basis, term])
    size = np.sqrt((columns * columns).sum(axis=1))
    size[size == 0.0] = 1.0
    found, *_ = np.linalg.lstsq(columns.T / size, rest, rcond=1e-12)
    return float(found[-1] / size[-1])
