"""The routing policy: its bounds hold on new cases, and it never answers unmeasured."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_file_solver.training.families import Box
from sciharness_file_solver.training.policy import Policy, conformal, fewest, measured, regions

UNIT = Box(("x", "y"), np.zeros(2), np.ones(2))


def errors_at(rows: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Errors of a model that is good on the left and bad on the right."""
    size = np.where(rows[:, 0] < 0.6, 0.01, 1.0)
    return np.abs(draw.normal(size=len(rows))) * size


@pytest.fixture(scope="module")
def policy() -> Policy:
    """A policy drawn on 400 cases and measured on 400 others."""
    draw = np.random.default_rng(1)
    learned, kept = draw.random((400, 2)), draw.random((400, 2))
    drawn = regions(UNIT, learned, errors_at(learned, draw), 400, 0.1, 0.05, 0)
    return measured(drawn, kept, errors_at(kept, draw))


def test_good_regions_answer_and_bad_ones_do_not(policy: Policy) -> None:
    rows = np.random.default_rng(2).random((4000, 2))
    answered = policy.answered(rows)

    assert answered[rows[:, 0] < 0.5].all()
    assert not answered[rows[:, 0] > 0.7].any()


def test_bounds_hold_for_new_cases_at_the_promised_rate(policy: Policy) -> None:
    draw = np.random.default_rng(3)
    rows = draw.random((20_000, 2))
    missed = (errors_at(rows, draw) > policy.bounds(rows)).mean()

    # 5 % promised; the bound itself comes from 400 cases: 3 sqrt(0.05 * 0.95 / 400) = 0.033.
    assert missed < 0.05 + 0.033


def test_every_region_was_measured_often_enough(policy: Policy) -> None:
    leaves = [place for place, column in enumerate(policy.feature) if column < 0]

    assert len(leaves) > 1
    assert all(policy.cases[leaf] >= fewest(0.05) for leaf in leaves)


def test_a_region_without_enough_kept_cases_never_answers() -> None:
    drawn = Policy(1.0, 0.05, [-1], [0.0], [0])

    policy = measured(drawn, np.random.default_rng(0).random((18, 2)), np.zeros(18))

    assert not policy.answered(np.full((1, 2), 0.5)).any()


def test_failures_of_the_solver_count_as_misses() -> None:
    drawn = Policy(1.0, 0.05, [-1], [0.0], [0])
    errors = np.where(np.arange(100) < 10, np.inf, 0.0)

    policy = measured(drawn, np.random.default_rng(0).random((100, 2)), errors)

    assert not policy.answered(np.full((1, 2), 0.5)).any()


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=200),
    st.sampled_from([0.01, 0.05, 0.1, 0.3]),
)
def test_the_bound_is_exceeded_by_at_most_the_promised_share(
    errors: list[float], rate: float
) -> None:
    ordered = np.sort(np.array(errors))

    bound = conformal(ordered, rate, math.inf)

    if bound is None:
        assert len(errors) < fewest(rate)
    else:
        # Of n + 1 cases alike, at most floor((n + 1) rate) lie above the bound.
        assert (ordered > bound).sum() <= math.floor((len(errors) + 1) * rate + 1e-9)


def test_a_few_large_errors_keep_a_region_from_answering() -> None:
    errors = np.sort(np.array([0.0] * 97 + [50.0] * 3))

    bound = conformal(errors, 0.05, 1.0)

    # The quantile is 0, but the root mean square is sqrt(0.03) * 50 = 8.66.
    assert bound == pytest.approx(8.66, abs=0.01)
