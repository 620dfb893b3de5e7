"""Folds: groups and equal rows stay together, classes and rows are spread evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_tabular.rows import Rows, equal_rows
from sciharness_tabular.training.folds import folds_of


def rows(units: np.ndarray, target: np.ndarray | None = None, classes: int = 0) -> Rows:
    count = len(units)
    return Rows(
        np.zeros((count, 1)),
        np.zeros(count) if target is None else target,
        np.ones(count),
        units,
        tuple(f"class {number}" for number in range(classes)),
    )


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=200), st.integers(2, 10), st.integers(0, 9)
)
@settings(max_examples=60, deadline=None)
def test_no_unit_is_on_two_sides_and_no_fold_is_empty(
    units: list[int], count: int, seed: int
) -> None:
    known = np.array([*units, 31, 32])

    folds = folds_of(rows(known), count, seed)

    pairs = set(zip(known.tolist(), folds.tolist(), strict=True))
    assert len(pairs) == len(set(known.tolist()))
    assert set(folds.tolist()) == set(range(min(count, len(pairs))))


def test_single_rows_give_folds_of_equal_size_in_an_order_of_the_seed() -> None:
    one, other = (folds_of(rows(np.arange(103)), 5, seed) for seed in (0, 1))

    assert sorted(np.bincount(one).tolist()) == [20, 20, 21, 21, 21]
    assert (one != other).any()


def test_every_fold_has_its_share_of_a_rare_class() -> None:
    target = np.array([0] * 95 + [1] * 10)

    folds = folds_of(rows(np.arange(105), target, classes=2), 5, 0)

    assert np.bincount(folds[target == 1]).tolist() == [2] * 5


def test_rows_with_equal_features_are_one_unit_whatever_their_target() -> None:
    features = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0], [-0.0, 5.0], [2.0, 1.0]])

    units = equal_rows(features)

    assert units[0] == units[2]
    assert units[1] == units[3]
    assert len(set(units.tolist())) == 3


def test_whole_numbers_that_differ_are_different_rows() -> None:
    # The bits of small integers differ in few places: a plain weighted sum of them collides.
    grid = np.array([[a, b, c] for a in range(60) for b in range(60) for c in range(30)], float)

    assert len(np.unique(equal_rows(grid))) == len(grid)


def test_one_group_alone_is_refused() -> None:
    with pytest.raises(DataError, match="at least two groups"):
        folds_of(rows(np.zeros(20, np.int64)), 5, 0)


def test_a_class_that_fills_all_other_groups_is_refused() -> None:
    units, target = np.array([0] * 10 + [1] * 10), np.array([0] * 10 + [1] * 10)

    with pytest.raises(DataError, match="only 'class 1' is left") as refused:
        folds_of(rows(units, target, classes=2), 5, 0)

    assert "spreads the classes" in refused.value.hint
