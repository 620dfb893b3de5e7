"""How far to trust the formula: credibility, candidates, baselines."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_reporting import plots
from sciharness_reporting.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Figures,
    Line,
    Section,
    section,
    table,
)
from sciharness_reporting.findings import Candidate, Formulas, numbers
from sciharness_reporting.record import Json, mapping, objects
from sciharness_reporting.sections.credibility import credibility
from sciharness_reporting.shown import rounded_text
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, count, label, number

_MEASURES = ("relative_rmse", "nrmse_std", "rmse", "mae", "mse", "balanced_accuracy")
_MOST_CANDIDATES = 15
_DIGITS = 5


def trust(story: Story) -> Section | None:
    """Return what speaks for and against the chosen formula."""
    formulas = story.formulas
    if formulas is None:
        return None
    measure = _measure(formulas)
    evidence = credibility(formulas)
    return section(
        "trust",
        "How far to trust the formula",
        Bullets(evidence) if evidence else None,
        _pareto(formulas, measure),
        _candidates(formulas, measure),
        _baselines(formulas, measure),
    )


def _measure(formulas: Formulas) -> str:
    """Return the metric by which candidates are compared here."""
    names = [name for one in formulas.candidates for name in (*one.validation, *one.train)]
    return next((name for name in _MEASURES if name in names), names[0] if names else "")


def error_of(candidate: Candidate, measure: str) -> float | None:
    """Return a candidate's error on validation rows, else on training rows."""
    return candidate.validation.get(measure, candidate.train.get(measure))


def _pareto(formulas: Formulas, measure: str) -> Block | None:
    points: list[tuple[float, float]] = []
    chosen = None
    for place, one in enumerate(formulas.candidates):
        error = error_of(one, measure)
        if one.complexity is None or error is None:
            continue
        chosen = len(points) if place == formulas.chosen else chosen
        points.append((one.complexity, error))
    levels = {name: values[measure] for name, values in baselines(formulas) if measure in values}
    figure = plots.pareto(points, chosen, levels, f"{measure} on validation rows")
    return Figures((figure,)) if figure is not None and len(points) > 1 else None


def _candidates(formulas: Formulas, measure: str) -> Block | None:
    ordered = sorted(enumerate(formulas.candidates), key=lambda one: one[1].complexity or 0.0)
    shown = [
        one
        for number, one in enumerate(ordered)
        if number < _MOST_CANDIDATES or one[0] == formulas.chosen
    ]
    every = len(formulas.candidates)
    more = f", {len(shown)} of {every} shown" if every > len(shown) else ""
    marked = next((row for row, (place, _) in enumerate(shown) if place == formulas.chosen), None)
    return table(
        f"Candidates{more}",
        ("Formula", "Complexity", f"{measure}, training", f"{measure}, validation", ""),
        [_candidate(one, measure, place == formulas.chosen) for place, one in shown],
        numeric=("Complexity", f"{measure}, training", f"{measure}, validation"),
        marked=marked,
    )


def _candidate(one: Candidate, measure: str, chosen: bool) -> tuple[Line, ...]:
    return (
        Code(label(rounded_text(one.formula, _DIGITS), 160)),
        number(one.complexity),
        number(one.train.get(measure)),
        number(one.validation.get(measure)),
        Badge("chosen") if chosen else "",
    )


def baselines(formulas: Formulas) -> list[tuple[str, Mapping[str, float]]]:
    """Return plain predictions to compare with: their names and errors."""
    given = formulas.plain.get("baselines")
    named = [(label(name), mapping(one)) for name, one in mapping(given).items()]
    named += [(label(one.get("name")), one) for one in objects(given)]
    return [(name.replace("_", " "), _errors(one)) for name, one in named if name]


def _errors(one: Mapping[str, Json]) -> dict[str, float]:
    inner = mapping(one.get("metrics")) or one
    return numbers(inner.get("validation")) or numbers(inner.get("train")) or numbers(inner)


def _baselines(formulas: Formulas, measure: str) -> Block | None:
    known = [(name, values) for name, values in baselines(formulas) if measure in values]
    chosen = error_of(formulas.choice, measure) if formulas.choice is not None else None
    rows: list[tuple[Line, ...]] = [
        (name, number(values[measure]), _times(values[measure], chosen)) for name, values in known
    ]
    if chosen is not None and rows:
        rows.append(("the chosen formula", number(chosen), ""))
    return table(
        f"Baselines: {count(len(known), 'plain prediction')} to compare with",
        ("Prediction", measure, "Against the formula"),
        rows,
        numeric=(measure, "Against the formula"),
        marked=len(rows) - 1 if chosen is not None else None,
    )


def _times(error: float, chosen: float | None) -> str:
    return f"{number(error / chosen, 3)} times" if chosen else DASH
