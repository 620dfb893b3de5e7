"""The operation ``tabular.train``, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from attrs import asdict

from sciharness import Context, Outcome, read_table
from sciharness.errors import DataError
from sciharness_publisher.predictor import Column, Interval, model_document, write_predictor
from sciharness_tabular.families.base import Family, Frame, Means
from sciharness_tabular.families.boosting import Boosting
from sciharness_tabular.families.forest import Forest
from sciharness_tabular.families.linear import Polynomials
from sciharness_tabular.requests import ALL_MODELS, ModelName, TrainRequest
from sciharness_tabular.rows import Array, Rows, rows_of
from sciharness_tabular.seeds import derived_seed
from sciharness_tabular.threads import one_thread
from sciharness_tabular.training.bands import band
from sciharness_tabular.training.folds import folds_of
from sciharness_tabular.training.record import Trained, card_of, notes_of, selection_document
from sciharness_tabular.training.selection import Clock, select
from sciharness_tabular.training.verify import verify

if TYPE_CHECKING:
    from sciharness.tables import TableArrays

COMPARED = 0.85  # of the progress, when the final fit begins


def run(request: TrainRequest, context: Context) -> Outcome:
    """Compare models on input ``data``, fit the chosen one on all rows, write it.

    Raises:
        DataError: the rows cannot be trained on.
        ExportError: the exported model predicts anything else than scikit-learn.
    """
    clock = Clock(lambda: context.cancelled, request.time_limit or context.time_limit)
    table = read_table(context.inputs["data"])
    if table.y is None:
        raise DataError("there is no target column", where="data", hint="Name the target.")
    rows = rows_of(table, request.balance)
    import sklearn.ensemble  # noqa: F401  only loaded libraries can be kept to one thread

    with one_thread():
        return _train(request, context, table, rows, clock)


def _train(
    request: TrainRequest, context: Context, table: TableArrays, rows: Rows, clock: Clock
) -> Outcome:
    means = Means(derived_seed(context.seed, 1), context.workers)
    compared = rows.thinned(request.selection_rows, derived_seed(context.seed, 2))
    folds = folds_of(compared, request.folds, derived_seed(context.seed, 3))
    selection = select(
        families(request),
        compared,
        folds,
        means,
        clock,
        lambda part, message: context.progress(COMPARED * part, message),
    )
    choice = selection.choice
    context.progress(COMPARED, "fitting", model=choice.family.name, loss=choice.loss)
    fitted = choice.family.fit(rows, choice.setting, means)
    interval = None if rows.classes else band(choice.outputs, compared, request.interval)
    model = fitted.model(_frame(request, table, rows, interval))
    trained = Trained(
        data=context.inputs["data"],
        target=model.target,
        rows=rows,
        compared=compared,
        folds=int(folds.max()) + 1,
        by_group=table.group is not None,
        selection=selection,
        final=asdict(fitted.record),
        guess=_guess(compared),
        interval=interval,
        seed=context.seed,
    )
    card = card_of(trained)
    verify(model_document(model, card), fitted, rows, derived_seed(context.seed, 4))
    _write(context, trained)
    write_predictor(context, model, card)
    return Outcome(trained.metrics, notes_of(trained))


def families(request: TrainRequest) -> tuple[Family, ...]:
    """Return the families that are asked for, in the order of the selection's rule."""
    every: Mapping[ModelName, Family] = {
        "linear": Polynomials("linear", 1),
        "quadratic": Polynomials("quadratic", 2),
        "cubic": Polynomials("cubic", 3),
        "boosting": Boosting(request.iterations),
        "forest": Forest(),
    }
    return tuple(every[name] for name in ALL_MODELS if name in request.models)


def _frame(
    request: TrainRequest, table: TableArrays, rows: Rows, interval: Interval | None
) -> Frame:
    lows, highs = rows.features.min(axis=0), rows.features.max(axis=0)
    columns = (
        Column(name, name, float(low), float(high), table.units.get(name))
        for name, low, high in zip(table.features, lows, highs, strict=True)
    )
    target = table.target or "target"
    unit = table.units.get(target)
    return Frame(target, unit, tuple(columns), request.out_of_domain, interval)


def _guess(rows: Rows) -> Array:
    """Return the mean of the target, or the shares of the classes, for every row."""
    if not rows.classes:
        return np.full((rows.count, 1), float(np.mean(rows.target)))
    counts = np.bincount(np.asarray(rows.target, dtype=np.int64), minlength=len(rows.classes))
    return np.tile(counts / rows.count, (rows.count, 1))


def _write(context: Context, trained: Trained) -> None:
    document = selection_document(trained)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    path = context.output("model_selection.json", "analysis_result")
    path.write_text(text, encoding="utf-8", newline="\n")
