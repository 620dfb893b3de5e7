"""The operation ``train_survival_model``, step by step."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any

import numpy as np

from sciharness import Context, Outcome
from sciharness.errors import PluginError
from sciharness_publisher.derived import DerivedModel
from sciharness_publisher.inference.derived import build
from sciharness_publisher.predictor import (
    Card,
    CardMetric,
    Column,
    model_document,
    write_predictor,
)
from sciharness_xsuite.model.families import (
    MOST_KERNEL_ROWS,
    MOST_ROWS,
    Fitted,
    candidates,
    fit,
)
from sciharness_xsuite.model.judging import Judged, judge, logistic, measures
from sciharness_xsuite.model.request import TrainRequest
from sciharness_xsuite.model.rows import Rows, read_rows

COMPARED = 0.9  # of the progress, when the final fit begins
COMPARED_ROWS = 4_000
# Differences that rounding may make in sums over thousands of bells, of probabilities.
TOLERANCE = 1e-9
PROBES = 2_000
DISTRIBUTIONS = ("sciharness-xsuite", "scikit-learn", "numpy")


class ExportError(PluginError):
    """The exported model is not the model that scikit-learn holds."""


def run(request: TrainRequest, context: Context) -> Outcome:
    """Compare models on input ``data``, fit the best on all rows, write it.

    Raises:
        DataError: the rows cannot be trained on.
        ExportError: the exported model predicts anything else than scikit-learn.
    """
    from threadpoolctl import threadpool_limits

    rows = read_rows(context.inputs["data"])
    import sklearn.ensemble  # noqa: F401  only loaded libraries can be kept to one thread

    with threadpool_limits(1):  # sums then do not depend on the number of threads
        return _train(request, context, rows)


def _train(request: TrainRequest, context: Context, rows: Rows) -> Outcome:
    unit, chosen = rows.unit(), _compared(rows, context.seed)
    seed = context.seed % 2**32
    judged = judge(
        candidates(request.models, rows.columns),
        unit[chosen],
        rows.survived[chosen],
        request.folds,
        seed,
        lambda part, said: context.progress(COMPARED * part, said),
        lambda: context.cancelled,
    )
    best = judged[0]
    context.progress(COMPARED, "fitting", model=best.candidate.family, loss=best.loss)
    most = MOST_KERNEL_ROWS if best.candidate.family == "kernel" else MOST_ROWS
    kept = _thinned(rows.count, most, context.seed)
    fitted = fit(best.candidate, unit[kept], rows.survived[kept], seed)
    model = _model(request, rows, best, fitted)
    card = _card(context, rows, best, chosen)
    _verify(model_document(model, card), rows, best, fitted, seed)
    write_predictor(context, model, card)
    _write_choice(context, rows, judged)
    _draw(context, rows, best, chosen, model_document(model, card), judged)
    notes = _notes(rows, judged, model, chosen)
    if len(kept) < rows.count:
        notes.append(f"fitted to {len(kept):,} of {rows.count:,} rows, drawn by the seed")
    return Outcome(_metrics(rows, best, chosen), notes)


def _compared(rows: Rows, seed: int) -> Any:  # Any: places of rows
    return _thinned(rows.count, COMPARED_ROWS, seed)


def _thinned(count: int, most: int, seed: int) -> Any:  # Any: places of rows
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, 1]).permutation(count)[:most])


def _model(request: TrainRequest, rows: Rows, best: Judged, fitted: Fitted) -> DerivedModel:
    lows, highs = rows.features.min(axis=0), rows.features.max(axis=0)
    return DerivedModel(
        target=rows.target,
        columns=tuple(
            Column(name, name, float(low), float(high), unit)
            for name, unit, low, high in zip(rows.columns, rows.units, lows, highs, strict=True)
        ),
        centre=rows.centre.tolist(),
        scale=rows.scale.tolist(),
        features=best.candidate.features,
        shift=fitted.shift.tolist(),
        spread=fitted.spread.tolist(),
        body=fitted.body,
        slope=best.slope,
        level=best.level,
        out_of_domain=request.out_of_domain,
    )


def _card(context: Context, rows: Rows, best: Judged, chosen: Any) -> Card:  # Any: places
    found = measures(best.chances, rows.survived[chosen])
    digest = hashlib.sha256(context.inputs["data"].path.read_bytes()).hexdigest()
    return Card(
        training_sha256=digest,
        seed=context.seed,
        metrics=tuple(
            CardMetric(name, value, "validation", len(chosen)) for name, value in found.items()
        ),
        versions={name: version(name) for name in DISTRIBUTIONS},
        limits=(
            "It holds for the lattice, the number of turns and the loss criterion of its training "
            "data alone, and inside the ranges of its columns.",
            "It decides by start values; errors gather at the boundary of survival, which has "
            "structure finer than any sample.",
        ),
        task="classification",
        classes=rows.classes,
    )


def _verify(document: Any, rows: Rows, best: Judged, fitted: Fitted, seed: int) -> None:
    """Compare the exported model with scikit-learn, on rows and around them."""
    random = np.random.default_rng([seed, 2])
    around = random.uniform(-1.5, 1.5, (PROBES, len(rows.columns)))
    unit = np.concatenate([rows.unit()[_thinned(rows.count, PROBES, seed)], around])
    values = unit * rows.scale + rows.centre
    predict = build(json.loads(json.dumps(document, allow_nan=False)))
    found = logistic(predict(dict(zip(rows.columns, values.T, strict=True)))[:, 0])
    expected = logistic(best.slope * fitted.scores(unit) + best.level)
    worst = float(np.abs(found - expected).max())
    if not worst <= TOLERANCE:  # NaN is no agreement
        raise ExportError(
            f"exported probabilities differ from scikit-learn's by {worst:.3g}, at most "
            f"{TOLERANCE:g} is allowed",
            hint="Nothing was written. Leave this model out of `models`.",
        )


def _write_choice(context: Context, rows: Rows, judged: list[Judged]) -> None:
    document = {
        "schema": "survival-model-selection-v1",
        "rows": rows.count,
        "columns": list(rows.columns),
        "rule": "the least cross-validated log loss of calibrated probabilities",
        "candidates": [
            {
                "family": one.candidate.family,
                "setting": dict(one.candidate.setting),
                "features": len(one.candidate.features),
                "log_loss": one.loss,
            }
            for one in judged
        ],
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    path = context.output("model_selection.json", "analysis_result")
    path.write_text(text, encoding="utf-8", newline="\n")


def _metrics(rows: Rows, best: Judged, chosen: Any) -> dict[str, float]:  # Any: places
    found = measures(best.chances, rows.survived[chosen])
    found["log_loss"] = best.loss
    even, fates = rows.even[chosen], rows.survived[chosen]
    if fates[even].any() and not fates[even].all():
        over_domain = measures(best.chances[even], fates[even])
        found["balanced_accuracy_over_domain"] = over_domain["balanced_accuracy"]
        found["brier_over_domain"] = over_domain["brier"]
    return found


def _notes(rows: Rows, judged: list[Judged], model: DerivedModel, chosen: Any) -> list[str]:
    best = judged[0]
    found = _metrics(rows, best, chosen)
    notes = [
        f"{best.candidate.family} model with {_told(best)} chosen of {len(judged)} candidates by "
        f"log loss on {len(chosen):,} held-out rows",
        f"balanced accuracy {found['balanced_accuracy']:.4f} on held-out training rows",
        model.describe(),
    ]
    if "balanced_accuracy_over_domain" in found and not rows.even.all():
        even = int(rows.even[chosen].sum())
        notes[1] += (
            f", many of them close to the boundary; {found['balanced_accuracy_over_domain']:.4f} "
            f"on the {even:,} of them that are spread evenly over the domain"
        )
    return notes


def _told(one: Judged) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in one.candidate.setting.items())


def _draw(
    context: Context, rows: Rows, best: Judged, chosen: Any, document: Any, judged: list[Judged]
) -> None:
    from sciharness_xsuite.plots.model import write_model_part  # matplotlib

    write_model_part(context, rows, best, chosen, document, judged)
