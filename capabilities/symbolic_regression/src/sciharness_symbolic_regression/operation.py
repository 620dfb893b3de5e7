"""The operation ``symbolic_regression.search``, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sciharness import read_table
from sciharness.plugin import Context, Input, Outcome
from sciharness_publisher.expression import render
from sciharness_symbolic_regression.baseline.subsets import best_sums
from sciharness_symbolic_regression.engines import engine_named
from sciharness_symbolic_regression.engines.base import Attempt, Engine
from sciharness_symbolic_regression.finished import Finished, write
from sciharness_symbolic_regression.finishing.baselines import linear_form, mean_form
from sciharness_symbolic_regression.finishing.candidates import Candidate, Limits, front, gather
from sciharness_symbolic_regression.finishing.choosing import (
    Choice,
    choose,
    contenders,
)
from sciharness_symbolic_regression.finishing.credibility import intervals
from sciharness_symbolic_regression.finishing.fitting import fit
from sciharness_symbolic_regression.finishing.recognising import recognise
from sciharness_symbolic_regression.finishing.second import SecondLook
from sciharness_symbolic_regression.finishing.soundness import is_sound, probes_between, sound_only
from sciharness_symbolic_regression.finishing.weighing import choose_plain
from sciharness_symbolic_regression.formulas.forms import Sum
from sciharness_symbolic_regression.formulas.written import order_of, tree_of
from sciharness_symbolic_regression.laws.engine import Laws
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.results import Formula, in_order, scores
from sciharness_symbolic_regression.samples.handing import hand_over, take_over
from sciharness_symbolic_regression.samples.rows import Visible, split, visible
from sciharness_symbolic_regression.samples.sample import Rows, Sample, derived_seed, thinned
from sciharness_symbolic_regression.searching.apart import apart
from sciharness_symbolic_regression.searching.clock import Clock
from sciharness_symbolic_regression.searching.guesses import Brought, candidates_of, guesses_of
from sciharness_symbolic_regression.searching.kept import Kept
from sciharness_symbolic_regression.searching.portfolio import repeat_attempt
from sciharness_symbolic_regression.searching.search import Search, Searched
from sciharness_symbolic_regression.searching.stability import Repeat, repeats, returns
from sciharness_symbolic_regression.searching.telling import AFTER_SEARCH, shown
from sciharness_symbolic_regression.units.known import KnownUnits, Viewed

LARGE_FILE = 4 << 20  # bytes; from there on pandas reads the numbers and takes 70 MB itself
REDUCTION_ROUNDS = 6
REFIT_ROWS = 50_000  # above that only the chosen formula is fitted on every row
SEARCH_PART, GATHER_PART, STABILITY_PART = 0.7, 0.8, 0.9  # of a time limit, when steps end
CHOICE_PART = 0.84  # of a time limit: from then on plain constants are not weighed any more
ALL_ROWS_PART = 0.85  # of a time limit: from then on nothing is fitted on every row
REFIT_PART = 0.95  # from then on only the chosen formula is fitted again
LEAST_GATHER = 0.4  # seconds, even where a search has taken all the time
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
    clock = Clock(context, request.time_limit or context.time_limit)
    context.progress(0.01, "reading the table")
    engine = engine_named(request.engine)
    everything = _rows(data, noise)
    rows, how = split(everything, request.validation, context.seed, request.loss)
    baselines = {"mean": mean_form(rows.train), "linear": linear_form(rows.train, request.loss)}
    units = _units(request, data, everything)
    guesses = guesses_of(context.inputs.get("guesses"), everything.names)
    viewed = Viewed(engine, units.views(rows.train))

    sample = thinned(rows.train, request.search_rows, derived_seed(context.seed, 6))
    kept = Kept.of(context, sample)
    found = _search(viewed, request, sample, context, clock, kept)
    context.progress(AFTER_SEARCH, "fitting and choosing")
    limits = _limits(request, hurried=found.stop_reason == "cancelled")
    seed = derived_seed(context.seed, 7)
    brought = Brought(guesses, candidates_of(guesses, rows, seed))
    judged = rows if second is None else second.rows(rows)
    late = clock.late(GATHER_PART, LEAST_GATHER)
    members = _candidates(found, baselines, brought, rows, limits, seed, late, second)
    members = units.admissible(members, judged)
    if second is None:
        choice = choose_plain(members, rows, everything.sample, clock.late(CHOICE_PART))
    else:
        choice = choose(members, judged)
    context.progress(AFTER_CHOICE, "checking stability", formula=_text(choice.chosen))
    again = _repeat(engine, request, everything, choice.chosen, limits, context, clock, found, kept)
    context.progress(AFTER_STABILITY, "writing", formula=_text(choice.chosen))
    every_row = not clock.late(ALL_ROWS_PART)()
    late = clock.late(REFIT_PART)
    formulas = formulas_of(choice, everything, rows, again, second, every_row, late)
    formulas, index = in_order(formulas, choice.index)
    return write(
        Finished(
            request, context, data, everything, rows, how, engine.name, found, baselines,
            formulas, index, units, brought,
        )
    )  # fmt: skip


def _rows(data: Input, noise: float) -> Visible:
    """Return the rows of a table; what is needed to read a large one does not stay here."""

    def read() -> Visible:
        return visible(read_table(data), noise)

    if data.path.stat().st_size >= LARGE_FILE:
        found = apart(lambda stream: hand_over(read(), stream), take_over)
        if found is not None:
            return found
    return read()  # and raise what is wrong with the table


def _units(request: SearchRequest, data: Input, everything: Visible) -> KnownUnits:
    table = data.table
    if table is None or table.target is None:
        return KnownUnits()
    return KnownUnits.of(table.units, everything.names, table.target, request.units)


def _search(
    engine: Viewed,
    request: SearchRequest,
    sample: Sample,
    context: Context,
    clock: Clock,
    kept: Kept,
) -> Searched:
    engines: dict[str, Engine] = {engine.name: engine, "laws": Viewed(Laws(), engine.views)}
    stop = clock.until(SEARCH_PART)
    search = Search(engines, sample, request, context, stop, len(engine.views), kept)
    return search.run(engine.name)


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
    late: Callable[[], bool],
    second: SecondLook | None = None,
) -> list[Candidate]:
    """Return the sound contenders, the front among them; the mean is always one of them."""
    texts = [render(tree_of(form)) for form in baselines.values()]
    if found.stopped:  # there may be no time to look at all
        texts += [*brought.texts, *found.best_first(), *best_sums(rows.train)]
    else:
        texts += [*best_sums(rows.train), *brought.texts, *found.formulas]
    gathered = gather(texts, rows, limits, seed, late)
    everyone = [*gathered, *brought.usable]
    if second is not None:
        rows = second.rows(rows)
        return sound_only(front(second.candidates(everyone), rows), rows, seed)
    return sound_only(contenders(everyone, rows), rows, seed)


def _text(candidate: Candidate) -> str:
    return shown(render(tree_of(candidate.form)))


def _repeat(
    engine: Engine,
    request: SearchRequest,
    everything: Visible,
    chosen: Candidate,
    limits: Limits,
    context: Context,
    clock: Clock,
    found: Searched,
    kept: Kept,
) -> tuple[Repeat, ...]:
    stop = clock.until(STABILITY_PART)
    if stop.reason() is not None:
        return ()
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
        stop,
        kept,
        lambda done: context.progress(
            AFTER_CHOICE + (AFTER_STABILITY - AFTER_CHOICE) * done / request.stability_runs,
            "checking stability",
            formula=_text(chosen),
        ),
    )


def formulas_of(
    choice: Choice,
    everything: Visible,
    rows: Rows,
    again: Sequence[Repeat],
    second: SecondLook | None = None,
    every_row: bool = True,
    late: Callable[[], bool] = lambda: False,
) -> tuple[Formula, ...]:
    """Return the candidates with constants of all visible rows and metrics as chosen by.

    The chosen one is fitted first, on every row if wanted; those for which it is
    ``late`` stay as they are.
    """
    everywhere = everything.sample
    fewer = thinned(everywhere, REFIT_ROWS, seed=0)
    probes = probes_between(everywhere, seed=0)
    members, chosen = choice.candidates, choice.index
    found: dict[int, Formula] = {}
    for index in (chosen, *(place for place in range(len(members)) if place != chosen)):
        hurried = late()
        found[index] = _formula(
            members[index],
            choice.scores[index],
            everywhere if index == chosen and every_row else fewer,
            probes,
            everywhere,
            rows,
            again if index == chosen or not hurried else (),
            second,
            (index == chosen, index == chosen or not hurried),
        )
    return tuple(found[index] for index in range(len(members)))


def _formula(
    member: Candidate,
    score: float,
    sample: Sample,
    probes: Sample,
    everywhere: Sample,
    rows: Rows,
    again: Sequence[Repeat],
    second: SecondLook | None,
    fitted: tuple[bool, bool],
) -> Formula:
    """Return a formula; ``fitted`` says whether it is fitted again, and constants recognised."""
    if second is not None:
        return _formula_of(second, member, score, everywhere, rows, again)
    form = fit(member.form, sample, rows.loss) if any(fitted) else None
    if form is None or not is_sound(form, probes):  # a refit may have moved a pole
        form = member.form
    plain, recognised = recognise(form, sample, rows.loss) if fitted[1] else (form, ())
    if not is_sound(plain, probes):
        plain, recognised = form, ()
    return Formula(
        plain,
        member.form,
        intervals(plain, sample, rows.loss),
        scores(member.form, rows.train),
        scores(member.form, rows.validation),
        returns(form, again, everywhere, rows.loss),
        score,
        recognised,
        form,
    )


def _formula_of(
    second: SecondLook,
    member: Candidate,
    score: float,
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
        score,
    )
