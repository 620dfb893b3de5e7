"""The operation ``symbolic_regression.search``, step by step."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from attrs import define

from sciharness import read_table
from sciharness.plugin import Context, Input, Outcome
from sciharness_publisher.expression import render
from sciharness_symbolic_regression.baseline.subsets import best_sums
from sciharness_symbolic_regression.baselines import linear_form, mean_form
from sciharness_symbolic_regression.candidates import Candidate, Limits, Rows, front, gather
from sciharness_symbolic_regression.choosing import (
    choose,
    is_sound,
    probes_between,
    score,
    sound_only,
)
from sciharness_symbolic_regression.credibility import intervals
from sciharness_symbolic_regression.engines import engine_named
from sciharness_symbolic_regression.engines.base import Attempt, Engine
from sciharness_symbolic_regression.finished import Finished, write
from sciharness_symbolic_regression.fitting import fit
from sciharness_symbolic_regression.forms import Sum
from sciharness_symbolic_regression.guesses import Brought, candidates_of, guesses_of
from sciharness_symbolic_regression.laws.engine import Laws
from sciharness_symbolic_regression.portfolio import repeat_attempt
from sciharness_symbolic_regression.race import Stop
from sciharness_symbolic_regression.recognising import recognise
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.results import Formula, in_order, scores
from sciharness_symbolic_regression.rows import Visible, split, visible
from sciharness_symbolic_regression.sample import Sample, derived_seed, thinned
from sciharness_symbolic_regression.searching import (
    AFTER_SEARCH,
    Search,
    Searched,
    shown,
)
from sciharness_symbolic_regression.second import SecondLook
from sciharness_symbolic_regression.stability import Repeat, repeats, returns
from sciharness_symbolic_regression.units.known import KnownUnits, Viewed
from sciharness_symbolic_regression.written import order_of, tree_of

REDUCTION_ROUNDS = 6
REFIT_ROWS = 50_000  # above that only the chosen formula is fitted on every row
SEARCH_PART, STABILITY_PART = 0.7, 0.9  # of a time limit, when these steps have to end
AFTER_CHOICE, AFTER_STABILITY = 0.78, 0.95


def run(request: SearchRequest, context: Context) -> Outcome:
    """Find formulas for the target of input ``data`` and write them with a predictor.

    Raises:
        DataError: the visible rows cannot be searched.
        EngineUnavailable: the engine cannot run here.
        SearchFailed: the engine failed in every restart.
    """
    return search_on(request, context, context.inputs["data"])


def search_on(
    request: SearchRequest,
    context: Context,
    data: Input,
    noise: float = 0.0,
    second: SecondLook | None = None,
) -> Outcome:
    """Run the search on a table that need not be an input of the run.

    ``noise`` is an error of the target that is known beforehand; ``second``
    fits and judges candidates by other means than the rows of the table.
    """
    clock = _Clock(context, request.time_limit or context.time_limit, time.monotonic())
    engine = engine_named(request.engine)
    everything = visible(read_table(data), noise)
    rows, how = split(everything, request.validation, context.seed, request.loss)
    baselines = {"mean": mean_form(rows.train), "linear": linear_form(rows.train, request.loss)}
    units = _units(request, data, everything)
    guesses = guesses_of(context.inputs.get("guesses"), everything.names)
    viewed = Viewed(engine, units.views(rows.train))

    found = _search(viewed, request, rows, context, clock)
    context.progress(AFTER_SEARCH, "fitting and choosing")
    limits = _limits(request, hurried=found.stop_reason == "cancelled")
    seed = derived_seed(context.seed, 7)
    brought = Brought(guesses, candidates_of(guesses, rows, seed))
    judged = rows if second is None else second.rows(rows)
    members = _candidates(found, baselines, brought, rows, limits, seed, second)
    members = units.admissible(members, judged)
    index = choose(members, judged)
    context.progress(AFTER_CHOICE, "checking stability", formula=_text(members[index]))
    again = _repeat(engine, request, everything, members[index], limits, context, clock, found)
    context.progress(AFTER_STABILITY, "writing", formula=_text(members[index]))
    formulas, index = in_order(formulas_of(members, index, everything, rows, again, second), index)
    return write(
        Finished(
            request, context, data, everything, rows, how, engine.name, found, baselines,
            formulas, index, units, brought,
        )
    )  # fmt: skip


@define
class _Clock:
    """Splits a time limit between the steps."""

    context: Context
    limit: float | None
    started: float

    def until(self, part: float) -> Stop:
        """Return when a step has to end: at a part of the limit, or when cancelled."""
        deadline = None if self.limit is None else self.started + part * self.limit
        return Stop(deadline, lambda: self.context.cancelled)


def _units(request: SearchRequest, data: Input, everything: Visible) -> KnownUnits:
    table = data.table
    if table is None or table.target is None:
        return KnownUnits()
    return KnownUnits.of(table.units, everything.names, table.target, request.units)


def _search(
    engine: Viewed, request: SearchRequest, rows: Rows, context: Context, clock: _Clock
) -> Searched:
    sample = thinned(rows.train, request.search_rows, derived_seed(context.seed, 6))
    engines: dict[str, Engine] = {engine.name: engine, "laws": Viewed(Laws(), engine.views)}
    stop = clock.until(SEARCH_PART)
    return Search(engines, sample, request, context, stop, len(engine.views)).run(engine.name)


def _limits(request: SearchRequest, hurried: bool) -> Limits:
    """Return the limits; a cancelled run has two seconds left, so nothing is taken apart."""
    return Limits(request.max_complexity, request.nested, rounds=0 if hurried else REDUCTION_ROUNDS)


def _candidates(
    found: Searched,
    baselines: Mapping[str, Sum],
    brought: Brought,
    rows: Rows,
    limits: Limits,
    seed: int,
    second: SecondLook | None = None,
) -> list[Candidate]:
    """Return the sound members of the front; the mean is always one of them."""
    texts = [render(tree_of(form)) for form in baselines.values()]
    texts += best_sums(rows.train) if limits.rounds else ()  # none where time is short
    gathered = gather([*texts, *brought.texts, *found.formulas], rows, limits, seed)
    everyone = [*gathered, *brought.usable]
    if second is not None:
        everyone, rows = second.candidates(everyone), second.rows(rows)
    return sound_only(front(everyone, rows), rows, seed)


def _text(candidate: Candidate) -> str:
    return shown(render(tree_of(candidate.form)))


def _repeat(
    engine: Engine,
    request: SearchRequest,
    everything: Visible,
    chosen: Candidate,
    limits: Limits,
    context: Context,
    clock: _Clock,
    found: Searched,
) -> tuple[Repeat, ...]:
    attempt: Attempt | None = repeat_attempt(
        request, engine.name, chosen.form, found.found_by(chosen.form)
    )
    if attempt is None:
        return ()
    return repeats(
        Laws() if attempt.engine == "laws" else engine,
        everything,
        attempt,
        limits,
        request,
        context.seed,
        context.workers,
        clock.until(STABILITY_PART),
        lambda done: context.progress(
            AFTER_CHOICE + (AFTER_STABILITY - AFTER_CHOICE) * done / request.stability_runs,
            "checking stability",
            formula=_text(chosen),
        ),
    )


def formulas_of(
    members: Sequence[Candidate],
    chosen: int,
    everything: Visible,
    rows: Rows,
    again: Sequence[Repeat],
    second: SecondLook | None = None,
) -> tuple[Formula, ...]:
    """Return the candidates with constants of all visible rows and metrics as chosen by."""
    everywhere = everything.sample
    fewer = thinned(everywhere, REFIT_ROWS, seed=0)
    probes = probes_between(everywhere, seed=0)
    return tuple(
        _formula(
            member, everywhere if index == chosen else fewer, probes, everywhere, rows, again, second
        )
        for index, member in enumerate(members)
    )


def _formula(
    member: Candidate,
    sample: Sample,
    probes: Sample,
    everywhere: Sample,
    rows: Rows,
    again: Sequence[Repeat],
    second: SecondLook | None,
) -> Formula:
    if second is not None:
        return _formula_of(second, member, everywhere, rows, again)
    form = fit(member.form, sample, rows.loss)
    if form is None or not is_sound(form, probes):  # a refit may have moved a pole
        form = member.form
    plain, recognised = recognise(form, sample, rows.loss)
    if not is_sound(plain, probes):
        plain, recognised = form, ()
    return Formula(
        plain,
        member.form,
        intervals(plain, sample, rows.loss),
        scores(member.form, rows.train),
        scores(member.form, rows.validation),
        returns(form, again, everywhere, rows.loss),
        score(member, rows.validation.noise_floor),
        recognised,
        form,
    )


def _formula_of(
    second: SecondLook,
    member: Candidate,
    everywhere: Sample,
    rows: Rows,
    again: Sequence[Repeat],
) -> Formula:
    """Return a formula with the constants of a second look; metrics are those on the rows."""
    form, found = second.final(member.form)
    return Formula(
        form,
        member.form,
        tuple(found[place] for place in order_of(form)),
        scores(member.form, rows.train),
        scores(member.form, rows.validation),
        returns(form, again, everywhere, rows.loss),
        score(member, second.rows(rows).validation.noise_floor),
    )
