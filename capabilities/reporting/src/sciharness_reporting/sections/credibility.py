"""Credibility of the chosen formula: what the search found out about it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from sciharness_reporting.document import Line
from sciharness_reporting.findings import Formulas, numbers
from sciharness_reporting.record import mapping, texts, whole
from sciharness_reporting.text import clean, count, label, number, real

_RARE = 0.5  # a structure that fewer repeated searches find is not singled out
_STOPPED = MappingProxyType(
    {
        "exact_fit": "because an exact fit was found",
        "max_evaluations": "at its bound of evaluations",
        "time_limit": "at its time limit",
        "cancelled": "because it was cancelled; this is the best so far",
    }
)


def credibility(formulas: Formulas) -> tuple[Line, ...]:
    """Return stability, residual tests, rule of choice and the end of the search."""
    return (*_stability(formulas), *_residuals(formulas), *_search(formulas))


def doubts(formulas: Formulas | None) -> tuple[str, ...]:
    """Return why the data may not bear out this very formula, in sentences."""
    if formulas is None or formulas.choice is None:
        return ()
    share = real(formulas.choice.stability)
    tests = mapping(formulas.plain.get("residuals"))
    found = [clean(one, 400) for one in texts(tests.get("findings"))]
    if share is not None and share < _RARE:
        searches = _searches(share, whole(formulas.plain.get("stability_runs")))
        found.insert(0, f"The structure came back in {searches}: the data do not single it out.")
    return tuple(found)


def _searches(share: float, runs: int) -> str:
    if not runs:
        return f"{number(100 * share, 3)} % of repeated searches"
    return f"{round(share * runs)} of {count(runs, 'repeated search')}"


def _stability(formulas: Formulas) -> Iterator[Line]:
    chosen = formulas.choice
    share = real(chosen.stability) if chosen is not None else None
    if chosen is None or share is None:
        return
    runs = whole(formulas.plain.get("stability_runs"))
    searches = _searches(share, runs)
    again = real(chosen.plain.get("chosen_again"))
    told = f", and chosen again in {round(again * runs)}" if again is not None and runs else ""
    yield f"The structure was found again in {searches} on other samples{told}."


def _residuals(formulas: Formulas) -> Iterator[Line]:
    tests = mapping(formulas.plain.get("residuals"))
    if tests.get("exact") is True:
        yield "The fit is exact: there are no residuals to speak of."
        return
    named = {
        "in their order along the prediction (runs test)": real(tests.get("runs_test")),
        "in their size against the prediction": real(tests.get("spread_with_prediction")),
    }
    for name, chance in numbers(tests.get("columns")).items():
        named[f"against {name}"] = chance
    told = "; ".join(
        f"{number(chance, 2)} {where}" for where, chance in named.items() if chance is not None
    )
    if told:
        yield f"Chance that pure noise looks as structured as these residuals: {told}."


def _search(formulas: Formulas) -> Iterator[Line]:
    if formulas.rule:
        yield f"Rule of choice: {formulas.rule.rstrip('.')}."
    search = mapping(formulas.plain.get("search"))
    if evaluations := whole(search.get("evaluations")):
        engine = label(search.get("engine"))
        by = f" by {engine}" if engine else ""
        yield f"The search used {count(evaluations, 'evaluation')}{by}{_ended(formulas)}."
    elif formulas.stop_reason:
        yield f"The search ended{_ended(formulas).removeprefix(' and ended')}."


def _ended(formulas: Formulas) -> str:
    reason = formulas.stop_reason
    return f" and ended {_STOPPED.get(reason, f'by {reason}')}" if reason else ""
