"""What a training tells beside the predictor: model_selection.json, card, metrics, notes."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from attrs import asdict, frozen

from sciharness.plugin import Input
from sciharness_publisher.predictor import Card, CardMetric, Interval
from sciharness_tabular.rows import Array, Rows
from sciharness_tabular.training.scores import metrics
from sciharness_tabular.training.selection import RULE, Selection, Tried, difference

SCHEMA = "model-selection-v1"
DISTRIBUTIONS = ("numpy", "scikit-learn", "scipy", "sciharness-publisher", "sciharness-tabular")
LOSS = {
    "regression": "mean squared error over the variance of the target, rows weighted",
    "classification": "mean over rows, weighted, of the sum over classes of (probability - 1 if "
    "the row is of the class else 0)^2",
}
STOPPED = {
    "time_limit": "the time limit was reached",
    "cancelled": "the run was cancelled; this is the best so far",
}

Json = dict[str, Any]  # Any: JSON values


@frozen(eq=False)
class Trained:
    """Everything that a training ended with.

    ``compared`` are the rows that models were compared on, ``rows`` those of
    the final fit; ``guess`` (rows, outputs) is the constant prediction that
    knows the target alone.
    """

    data: Input
    target: str
    rows: Rows
    compared: Rows
    folds: int
    by_group: bool
    selection: Selection
    final: Json
    guess: Array
    interval: Interval | None
    seed: int

    @property
    def task(self) -> Literal["regression", "classification"]:
        """What kind of target it is."""
        return "classification" if self.rows.classes else "regression"

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of the chosen model on held-out rows, and of the constant prediction."""
        found = dict(metrics(self.selection.choice.outputs, self.compared))
        constant = metrics(self.guess, self.compared)
        name = "accuracy" if self.rows.classes else "relative_rmse"
        prefix = "majority" if self.rows.classes else "mean"
        if name in constant:
            found[f"{prefix}_{name}"] = constant[name]
        if self.interval is not None:
            found["interval_half_width"] = self.interval.half_width
        return found


def selection_document(trained: Trained) -> Json:
    """Return model_selection.json: what was compared, how, and what came of it."""
    selection, rows = trained.selection, trained.compared
    return {
        "schema": SCHEMA,
        "task": trained.task,
        "target": trained.target,
        "classes": list(rows.classes),
        "rows": {"visible": trained.rows.count, "compared": rows.count},
        "weighted": trained.rows.weighted,
        "folds": {
            "count": trained.folds,
            "kept_together": "groups" if trained.by_group else "rows with equal features",
        },
        "loss": LOSS[trained.task],
        "rule": RULE,
        "candidates": [_candidate(one, selection, rows) for one in selection.tried],
        "not_compared": [{"model": name, "reason": why} for name, why in selection.passed_over],
        "chosen": selection.choice.family.name,
        "stop_reason": selection.stop_reason,
        "final_fit": trained.final,
        "metrics": trained.metrics,
        "seed": trained.seed,
    }


def _candidate(one: Tried, selection: Selection, rows: Rows) -> Json:
    best = min(selection.tried, key=lambda other: other.loss)
    excess, error = difference(one, best, rows)
    return {
        "model": one.family.name,
        "setting": dict(one.setting),
        "loss": one.loss,
        "above_least": excess,
        "standard_error": error,
        "metrics": dict(metrics(one.outputs, rows)),
        "settings": [{**setting, "loss": loss} for setting, loss in one.compared],
        "fits": [asdict(fit) for fit in one.fits],
    }


def card_of(trained: Trained) -> Card:
    """Return the model card's part that the publisher does not know itself."""
    found = metrics(trained.selection.choice.outputs, trained.compared)
    rows = trained.compared.count
    return Card(
        training_sha256=sha256_of(trained.data.path),
        seed=trained.seed,
        metrics=tuple(CardMetric(k, v, "validation", rows) for k, v in found.items()),
        versions=versions(),
        limits=tuple(_limits(trained)),
        task=trained.task,
        classes=trained.rows.classes,
    )


def _limits(trained: Trained) -> list[str]:
    together = "groups of rows" if trained.by_group else "rows"
    some = trained.compared.count < trained.rows.count
    judged = f"{trained.compared.count} of them" if some else "them"
    limits = [
        f"Trained on {trained.rows.count} rows; metrics are those of {trained.folds}-fold "
        f"cross-validation on {judged}, {together} held out.",
        "Metrics of the cross-validation also chose the model, so they are slightly too good.",
        "Outside the ranges of the columns nothing supports a prediction.",
        "It describes how columns go together in the training data, not causes.",
    ]
    if trained.selection.choice.family.name in ("boosting", "forest"):
        limits.append("Predictions are steps: they do not change outside the training ranges.")
    if trained.interval is not None:
        limits.append(
            "The band has one width everywhere; it holds its share of rows like the training "
            "data on the whole, not in each region."
        )
    elif not trained.rows.classes:
        limits.append("There is no band: too few rows for the share that was asked for.")
    if rare := _rare_classes(trained):
        limits.append(f"Too few rows to learn these classes: {', '.join(rare)}.")
    if trained.selection.stop_reason in STOPPED:
        limits.append(f"Not all models were compared: {STOPPED[trained.selection.stop_reason]}.")
    return limits


def _rare_classes(trained: Trained) -> list[str]:
    """Return the classes with fewer rows than there are folds."""
    counts = Counter(np.asarray(trained.rows.target).tolist()) if trained.rows.classes else {}
    names = enumerate(trained.rows.classes)
    return [repr(name) for place, name in names if counts[place] < trained.folds]


def notes_of(trained: Trained) -> tuple[str, ...]:
    """Return what a reader of the run should know, shortest first."""
    choice, found = trained.selection.choice, trained.metrics
    name = "balanced_accuracy" if trained.rows.classes else "relative_rmse"
    value = f"{found[name]:.4g}" if name in found else "undefined"
    compared = ", ".join(f"{one.family.name} {one.loss:.4g}" for one in trained.selection.tried)
    notes = [
        f"chose {choice.family.name} ({_words(choice.setting)}): cross-validated {name} {value}",
        f"cross-validated losses: {compared}",
    ]
    notes += [f"not compared: {model}, {why}" for model, why in trained.selection.passed_over]
    if trained.selection.stop_reason in STOPPED:
        notes.append(STOPPED[trained.selection.stop_reason])
    return tuple(notes)


def _words(setting: Mapping[str, float | int]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in setting.items()) or "no setting"


def versions() -> dict[str, str]:
    """Return the versions of what took part, Python's too."""
    found = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
