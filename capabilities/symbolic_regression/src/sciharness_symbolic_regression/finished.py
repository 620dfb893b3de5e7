"""Write a finished search: formulas.json, the predictor of the chosen formula, metrics, notes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
from attrs import field, frozen

from sciharness.plugin import Context, Input, Outcome
from sciharness_publisher.expression import complexity, names_in, render
from sciharness_publisher.predictor import (
    Card,
    CardMetric,
    Column,
    FormulaModel,
    Interval,
    write_predictor,
)
from sciharness_symbolic_regression.finishing.choosing import RULE
from sciharness_symbolic_regression.finishing.credibility import (
    BAND_LEVEL,
    LEVEL,
    Pattern,
    band,
    pattern,
)
from sciharness_symbolic_regression.finishing.recognising import said_of
from sciharness_symbolic_regression.formulas.forms import Sum, constants
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.results import (
    SCHEMA,
    Formula,
    Json,
    baseline_document,
    candidate_document,
    pattern_document,
    predicted,
    scores,
    sentences,
)
from sciharness_symbolic_regression.samples.noise import noise_of, sentence
from sciharness_symbolic_regression.samples.rows import Visible
from sciharness_symbolic_regression.samples.sample import Rows
from sciharness_symbolic_regression.samples.sources import file_digest, versions
from sciharness_symbolic_regression.searching.guesses import Brought
from sciharness_symbolic_regression.searching.guesses import document as guesses_document
from sciharness_symbolic_regression.searching.search import Searched
from sciharness_symbolic_regression.units.known import KnownUnits

STOPPED = {
    "exact_fit": "an exact fit was found",
    "settled": "a plain formula leaves nothing but noise",
    "max_evaluations": "the evaluation bound was reached",
    "time_limit": "the time limit was reached",
    "cancelled": "the run was cancelled; this is the best so far",
}


@frozen(eq=False)
class Finished:
    """Everything that a search ended with; ``chosen`` is the index of the chosen formula."""

    request: SearchRequest
    context: Context
    data: Input
    everything: Visible
    rows: Rows
    split: str
    engine: str
    searched: Searched
    baselines: Mapping[str, Sum]
    formulas: tuple[Formula, ...]
    chosen: int
    known_units: KnownUnits = field(factory=KnownUnits)
    brought: Brought = field(factory=Brought)

    @property
    def best(self) -> Formula:
        """The chosen formula."""
        return self.formulas[self.chosen]

    @property
    def target(self) -> str:
        """Name of the target column."""
        return (self.data.table.target if self.data.table else None) or "target"


def write(finished: Finished) -> Outcome:
    """Write all artifacts and return metrics and notes."""
    found = pattern(finished.best.form, finished.everything.sample)
    metrics = _metrics(finished)
    notes = _notes(finished, found)
    document = _document(finished, found, metrics)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    path = finished.context.output("formulas.json", "analysis_result")
    path.write_text(text, encoding="utf-8", newline="\n")
    write_predictor(finished.context, _model(finished), _card(finished, found))
    return Outcome(metrics, notes)


def _document(finished: Finished, found: Pattern, metrics: Mapping[str, float]) -> Json:
    names, sample = finished.everything.names, finished.everything.sample
    train, validation = finished.rows.train, finished.rows.validation
    return {
        "schema": SCHEMA,
        "target": finished.target,
        "unit": _unit(finished, finished.target),
        "features": list(names.values()),
        "units": {name: unit for name in names.values() if (unit := _unit(finished, name))},
        "symbols": {symbol: name for symbol, name in names.items() if symbol != name},
        "candidates": [
            candidate_document(one, sample, names) | finished.known_units.document(one.tree)
            for one in finished.formulas
        ],
        "chosen": finished.chosen,
        "guesses": guesses_document(
            finished.brought, [one.judged for one in finished.formulas], finished.rows
        ),
        "rule": RULE,
        "stop_reason": finished.searched.stop_reason,
        "baselines": [
            baseline_document(name, form, train, validation)
            for name, form in finished.baselines.items()
        ],
        "residuals": pattern_document(found, names),
        "metrics": dict(metrics),
        "rows": {"visible": sample.rows, "train": train.rows, "validation": validation.rows},
        "split": finished.split,
        "weighted": finished.everything.weighted,
        "loss": finished.request.loss,
        "noise": None if (noise := noise_of(sample)) is None else noise.document(),
        "confidence_level": LEVEL,
        "stability_runs": finished.best.returned.runs,
        "search": {
            "engine": finished.engine,
            "evaluations": finished.searched.evaluations,
            "restarts": finished.searched.restarts,
            "failed_restarts": finished.searched.failed,
            "seed": finished.context.seed,
        },
    }


def _metrics(finished: Finished) -> dict[str, float]:
    """Return the metrics of the chosen formula; those without prefix are on validation rows."""
    best = finished.best
    found = dict(best.validation)
    found.update({f"train_{name}": value for name, value in best.train.items()})
    found["complexity"] = float(complexity(best.tree))
    if best.returned.share is not None:
        found["stability"] = best.returned.share
    for name, form in finished.baselines.items():
        on_validation = scores(form, finished.rows.validation)
        if "relative_rmse" in on_validation:
            found[f"{name}_relative_rmse"] = on_validation["relative_rmse"]
    found.update(_weighted_metrics(finished))
    return found


def _weighted_metrics(finished: Finished) -> dict[str, float]:
    everything, validation = finished.everything, finished.rows.validation
    found = {}
    if everything.weighted:
        errors = predicted(finished.best.judged, validation) - validation.target
        power = float((validation.weights * np.square(validation.target)).sum())
        if power > 0:
            error = float((validation.weights * np.square(errors)).sum())
            found["weighted_relative_rmse"] = float(np.sqrt(error / power))
    if everything.sigma is not None:
        errors = predicted(finished.best.form, everything.sample) - everything.sample.target
        freedom = max(everything.sample.rows - len(constants(finished.best.form)), 1)
        chi_square = float(np.square(errors / everything.sigma).sum())
        found["reduced_chi_square"] = chi_square / freedom
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _model(finished: Finished) -> FormulaModel:
    best, validation = finished.best, finished.rows.validation
    width = band(predicted(best.judged, validation) - validation.target)
    used = names_in(best.tree)
    return FormulaModel(
        finished.target,
        tuple(
            Column(
                name,
                symbol,
                float(finished.everything.sample.columns[symbol].min()),
                float(finished.everything.sample.columns[symbol].max()),
                _unit(finished, name),
            )
            for symbol, name in finished.everything.names.items()
            if symbol in used
        ),
        render(best.tree),
        _unit(finished, finished.target),
        finished.request.out_of_domain,
        None if width is None else Interval(BAND_LEVEL, width),
    )


def _card(finished: Finished, found: Pattern) -> Card:
    best = finished.best
    metrics = (
        *(CardMetric(k, v, "training", finished.rows.train.rows) for k, v in best.train.items()),
        *(
            CardMetric(k, v, "validation", finished.rows.validation.rows)
            for k, v in best.validation.items()
        ),
    )
    return Card(
        file_digest(finished.data.path),
        finished.context.seed,
        metrics,
        versions(),
        tuple(_limits(finished, found)),
    )


def _limits(finished: Finished, found: Pattern) -> list[str]:
    return [
        "Holds inside the ranges of the training data; outside it is an extrapolation.",
        "The structure was found by search; intervals of constants assume that it is right.",
        *said_of(finished.best.recognised),
        *sentences(found, finished.everything.names),
        *_doubts(finished),
    ]


def _notes(finished: Finished, found: Pattern) -> list[str]:
    best, rows = finished.best, finished.rows.validation.rows
    return [
        f"Chosen: {finished.target} = {render(best.tree)}",
        *said_of(best.recognised),
        f"Search ended because {STOPPED[finished.searched.stop_reason]}.",
        *_comparison(finished, rows),
        *sentences(found, finished.everything.names),
        *_doubts(finished),
        *finished.known_units.sentences(finished.best.tree),
        *_beside_noise(finished),
        *([finished.searched.failures()] if finished.searched.failed else []),
    ]


def _comparison(finished: Finished, rows: int) -> list[str]:
    """Return one sentence that sets the formula beside the baselines."""
    errors = {"formula": finished.best.validation.get("relative_rmse")}
    for name, form in finished.baselines.items():
        errors[name] = scores(form, finished.rows.validation).get("relative_rmse")
    told = ", ".join(f"{name} {value:.3g}" for name, value in errors.items() if value is not None)
    return [f"relative_rmse on {rows} validation rows: {told}."] if told else []


def _beside_noise(finished: Finished) -> list[str]:
    sample = finished.everything.sample
    told = sentence(noise_of(sample), scores(finished.best.form, sample)["rmse"])
    return [told] if told else []


def _doubts(finished: Finished) -> list[str]:
    """Return why the data may not single out this formula."""
    best, found = finished.best, []
    if not names_in(best.tree):
        found.append("No formula predicts the validation rows better than the mean does.")
    elif not _beats_linear(finished):
        found.append("A linear fit predicts the validation rows as well.")
    share = best.returned.share
    if share is not None and share < 0.5:
        found.append(
            f"The structure came back in {best.returned.found} of {best.returned.runs} repeated "
            "searches: the data do not single it out."
        )
    return found


def _beats_linear(finished: Finished) -> bool:
    linear = scores(finished.baselines["linear"], finished.rows.validation)["rmse"]
    return finished.best.validation["rmse"] < linear


def _unit(finished: Finished, column: str) -> str | None:
    table = finished.data.table
    return table.units.get(column) if table else None
