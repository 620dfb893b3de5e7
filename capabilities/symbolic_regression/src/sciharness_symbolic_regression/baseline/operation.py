"""The operation ``symbolic_regression.baseline``: simple forms, chosen as a search chooses."""

from __future__ import annotations

from sciharness import read_table
from sciharness.plugin import Context, Outcome
from sciharness_publisher.expression import render
from sciharness_symbolic_regression.baseline.forms import formulas as closed_forms
from sciharness_symbolic_regression.baseline.subsets import best_sums
from sciharness_symbolic_regression.finished import Finished, write
from sciharness_symbolic_regression.finishing.baselines import linear_form, mean_form
from sciharness_symbolic_regression.finishing.candidates import Limits, gather
from sciharness_symbolic_regression.finishing.choosing import contenders
from sciharness_symbolic_regression.finishing.soundness import sound_only
from sciharness_symbolic_regression.finishing.weighing import choose_plain
from sciharness_symbolic_regression.formulas.written import tree_of
from sciharness_symbolic_regression.operation import formulas_of
from sciharness_symbolic_regression.request import BaselineRequest, SearchRequest
from sciharness_symbolic_regression.results import in_order
from sciharness_symbolic_regression.samples.rows import split, visible
from sciharness_symbolic_regression.samples.sample import derived_seed, thinned
from sciharness_symbolic_regression.searching.search import Searched

ROWS = 20_000
SAID = (
    "Bounded baseline: simple closed forms by least squares. No search was made, so a law of "
    "another form would not have been found."
)


def run(request: BaselineRequest, context: Context) -> Outcome:
    """Fit simple closed forms to the visible rows and write the chosen one as a predictor.

    Raises:
        DataError: the visible rows cannot be used.
    """
    settings = SearchRequest(
        max_complexity=request.max_complexity,
        validation=request.validation,
        stability_runs=0,
        out_of_domain=request.out_of_domain,
        units="ignore",
    )
    data = context.inputs["data"]
    everything = visible(read_table(data))
    rows, how = split(everything, settings.validation, context.seed, settings.loss)
    baselines = {"mean": mean_form(rows.train), "linear": linear_form(rows.train, settings.loss)}
    seed = derived_seed(context.seed, 7)
    look = thinned(rows.train, ROWS, seed)
    texts = (*closed_forms(look), *best_sums(look))
    context.progress(0.5, "choosing")
    known = [render(tree_of(form)) for form in baselines.values()]
    limits = Limits(settings.max_complexity)
    found = gather([*known, *texts], rows, limits, seed)
    members = sound_only(contenders(found, rows), rows, seed)
    choice = choose_plain(members, rows, everything.sample)
    formulas, chosen = in_order(formulas_of(choice, everything, rows, ()), choice.index)
    outcome = write(
        Finished(
            settings, context, data, everything, rows, how, "baseline",
            Searched(texts, len(texts), "max_evaluations", 1, 0), baselines,
            formulas, chosen,
        )
    )  # fmt: skip
    return Outcome(outcome.metrics, (SAID, *outcome.notes))
