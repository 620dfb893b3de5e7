"""Comparing candidates by cross-validation; scores made into calibrated probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_xsuite.model.families import Array, Candidate, fit

Fates = np.ndarray[Any, np.dtype[np.bool_]]
SMALLEST = 1e-12  # a probability never counts as nothing
PENALTY = 1e4  # of the calibration: as good as none


@frozen(eq=False)
class Judged:
    """A candidate with what it gave for rows that it had not seen.

    ``chances`` (rows,) are calibrated: the logistic function of ``slope``
    times score plus ``level``, fitted to held-out scores (Platt).
    """

    candidate: Candidate
    slope: float
    level: float
    chances: Array
    loss: float


def judge(
    every: Sequence[Candidate],
    unit: Array,
    survived: Fates,
    folds: int,
    seed: int,
    told: Callable[[float, str], None],
    stopped: Callable[[], bool],
) -> list[Judged]:
    """Return all candidates judged, the best first; when stopped, those that were judged."""
    from sklearn.model_selection import StratifiedKFold

    folds = min(folds, int(survived.sum()), int((~survived).sum()))
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(unit, survived))
    found: list[Judged] = []
    for place, candidate in enumerate(every):
        if found and stopped():
            break
        told(place / len(every), f"comparing {candidate.family}")
        scores = np.empty(len(survived))
        for train, held_out in parts:
            fitted = fit(candidate, unit[train], survived[train], seed)
            scores[held_out] = fitted.scores(unit[held_out])
        found.append(_judged(candidate, scores, survived))
    return sorted(found, key=lambda one: one.loss)


def _judged(candidate: Candidate, scores: Array, survived: Fates) -> Judged:
    from sklearn.linear_model import LogisticRegression

    size = float(np.abs(scores).mean()) or 1.0
    model = LogisticRegression(C=PENALTY).fit((scores / size)[:, None], survived)
    slope, level = float(model.coef_[0, 0]) / size, float(model.intercept_[0])
    chances = logistic(slope * scores + level)
    right = np.clip(np.where(survived, chances, 1.0 - chances), SMALLEST, None)
    return Judged(candidate, slope, level, chances, float(-np.log(right).mean()))


def logistic(values: Array) -> Array:
    """Return 1 / (1 + exp(-values))."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-values)))


def measures(chances: Array, survived: Fates) -> dict[str, float]:
    """Return balanced accuracy, accuracy, Brier score and area under the ROC curve."""
    from sklearn.metrics import roc_auc_score

    said = chances > 0.5
    recalls = [float((said[survived == fate] == fate).mean()) for fate in (True, False)]
    return {
        "balanced_accuracy": sum(recalls) / 2.0,
        "accuracy": float((said == survived).mean()),
        "brier": float(np.square(chances - survived).mean()),
        "auc": float(roc_auc_score(survived, chances)),
    }


def reliability(chances: Array, survived: Fates, bins: int = 10) -> list[tuple[float, float, int]]:
    """Return mean probability, share of survivors and rows of bins of like probability."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.clip(np.digitize(chances, edges) - 1, 0, bins - 1)
    return [
        (float(chances[place == one].mean()), float(survived[place == one].mean()), int(many))
        for one in range(bins)
        if (many := int((place == one).sum()))
    ]
