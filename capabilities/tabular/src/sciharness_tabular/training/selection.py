"""Comparing families by cross-validation, and choosing one by a stated rule."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from attrs import define, evolve, field, frozen

from sciharness.errors import DataError
from sciharness_tabular.families.base import Family, FitRecord, Means, Setting, Trial
from sciharness_tabular.rows import Array, Codes, Rows
from sciharness_tabular.threads import one_thread
from sciharness_tabular.training.scores import losses

RULE = (
    "Of each model the setting with the least cross-validated loss; of the models, in the order "
    "linear, quadratic, cubic, boosting, forest, the first whose loss is above the least one by "
    "no more than one standard error of their difference, taken over groups of rows."
)
# A share of the target's variance below which two losses count as equal.
NEGLIGIBLE = 1e-12
# What the fit on all rows takes, its check and the writing, in folds.
FINAL_FIT = 2.0


class OutOfTime(Exception):
    """The time left is not enough for another fold and the final fit."""


class NoPrediction(Exception):
    """A model has no finite prediction for some held-out row, whatever its setting."""


@frozen(eq=False)
class Tried:
    """A family under its best setting: outputs for all rows, each by a fit without it.

    ``losses`` (rows,) are those of the best setting, ``compared`` the mean
    loss of every setting.
    """

    family: Family
    setting: Setting
    outputs: Array
    losses: Array
    compared: tuple[tuple[Setting, float], ...]
    fits: tuple[FitRecord, ...]

    @property
    def loss(self) -> float:
        """Mean loss."""
        return float(self.losses.mean())


@frozen(eq=False)
class Selection:
    """All that were tried, the place of the chosen one, and why others were not."""

    tried: tuple[Tried, ...]
    chosen: int
    passed_over: tuple[tuple[str, str], ...]
    stop_reason: str

    @property
    def choice(self) -> Tried:
        """The chosen family."""
        return self.tried[self.chosen]


@define
class Clock:
    """Says when no further fold may begin: at a time limit, or when cancelled."""

    cancelled: Callable[[], bool]
    limit: float | None
    now: Callable[[], float] = time.monotonic
    reason: str = field(default="", init=False)
    _fold_seconds: float = field(default=0.0, init=False)
    _started: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._started = self.now()

    def restart_folds(self) -> None:
        """Forget how long a fold takes: another model is next."""
        self._fold_seconds = 0.0

    def check(self) -> None:
        """Be asked between two fits.

        Raises:
            OutOfTime: the action was cancelled.
        """
        if self.cancelled():
            self.reason = "cancelled"
            raise OutOfTime

    def began(self) -> float:
        """Return the time, to be handed to ``ended`` after the fold.

        Raises:
            OutOfTime: it was cancelled, or another fold and the final fit
                would take too long.
        """
        self.check()
        if self.limit is not None:
            left = self.limit - (self.now() - self._started)
            if left <= max(0.0, (1.0 + FINAL_FIT) * self._fold_seconds):
                self.reason = "time_limit"
        if self.reason:
            raise OutOfTime
        return self.now()

    def ended(self, began: float) -> None:
        """Take note of how long a fold took."""
        self._fold_seconds = max(self._fold_seconds, self.now() - began)


def select(
    families: Sequence[Family],
    rows: Rows,
    folds: Codes,
    means: Means,
    clock: Clock,
    progress: Callable[[float, str], None],
) -> Selection:
    """Return what cross-validation over ``folds`` finds and chooses.

    Families come in the order of the rule. When time is up the rest is left
    out; the first that fits the rows is tried whatever the time.

    Raises:
        DataError: none of the families is for these rows.
    """
    tried: list[Tried] = []
    passed_over: list[tuple[str, str]] = []
    for place, family in enumerate(families):
        reason = family.reason_against(rows)
        progress(place / len(families), f"comparing {family.name}")
        if not reason:
            try:
                tried.append(cross_validate(family, rows, folds, means, clock if tried else None))
            except OutOfTime:
                reason = clock.reason
            except NoPrediction:
                reason = "no finite prediction for some held-out rows"
        if reason:
            passed_over.append((family.name, reason))
    if not tried:
        why = "; ".join(f"{name}: {reason}" for name, reason in passed_over)
        raise DataError(f"none of the models can be trained: {why}", where="data")
    return Selection(
        tuple(tried), choose(tried, rows), tuple(passed_over), clock.reason or "completed"
    )


def cross_validate(
    family: Family, rows: Rows, folds: Codes, means: Means, clock: Clock | None = None
) -> Tried:
    """Return the family under its best setting, judged by rows it was not fitted on.

    Folds run side by side, each in one thread: the libraries' own threads
    would wait for each other for longer than they work.

    Raises:
        OutOfTime: the clock says so; without a clock it never ends early.
        NoPrediction: the loss of no setting is finite.
    """
    if clock is not None:
        clock.restart_folds()
    alone = evolve(means, workers=1)

    def trials(fold: int) -> list[Trial]:
        began = clock.began() if clock is not None else 0.0
        train = rows.take(np.flatnonzero(folds != fold))
        with one_thread():
            found = []
            for trial in family.trials(train, rows.features[folds == fold], alone):
                found.append(trial)
                if clock is not None:
                    clock.check()  # a fold may hold many fits
        if clock is not None:
            clock.ended(began)
        return found

    with ThreadPoolExecutor(means.workers) as pool:
        return _tried(family, rows, folds, list(pool.map(trials, range(int(folds.max()) + 1))))


def _tried(family: Family, rows: Rows, folds: Codes, found: Sequence[Sequence[Trial]]) -> Tried:
    """Join what the folds gave; a setting that only some folds tried is no candidate."""
    outputs: dict[tuple[tuple[str, float | int], ...], Array] = {}
    for fold, trials in enumerate(found):
        for setting, values in (one for trial in trials for one in trial.outputs):
            empty = np.full((rows.count, values.shape[1]), np.nan)
            outputs.setdefault(tuple(setting.items()), empty)[folds == fold] = values
    with np.errstate(over="ignore", invalid="ignore"):
        every = {key: float(losses(values, rows).mean()) for key, values in outputs.items()}
    compared = {key: loss for key, loss in every.items() if math.isfinite(loss)}
    if not compared:
        raise NoPrediction
    best = min(compared, key=lambda key: compared[key])
    return Tried(
        family,
        dict(best),
        outputs[best],
        losses(outputs[best], rows),
        tuple((dict(key), loss) for key, loss in compared.items()),
        tuple(trial.record for trials in found for trial in trials),
    )


def choose(tried: Sequence[Tried], rows: Rows) -> int:
    """Return the place of the first that is as good as the best, see ``RULE``."""
    best = min(tried, key=lambda one: one.loss)
    for place, one in enumerate(tried):
        excess, error = difference(one, best, rows)
        if excess <= max(error, NEGLIGIBLE):
            return place
    return 0


def difference(one: Tried, best: Tried, rows: Rows) -> tuple[float, float]:
    """Return by how much the mean loss of ``one`` is above, and its standard error."""
    size = max(one.loss, best.loss) or 1.0  # squares of what is left stay finite
    apart = (one.losses - best.losses) / size
    sums = np.bincount(np.unique(rows.units, return_inverse=True)[1], weights=apart)
    count = len(sums)
    around = sums - sums.mean()
    error = math.sqrt(float(around @ around) * count / (count - 1)) / len(apart)
    return float(apart.mean()) * size, error * size
