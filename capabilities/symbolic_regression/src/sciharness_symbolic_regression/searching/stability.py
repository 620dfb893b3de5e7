"""How often a structure comes back when the search is repeated on other rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen

from sciharness_publisher.expression import complexity, parse, render
from sciharness_symbolic_regression.baseline.subsets import best_sums
from sciharness_symbolic_regression.engines.base import Attempt, Engine
from sciharness_symbolic_regression.finishing.candidates import (
    FULL_LOOK_ROWS,
    Limits,
    gather,
)
from sciharness_symbolic_regression.finishing.choosing import contenders
from sciharness_symbolic_regression.finishing.fitting import fit, values
from sciharness_symbolic_regression.finishing.soundness import sound_only
from sciharness_symbolic_regression.finishing.weighing import choose_plain
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import Sum, shape
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.samples.rows import Visible, resampled
from sciharness_symbolic_regression.samples.sample import Sample, derived_seed, thinned
from sciharness_symbolic_regression.searching.kept import Kept
from sciharness_symbolic_regression.searching.race import Job, Say, Stop, race

COMPARED_ROWS = 500
WEIGHED_ROWS = 5_000  # on which plain constants are weighed in a repeated search
REWRITTEN = 2  # nodes by which another way to write a formula may be longer
SAME = 1e-4  # largest difference, relative to the target's spread, between equal formulas


@frozen
class Returned:
    """In how many of ``runs`` a structure was found again, and in how many it was chosen."""

    runs: int
    found: int
    chosen: int

    @property
    def share(self) -> float | None:
        """Share of runs that found the structure again; None without a run."""
        return self.found / self.runs if self.runs else None


@frozen
class Repeat:
    """One repeated search: structures on its front and the one its rule chose."""

    forms: tuple[Sum, ...]
    chosen: int


def repeats(
    engine: Engine,
    rows: Visible,
    attempt: Attempt,
    limits: Limits,
    request: SearchRequest,
    seed: int,
    workers: int,
    stop: Stop,
    kept: Kept,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Repeat, ...]:
    """Return repeated searches on random 80 % of the rows; fewer if stopped or failed.

    ``attempt`` says how to search; each run gets its own seed, rows and split.
    ``progress`` hears how many runs are done.
    """
    done: list[int] = []
    attempts = [
        evolve(attempt, seed=derived_seed(seed, 4, run)) for run in range(request.stability_runs)
    ]
    jobs = [_job(engine, rows, one, limits, request) for one in attempts]

    def news(index: int, said: Mapping[str, Any]) -> None:  # Any: JSON values
        done.append(index)
        progress(len(done))

    jobs = kept.jobs(attempts, jobs)
    results = race(jobs, workers, stop, news=kept.hearing(attempts, news))
    nonnegative = rows.sample.nonnegative()
    return tuple(
        Repeat(
            tuple(canonical(parse(text), nonnegative) for text in result.value["formulas"]),
            int(result.value["chosen"]),
        )
        for result in results
        if result.state == "done" and result.value is not None
    )


def returns(form: Sum, found: Sequence[Repeat], sample: Sample, loss: str) -> Returned:
    """Return how often a form came back: by structure, or by equal values after fitting."""
    look = thinned(sample, COMPARED_ROWS, seed=0)
    matches = [_matches(form, repeat, look, loss) for repeat in found]
    chosen = [match[repeat.chosen] for match, repeat in zip(matches, found, strict=True) if match]
    return Returned(len(found), sum(map(any, matches)), sum(chosen))


def _matches(form: Sum, repeat: Repeat, look: Sample, loss: str) -> list[bool]:
    mine, wanted = fit(form, look, loss), shape(form)
    largest = complexity(tree_of(form)) + REWRITTEN
    found = []
    for other in repeat.forms:
        same = shape(other) == wanted
        comparable = mine is not None and not same and complexity(tree_of(other)) <= largest
        theirs = fit(other, look, loss) if comparable else None
        if mine is not None and theirs is not None:
            gap = np.abs(values(mine, look) - values(theirs, look)).max()
            same = bool(gap <= SAME * look.spread)
        found.append(same)
    return found


def _job(
    engine: Engine, rows: Visible, attempt: Attempt, limits: Limits, request: SearchRequest
) -> Job:
    seed = attempt.seed

    def search(say: Say) -> Mapping[str, Any]:  # Any: JSON values
        part = resampled(rows, request.validation, seed, request.loss, FULL_LOOK_ROWS)
        searched = thinned(part.train, request.search_rows, seed)
        findings = engine.search(searched, attempt, lambda findings: None)
        texts = [*best_sums(part.train), *findings.formulas]  # as in the search itself
        found = gather(texts, part, limits, seed)
        members = sound_only(contenders(found, part), part, seed)
        if not members:
            return {"formulas": [], "chosen": 0}
        choice = choose_plain(members, part, thinned(part.joined(), WEIGHED_ROWS, seed))
        return {
            "formulas": [render(tree_of(member.form)) for member in choice.candidates],
            "chosen": choice.index,
        }

    return search
