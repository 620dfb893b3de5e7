"""The operation ``symbolic_regression.candidate``: another formula of a search as a predictor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from sciharness import read_table
from sciharness.errors import DataError
from sciharness.plugin import Context, Input, Outcome
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Expression, complexity, names_in, parse, render
from sciharness_publisher.predictor import Card, CardMetric, Column, FormulaModel, write_predictor
from sciharness_symbolic_regression.finishing.measures import measures
from sciharness_symbolic_regression.request import CandidateRequest
from sciharness_symbolic_regression.results import SCHEMA
from sciharness_symbolic_regression.samples.rows import Visible, visible
from sciharness_symbolic_regression.samples.sources import file_digest, versions

OTHER = "Not the formula that the search chose; it was taken by a person."
LIMITS = (
    "Holds inside the ranges of the training data; outside it is an extrapolation.",
    "Training metrics are those of rows that the constants were fitted on.",
)

Json = Mapping[str, Any]  # Any: JSON values


def run(request: CandidateRequest, context: Context) -> Outcome:
    """Write one candidate of input ``formulas`` as a predictor.

    The constants are those of formulas.json. Metrics with the prefix ``train_``
    are computed anew on the rows of input ``data``, those without are the
    search's own on its validation rows.

    Raises:
        DataError: there is no such candidate, or it belongs to another table.
    """
    formulas, data = context.inputs["formulas"], context.inputs["data"]
    found = _Found.read(formulas, request.candidate)
    table = read_table(data)
    rows = visible(table)
    if (found.target, found.features) != (table.target, table.features):
        raise DataError(
            f"its formulas are for {found.target} from {', '.join(found.features)}",
            where=formulas.name,
            hint="Bind the table that the search has learnt from.",
        )
    tree = parse(found.formula, rows.names)
    trained = _measured(tree, rows)
    model = _model(tree, rows, data, found, request)
    write_predictor(context, model, _card(data, context, found, rows, trained))
    metrics = {f"train_{name}": value for name, value in trained.items()} | found.validation
    note = f"Candidate {request.candidate} of {found.count}: {found.target} = {render(tree)}"
    return Outcome({**metrics, "complexity": float(complexity(tree))}, (note,))


@frozen
class _Found:
    """One candidate of formulas.json, and the search that it comes from."""

    target: str
    features: tuple[str, ...]
    formula: str
    validation: dict[str, float]
    validation_rows: int
    count: int
    chosen: bool

    @classmethod
    def read(cls, formulas: Input, index: int) -> _Found:
        """Return the candidate ``index`` of a formulas.json."""
        try:
            document = json.loads(formulas.path.read_text("utf-8"))
            if document["schema"] != SCHEMA:
                raise ValueError(document["schema"])
            candidates = document["candidates"]
            if not index < len(candidates):
                raise DataError(
                    f"there is no candidate {index}",
                    where=formulas.name,
                    hint=f"They are numbered from 0 to {len(candidates) - 1}.",
                )
            chosen = candidates[index]
            measured = {
                name: float(value)
                for name, value in chosen["metrics"]["validation"].items()
                if np.isfinite(value)
            }
            return cls(
                str(document["target"]),
                tuple(document["features"]),
                str(chosen["formula"]),
                measured,
                int(document["rows"]["validation"]),
                len(candidates),
                index == document["chosen"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"no {SCHEMA} document: {error}", where=formulas.name) from error


def _measured(tree: Expression, rows: Visible) -> dict[str, float]:
    predicted = evaluate(tree, rows.sample.columns)
    found = measures(np.broadcast_to(predicted, rows.sample.target.shape), rows.sample.target)
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _model(
    tree: Expression, rows: Visible, data: Input, found: _Found, request: CandidateRequest
) -> FormulaModel:
    units = data.table.units if data.table else {}
    used = names_in(tree)
    columns = (
        Column(
            name,
            symbol,
            float(rows.sample.columns[symbol].min()),
            float(rows.sample.columns[symbol].max()),
            units.get(name),
        )
        for symbol, name in rows.names.items()
        if symbol in used
    )
    unit = units.get(found.target)
    return FormulaModel(
        found.target, tuple(columns), render(tree), unit, request.out_of_domain, None
    )


def _card(
    data: Input, context: Context, found: _Found, rows: Visible, trained: Mapping[str, float]
) -> Card:
    metrics = (
        *(CardMetric(k, v, "training", rows.sample.rows) for k, v in trained.items()),
        *(
            CardMetric(k, v, "validation", found.validation_rows)
            for k, v in found.validation.items()
        ),
    )
    limits = LIMITS if found.chosen else (OTHER, *LIMITS)
    return Card(file_digest(data.path), context.seed, metrics, versions(), limits)
