"""The search itself: restarts in children, progress while they run, one stop reason."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from sciharness.errors import HarnessError
from sciharness.plugin import Context
from sciharness_publisher.expression import parse, render
from sciharness_symbolic_regression.algebra import Undefined, canonical
from sciharness_symbolic_regression.engines.base import Attempt, Engine, Findings
from sciharness_symbolic_regression.forms import Sum, exponents_in, functions_in, mapped
from sciharness_symbolic_regression.race import Job, Result, Say, Stop, race
from sciharness_symbolic_regression.request import SearchRequest, alphabets
from sciharness_symbolic_regression.sample import Sample, derived_seed
from sciharness_symbolic_regression.written import tree_of

SEARCH_SHARE = 0.75  # of max_evaluations; the rest is for stability runs
LEAST_EVALUATIONS = 20_000  # fewer restarts rather than shorter ones
LENGTH_SHARE = 0.75  # engines count a coefficient and its column as one node
TELL_SECONDS = 1.0
SHOWN_CHARACTERS = 160
BEFORE_SEARCH, AFTER_SEARCH = 0.02, 0.7  # fractions of the whole operation


class SearchFailed(HarnessError):
    """No restart of a search came to its end."""

    kind = "plugin"
    exit_code = 1


@frozen
class Searched:
    """What all restarts gave: formula texts in order, and how the search ended."""

    formulas: tuple[str, ...]
    evaluations: int
    stop_reason: str
    restarts: int
    failed: int


def plan(request: SearchRequest, engine: str, seed: int) -> tuple[Attempt, ...]:
    """Return the restarts: alphabets in turn, each with its own seed and evaluation bound."""
    share = SEARCH_SHARE if request.stability_runs else 1.0
    total = int(share * request.max_evaluations)
    count = max(1, min(request.restarts, total // LEAST_EVALUATIONS))
    sets = alphabets(request)
    return tuple(
        Attempt(
            engine,
            derived_seed(seed, 3, index),
            sets[index % len(sets)],
            max(5, round(LENGTH_SHARE * request.max_complexity)),
            total // count,
            request.loss,
        )
        for index in range(count)
    )


def repeat_attempt(request: SearchRequest, engine: str, form: Sum) -> Attempt | None:
    """Return how stability runs search: the smallest alphabet that can express the formula."""
    if request.stability_runs == 0:
        return None
    needed = operators_in(form)
    sets = sorted(alphabets(request), key=len)
    total = int((1 - SEARCH_SHARE) * request.max_evaluations)
    return Attempt(
        engine,
        0,
        next((one for one in sets if needed <= set(one)), sets[-1]),
        max(5, round(LENGTH_SHARE * request.max_complexity)),
        max(total // request.stability_runs, LEAST_EVALUATIONS // 2),
        request.loss,
    )


def operators_in(form: Sum) -> set[str]:
    """Return the operators beyond + - * / that a formula cannot be built without."""
    names = {base.name for base in functions_in(form)}
    for exponent in exponents_in(form):
        if isinstance(exponent, float) or exponent.denominator > 2:
            names.add("pow")
        elif exponent.denominator == 2:
            names.add("sqrt")
    return names


def search(
    engine: Engine, sample: Sample, attempts: Sequence[Attempt], context: Context, stop: Stop
) -> Searched:
    """Run the restarts and return what they found.

    With an exact fit the search ends once every alphabet had its turn.

    Raises:
        SearchFailed: every restart that was started failed.
    """
    teller = _Teller(context, [attempt.max_evaluations for attempt in attempts])
    turns = len({attempt.operators for attempt in attempts})

    def enough(done: Sequence[Result]) -> bool:
        exact = any(result.value and result.value["exact"] for result in done)
        return exact and len(done) >= turns

    results = race(
        [job(engine, sample, attempt) for attempt in attempts],
        context.workers,
        stop,
        enough=enough,
        news=teller.hear,
    )
    return _joined(results, stop.reason())


def job(engine: Engine, sample: Sample, attempt: Attempt) -> Job:
    """Return one attempt as a job for a child process."""

    def run(say: Say) -> Mapping[str, Any]:  # Any: JSON values
        return _as_json(
            engine.search(sample, attempt, lambda findings: say(_as_json(findings))), ended=True
        )

    return run


def _as_json(findings: Findings, ended: bool = False) -> dict[str, Any]:  # Any: JSON values
    return {
        "formulas": list(findings.formulas),
        "evaluations": findings.evaluations,
        "error": findings.error,
        "exact": findings.exact,
        "ended": ended,
    }


def _joined(results: Sequence[Result], stopped: str | None) -> Searched:
    said = [result.value for result in results if result.value is not None]
    failed = [result for result in results if result.state == "failed"]
    if failed and not said and not stopped:
        raise SearchFailed(
            f"all {len(failed)} restarts failed; the last said: {_last_line(failed[-1].error)}",
            where="symbolic_regression.search",
            hint="Run `harness doctor` to see whether the engine works here.",
        )
    exact = any(value["exact"] for value in said)
    return Searched(
        tuple(dict.fromkeys(text for value in said for text in value["formulas"])),
        sum(value["evaluations"] for value in said),
        stopped or ("exact_fit" if exact else "max_evaluations"),
        sum(result.state == "done" for result in results),
        len(failed),
    )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


@define
class _Teller:
    """Turns what restarts say into progress: fraction, best so far, seconds left."""

    context: Context
    planned: Sequence[int]
    spent: dict[int, float] = field(factory=dict)
    started: float = field(factory=time.monotonic)
    error: float = float("inf")
    formula: str = ""
    told: float = float("-inf")

    def hear(self, index: int, said: Mapping[str, Any]) -> None:  # Any: JSON values
        part = 1.0 if said["ended"] else min(1.0, said["evaluations"] / self.planned[index])
        self.spent[index] = part * self.planned[index]
        if said["formulas"] and said["error"] < self.error:
            self.error, self.formula = said["error"], said["formulas"][-1]
        if time.monotonic() - self.told >= TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        self.told = time.monotonic()
        share = min(sum(self.spent.values()) / sum(self.planned), 1.0)
        fraction = BEFORE_SEARCH + share * (AFTER_SEARCH - BEFORE_SEARCH)
        left = (self.told - self.started) * (1 - fraction) / fraction
        best: dict[str, float | str] = {"remaining_seconds": round(left, 1)}
        if self.formula:
            best.update(formula=shown(self.formula), error=self.error)
        self.context.progress(fraction, "searching", **best)


def shown(text: str) -> str:
    """Return a formula with constants to four digits, cut to one line."""
    try:
        form = mapped(canonical(parse(text)), lambda value: float(f"{value:.4g}"))
    except Undefined:
        return text[:SHOWN_CHARACTERS]
    line = render(tree_of(form))
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
