"""Choosing among models: the stated rule, and what happens when time is up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen

from sciharness.errors import DataError
from sciharness_tabular.families.base import FitRecord, Means, Setting, Trial
from sciharness_tabular.rows import Array, Rows
from sciharness_tabular.training.folds import folds_of
from sciharness_tabular.training.selection import Clock, Selection, select

COUNT = 200
TARGET = np.random.default_rng(0).normal(size=COUNT)
NOISE = np.random.default_rng(1).normal(size=COUNT)
ROWS = Rows(np.arange(COUNT, dtype=float)[:, None], TARGET, np.ones(COUNT), np.arange(COUNT))


@frozen
class Oracle:
    """A family that knows the truth but for errors of a given size, one per setting."""

    name: str
    errors: dict[int, Array]
    against: str = ""
    log: list[str] = field(factory=list)  # which families were asked for a fold

    def reason_against(self, rows: Rows) -> str:
        return self.against

    def trials(self, rows: Rows, held_out: Array, means: Means) -> Iterator[Trial]:
        self.log.append(self.name)
        places = held_out[:, 0].astype(int)
        record = FitRecord("oracle", {}, rows.count, 1)
        for setting, errors in self.errors.items():
            yield Trial(record, (({"size": setting}, (TARGET + errors)[places][:, None]),))

    def fit(self, rows: Rows, setting: Setting, means: Means) -> Any:
        raise AssertionError("only the operation fits the chosen family")


def chosen(*families: Oracle, clock: Clock | None = None) -> Selection:
    folds = folds_of(ROWS, 5, 0)
    clock = clock or Clock(lambda: False, None)
    return select(families, ROWS, folds, Means(0, 1), clock, lambda part, message: None)


def test_the_least_loss_wins_where_it_is_clearly_less() -> None:
    found = chosen(Oracle("plain", {0: NOISE}), Oracle("better", {0: 0.5 * NOISE}))

    assert found.choice.family.name == "better"


def test_a_simpler_model_wins_that_cannot_be_told_from_the_best() -> None:
    other = np.random.default_rng(2).normal(size=COUNT)
    simple, best = Oracle("simple", {0: 1.05 * NOISE}), Oracle("best", {0: other})
    assert np.mean(other**2) < np.mean((1.05 * NOISE) ** 2)

    found = chosen(simple, best)

    assert found.choice.family.name == "simple"


def test_agreement_beyond_reason_is_no_difference() -> None:
    found = chosen(Oracle("simple", {0: 1e-8 * NOISE}), Oracle("best", {0: 1e-12 * NOISE}))

    assert found.choice.family.name == "simple"


def test_within_a_family_the_least_loss_decides() -> None:
    found = chosen(Oracle("one", {1: NOISE, 2: 0.99 * NOISE, 3: 1.5 * NOISE}))

    assert found.choice.setting == {"size": 2}
    assert [setting["size"] for setting, _ in found.choice.compared] == [1, 2, 3]


def test_losses_of_one_group_count_as_one_when_the_difference_is_judged() -> None:
    # The same 200 differences: as 200 rows they settle it, as 4 groups they do not.
    grouped = Rows(ROWS.features, TARGET, ROWS.weights, np.arange(COUNT) // 50)
    uneven = np.where(np.arange(COUNT) < 50, 3.0, 0.9) * np.sign(NOISE)
    families = (Oracle("simple", {0: uneven}), Oracle("best", {0: np.sign(NOISE)}))
    means, clock = Means(0, 1), Clock(lambda: False, None)

    single, joined = (
        select(families, rows, folds_of(rows, 4, 0), means, clock, lambda part, message: None)
        for rows in (ROWS, grouped)
    )

    assert single.choice.family.name == "best"
    assert joined.choice.family.name == "simple"


def test_what_is_not_for_the_rows_is_named_with_its_reason() -> None:
    found = chosen(Oracle("first", {0: NOISE}), Oracle("second", {}, against="too wide"))

    assert found.passed_over == (("second", "too wide"),)
    assert found.stop_reason == "completed"


def test_rows_that_no_model_is_for_are_refused() -> None:
    with pytest.raises(DataError, match="none of the models can be trained: only: too wide"):
        chosen(Oracle("only", {}, against="too wide"))


def test_a_cancelled_run_keeps_the_first_model_and_starts_no_other() -> None:
    log: list[str] = []
    families = [Oracle(name, {0: NOISE}, log=log) for name in ("first", "second", "third")]

    found = chosen(*families, clock=Clock(lambda: True, None))

    assert found.choice.family.name == "first"
    assert set(log) == {"first"}
    assert found.stop_reason == "cancelled"
    assert found.passed_over == (("second", "cancelled"), ("third", "cancelled"))


def test_a_cancelled_run_stops_between_two_fits_of_a_fold() -> None:
    log: list[str] = []
    asked = iter([False, True])  # when the second model begins, and after its first fit
    families = [Oracle(name, {0: NOISE, 1: NOISE, 2: NOISE}, log=log) for name in ("a", "b", "c")]

    found = chosen(*families, clock=Clock(lambda: next(asked, True), None))

    assert log == ["a"] * 5 + ["b"]
    assert found.choice.family.name == "a"
    assert found.passed_over == (("b", "cancelled"), ("c", "cancelled"))


def test_no_fold_begins_that_would_leave_no_time_for_the_final_fit() -> None:
    seconds = iter(np.arange(0.0, 1000.0, 5.0).tolist())  # every look at the clock: 5 s later
    log: list[str] = []
    families = [Oracle(name, {0: NOISE}, log=log) for name in ("first", "second")]

    found = chosen(*families, clock=Clock(lambda: False, 40.0, lambda: next(seconds)))

    # Of the second: folds at 5 and 15 s; at 25 s another 5 s and twice that for the
    # final fit would end at 40 s, the limit.
    assert log == ["first"] * 5 + ["second"] * 2
    assert found.stop_reason == "time_limit"
    assert found.choice.family.name == "first"
