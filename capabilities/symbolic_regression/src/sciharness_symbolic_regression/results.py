"""What a search hands over: candidates with metrics, intervals and credibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import asdict, frozen

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import (
    Expression,
    complexity,
    names_in,
    python_source,
    render,
)
from sciharness_symbolic_regression.finishing.credibility import Constant, Pattern
from sciharness_symbolic_regression.finishing.measures import Array, measures
from sciharness_symbolic_regression.finishing.recognising import Recognised
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import Sum, constants, shape, with_constants
from sciharness_symbolic_regression.formulas.written import latex_of, tree_of
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.searching.stability import Returned

SCHEMA = "formulas-v1"

Json = dict[str, Any]  # Any: JSON values


@frozen(eq=False)
class Formula:
    """A formula to show: constants fitted on all visible rows, metrics as chosen by.

    ``recognised`` are the constants that have a plain value now; ``constants`` are
    the others. ``fitted`` is the formula before, where that is another one.

    ``judged`` has the constants of the training rows; its metrics are honest
    on the validation rows. ``form`` has those of all visible rows. ``score`` is
    the information criterion of the rule; only differences matter.
    """

    form: Sum
    judged: Sum
    constants: tuple[Constant, ...]
    train: Mapping[str, float]
    validation: Mapping[str, float]
    returned: Returned
    score: float
    recognised: tuple[Recognised, ...] = ()
    fitted: Sum | None = None

    @property
    def tree(self) -> Expression:
        """The formula with its final constants."""
        return tree_of(self.form)


def in_order(formulas: Sequence[Formula], chosen: int) -> tuple[tuple[Formula, ...], int]:
    """Return formulas by complexity, of equal ones the shortest or the chosen one, and its place.

    Plain values make formulas shorter and may make two of them equal.
    """
    ranked = sorted(formulas, key=lambda one: (complexity(one.tree), one is not formulas[chosen]))
    kept: dict[str, Formula] = {_meaning(formulas[chosen]): formulas[chosen]}
    for one in ranked:
        kept.setdefault(_meaning(one), one)
    found = [one for one in ranked if one in kept.values()]
    return tuple(found), found.index(formulas[chosen])


def _meaning(formula: Formula) -> str:
    """Return a text that is the same for formulas that differ in how they are written only."""
    try:
        form = canonical(formula.tree)
    except Undefined:
        return render(formula.tree)
    return render(tree_of(with_constants(form, [float(f"{one:.8g}") for one in constants(form)])))


def scores(form: Sum, sample: Sample) -> Mapping[str, float]:
    """Return the measures of a form on a sample."""
    return measures(predicted(form, sample), sample.target)


def predicted(form: Sum, sample: Sample) -> Array:
    """Return what the written formula gives on a sample, shape (rows,)."""
    found = evaluate(tree_of(form), sample.columns)
    return np.broadcast_to(found, sample.target.shape)


def domain(tree: Expression, sample: Sample, names: Mapping[str, str]) -> dict[str, list[float]]:
    """Return the range of each column that the formula uses, by column name."""
    return {
        names[symbol]: [float(column.min()), float(column.max())]
        for symbol, column in sample.columns.items()
        if symbol in names_in(tree)
    }


def candidate_document(formula: Formula, sample: Sample, names: Mapping[str, str]) -> Json:
    """Return one candidate of formulas.json."""
    tree = formula.tree
    plain = {abs(one.value): one.text.removeprefix("-") for one in formula.recognised}
    return {
        "formula": render(tree),
        "latex": latex_of(tree, _short(names, names_in(tree)), plain),
        "python": python_source(tree),
        "complexity": complexity(tree),
        "constants": [asdict(constant) for constant in formula.constants],
        "recognised": [asdict(constant) for constant in formula.recognised],
        "as_fitted": render(tree_of(formula.fitted or formula.form)),
        "metrics": {"train": dict(formula.train), "validation": dict(formula.validation)},
        "domain": domain(tree, sample, names),
        "stability": formula.returned.share,
        "chosen_again": _share(formula.returned.chosen, formula.returned.runs),
        "structure": shape(formula.judged),
        "score": formula.score,
    }


def baseline_document(name: str, form: Sum, train: Sample, validation: Sample) -> Json:
    """Return one baseline of formulas.json."""
    return {
        "name": name,
        "formula": render(tree_of(form)),
        "metrics": {
            "train": dict(scores(form, train)),
            "validation": dict(scores(form, validation)),
        },
    }


def pattern_document(found: Pattern, names: Mapping[str, str]) -> Json:
    """Return the residual tests of formulas.json, columns by name."""
    return {
        "exact": found.exact,
        "runs_test": found.order,
        "spread_with_prediction": found.spread,
        "columns": {names[symbol]: chance for symbol, chance in found.columns.items()},
        "findings": list(sentences(found, names)),
    }


def sentences(found: Pattern, names: Mapping[str, str]) -> Sequence[str]:
    """Return the suspicious findings with column names."""
    renamed = {names[symbol]: chance for symbol, chance in found.columns.items()}
    return Pattern(found.exact, found.order, found.spread, renamed).sentences()


def _short(names: Mapping[str, str], used: Sequence[str]) -> dict[str, str]:
    """Return names of columns without their unit, where that still tells them apart."""
    short = {symbol: name.split(" [")[0].strip() for symbol, name in names.items()}
    every = list(short.values())
    return {
        symbol: short[symbol]
        if short[symbol] and every.count(short[symbol]) == 1
        else names[symbol]
        for symbol in used
    }


def _share(count: int, runs: int) -> float | None:
    return count / runs if runs else None
