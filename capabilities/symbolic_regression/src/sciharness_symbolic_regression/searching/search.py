"""The search itself: restarts in children, progress while they run, one stop reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import Factory, define, evolve, field, frozen

from sciharness.errors import HarnessError
from sciharness.plugin import Context
from sciharness_publisher.expression import names_in, parse, render
from sciharness_symbolic_regression.engines.base import Attempt, Engine, Findings
from sciharness_symbolic_regression.finishing.fitting import values
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import Sum, shape
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.laws.fits import FIT_ROWS, Fit, fits_of, is_law
from sciharness_symbolic_regression.laws.smooth import smooth
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.samples.sample import Sample, thinned
from sciharness_symbolic_regression.searching.kept import Kept
from sciharness_symbolic_regression.searching.portfolio import (
    first_laws,
    growth_attempts,
    law_attempts,
    restarts,
)
from sciharness_symbolic_regression.searching.race import Job, Result, Say, Stop, race
from sciharness_symbolic_regression.searching.telling import Teller
from sciharness_symbolic_regression.units.known import with_views

PLAIN = 16  # nodes of a law that ends the search when it leaves nothing but noise
UNEXPLAINED = 0.97  # leave-one-out error, relative to its spread, of what is nothing but noise
MOST_COLUMNS = 10  # that noise is looked for in, otherwise those of the formula
GROWING = 16  # formulas that grow


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
    pieces: tuple[Piece, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether the search was ended before it had come to its end."""
        return self.stop_reason in {"cancelled", "time_limit"}

    def best_first(self) -> tuple[str, ...]:
        """Return the formulas of the piece with the smallest error first, longest first."""
        said = [piece.result.value for piece in self.pieces if piece.result.value]
        ranked = sorted(said, key=lambda value: float(value["error"]))
        texts = (text for value in ranked for text in reversed(value["formulas"]))
        return tuple(dict.fromkeys(texts))

    def failures(self) -> str:
        """Return one sentence on the restarts that failed and what the last one said, or none."""
        said = [piece.result.error for piece in self.pieces if piece.result.state == "failed"]
        if not said:
            return ""
        count = "1 piece of the search" if len(said) == 1 else f"{len(said)} pieces of the search"
        return f"{count} failed; the last said: {_last_line(said[-1])[:200]}"

    def found_by(self, form: Sum) -> Attempt | None:
        """Return the first attempt that found a structure; None if it was made of others."""
        for piece in self.pieces:
            for text in piece.formulas:
                try:
                    if shape(canonical(parse(text))) == shape(form):
                        return piece.attempt
                except Undefined:
                    continue
        return None


@frozen
class Piece:
    """An attempt and what came of it."""

    attempt: Attempt
    result: Result

    @property
    def formulas(self) -> tuple[str, ...]:
        """The formula texts, also of a piece that was ended early."""
        return tuple(self.result.value["formulas"]) if self.result.value else ()


@define
class Search:
    """The portfolio at work: laws first, what grows from them, then restarts of an engine.

    Every piece is a job in a child process of its own. The search ends early
    when a law is certain: it fits to the last digit, a plain one leaves nothing
    but noise, or a whole turn of restarts has found nothing better.
    """

    engines: Mapping[str, Engine]
    sample: Sample
    request: SearchRequest
    context: Context
    stop: Stop
    views: int = 0
    kept: Kept = field(default=Factory(lambda self: Kept(self.context), takes_self=True))
    pieces: list[Piece] = field(factory=list)
    score: float = math.inf
    settled: bool = False

    def run(self, engine: str) -> Searched:
        """Run the pieces and return what they found.

        Raises:
            SearchFailed: every piece that was started failed.
        """
        seed = self.context.seed
        laws = law_attempts(self.request, seed, self.views)
        engines = with_views(restarts(self.request, engine, seed), self.views)
        teller = Teller(self.context, sum(one.max_evaluations for one in (*laws, *engines)))
        first = first_laws(self.views)

        def enough(done: Sequence[Result]) -> bool:
            return self.found_law(done) or (len(done) == first and self.settles(done))

        if laws and not self.race(laws, teller, enough) and not self.settled:
            self.grow(teller)
        if not (self.exact() or self.settled):
            turn = len({one.operators for one in engines}) * (self.views + 1)
            for start in range(0, len(engines), turn):
                before = self.score
                self.race(engines[start : start + turn], teller, lambda done: False)
                if self.stop.reason() or self.exact() or (laws and self.score >= before):
                    break
            if laws and not self.exact():
                self.grow(teller)
        certain = "exact_fit" if self.exact() else "settled" if self.settled else None
        return _joined(self.pieces, self.stop.reason() or certain)

    def race(
        self,
        attempts: Sequence[Attempt],
        teller: Teller,
        enough: Callable[[Sequence[Result]], bool],
    ) -> bool:
        """Run attempts, note what came of them, and return whether a law fits exactly."""
        jobs = [job(self.engines[one.engine], self.sample, one) for one in attempts]
        jobs = self.kept.jobs(attempts, jobs)
        news = teller.listener([one.max_evaluations for one in attempts])
        news = self.kept.hearing(attempts, news)
        results = race(jobs, self.context.workers, self.stop, enough=enough, news=news)
        new = [Piece(one, result) for one, result in zip(attempts, results, strict=False)]
        self.pieces += new
        if self.stop.reason() is None:  # else nobody asks any more, and it takes its time
            self.score = min([self.score, *(self.best(piece) for piece in new)])
        return self.exact()

    def grow(self, teller: Teller) -> None:
        """Let the best formulas so far grow, in two lots."""
        if self.stop.reason():
            return
        fits = self.fits([text for piece in self.pieces for text in piece.formulas])
        lots = [[render(tree_of(one.form)) for one in fits[start:GROWING:2]] for start in (0, 1)]
        attempts = growth_attempts(self.request, self.context.seed, lots)
        if attempts:
            self.race(attempts, teller, self.found_law)

    def fits(self, texts: Sequence[str]) -> list[Fit]:
        """Return fits of formulas, the best by the information criterion first."""
        base = restarts(self.request, "", 0)[0]
        rows = thinned(self.sample, FIT_ROWS, self.context.seed)
        found = fits_of(map(parse, texts), rows, evolve(base, operators=()))
        floor = rows.noise_floor
        keyed = sorted((one.score(rows.rows, floor), key) for key, one in found.items())
        return [found[key] for _, key in keyed]

    def best(self, piece: Piece) -> float:
        """Return the best criterion among the formulas of a piece."""
        fits = self.fits(piece.formulas)
        return (
            fits[0].score(min(FIT_ROWS, self.sample.rows), self.sample.noise_floor)
            if fits
            else math.inf
        )

    def found_law(self, done: Sequence[Result]) -> bool:
        """Whether the last of some results has a plain formula that fits exactly."""
        value = done[-1].value
        if not value or not value["exact"]:
            return False
        return any(
            is_law(one, self.sample) and one.complexity <= self.request.max_complexity
            for one in self.fits(value["formulas"])
        )

    def settles(self, done: Sequence[Result]) -> bool:
        """Whether the best formula is plain and what it leaves follows no column."""
        fits = self.fits([text for one in done if one.value for text in one.value["formulas"]])
        rows = thinned(self.sample, FIT_ROWS, self.context.seed)
        self.settled = bool(fits) and fits[0].complexity <= PLAIN and is_noise(fits[0], rows)
        return self.settled

    def exact(self) -> bool:
        """Whether any formula so far fits to the last digit."""
        values = [piece.result.value for piece in self.pieces]
        return any(value["exact"] for value in values if value)


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


def is_noise(fit: Fit, rows: Sample) -> bool:
    """Whether a smooth function of the columns explains nothing of what a formula leaves."""
    names = names_in(tree_of(fit.form))
    columns = [column for name, column in rows.columns.items() if name in names]
    columns = columns if len(rows.columns) > MOST_COLUMNS else list(rows.columns.values())
    left = rows.target - values(fit.form, rows)
    found = smooth(np.array(columns), left * np.sqrt(rows.weights)) if columns else None
    return found is not None and found.error >= UNEXPLAINED


def _joined(pieces: Sequence[Piece], stopped: str | None) -> Searched:
    said = [piece.result.value for piece in pieces if piece.result.value is not None]
    failed = [piece.result for piece in pieces if piece.result.state == "failed"]
    if failed and not said and not stopped:
        raise SearchFailed(
            f"all {len(failed)} restarts failed; the last said: {_last_line(failed[-1].error)}",
            where="symbolic_regression.search",
            hint="Run `harness doctor` to see whether the engine works here.",
        )
    return Searched(
        tuple(dict.fromkeys(text for value in said for text in value["formulas"])),
        sum(value["evaluations"] for value in said),
        stopped or "max_evaluations",
        sum(piece.result.state == "done" for piece in pieces),
        len(failed),
        tuple(pieces),
    )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
