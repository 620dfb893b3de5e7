"""Intervals, bands, residual tests, choice and symbols, each against a known answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.finishing.candidates import Limits, candidate_of, front, gather
from sciharness_symbolic_regression.finishing.choosing import choose
from sciharness_symbolic_regression.finishing.credibility import band, intervals, pattern
from sciharness_symbolic_regression.finishing.fitting import fit
from sciharness_symbolic_regression.finishing.measures import measures
from sciharness_symbolic_regression.finishing.soundness import is_sound, probes_between
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import constants, shape
from sciharness_symbolic_regression.samples.rows import Visible, resampled, split, symbols_of
from sciharness_symbolic_regression.samples.sample import Rows, Sample
from sciharness_symbolic_regression.searching.stability import Repeat, returns

LINE = canonical(parse("2*x + 1"))


def line(rows=200, noise=0.3, seed=0, weights=None):
    random = np.random.default_rng(seed)
    x = random.uniform(0, 10, rows)
    y = 2.0 * x + 1.0 + random.normal(0, noise, rows)
    return Sample({"x": x}, y, np.ones(rows) if weights is None else weights)


def test_intervals_equal_those_of_textbook_regression():
    sample = line()
    x, y = sample.columns["x"], sample.target
    form = fit(LINE, sample)

    slope, constant = intervals(form, sample)

    table = np.column_stack([x, np.ones(200)])
    wanted, (squares,), *_ = np.linalg.lstsq(table, y, rcond=None)
    deviation = math.sqrt(squares / 198 * np.linalg.inv(table.T @ table)[0, 0])
    assert (slope.value, constant.value) == pytest.approx(tuple(wanted), rel=1e-9)
    # Student's t with 198 degrees of freedom, two-sided 95 %: 1.97202
    assert slope.high - slope.value == pytest.approx(1.97202 * deviation, rel=1e-5)


def test_intervals_cover_as_often_as_they_say():
    inside = 0
    for seed in range(200):
        sample = line(rows=30, seed=seed)
        slope, _ = intervals(fit(LINE, sample), sample)
        inside += slope.low <= 2.0 <= slope.high

    # 95 % of 200 with a binomial standard deviation of 3.1, four of them allowed
    assert abs(inside - 190) <= 12.4


def test_a_constant_that_the_data_do_not_determine_gets_a_wide_finite_interval():
    sample = line()
    twice = Sample(sample.columns | {"z": 2 * sample.columns["x"]}, sample.target, sample.weights)
    form = fit(canonical(parse("1*x + 1*z + 1")), twice)

    found = intervals(form, twice)

    assert all(math.isfinite(one.low) and math.isfinite(one.high) for one in found)
    assert found[0].high - found[0].low > 1000


def test_a_band_holds_its_share_of_new_errors():
    random = np.random.default_rng(0)
    held = [abs(random.normal()) <= band(random.normal(size=40)) for _ in range(4000)]

    # at least 90 %; binomial standard deviation 0.5 %
    assert 0.885 <= np.mean(held) <= 0.94
    assert band(random.normal(size=5)) is None


def test_random_residuals_raise_no_suspicion():
    sample = line()

    found = pattern(fit(LINE, sample), sample)

    assert found.sentences() == ()
    assert not found.exact


def test_a_bend_that_was_missed_is_seen():
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 200)
    sample = Sample({"x": x}, x**2 + random.normal(0, 1, 200), np.ones(200))

    found = pattern(fit(LINE, sample), sample)

    assert found.order < 1e-6
    assert any("not random" in text for text in found.sentences())


def test_scatter_that_grows_is_seen():
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 300)
    sample = Sample({"x": x}, 2 * x + 1 + x * random.normal(0, 0.3, 300), np.ones(300))

    found = pattern(fit(LINE, sample), sample)

    assert any("Scatter changes" in text for text in found.sentences())


def test_an_exact_fit_has_no_pattern():
    sample = line(noise=0.0)

    found = pattern(fit(LINE, sample), sample)

    assert found.exact and found.sentences() == ()


def test_a_fit_reaches_double_precision_from_afar():
    x = np.linspace(0.1, 4, 100)
    sample = Sample({"x": x}, 3.7 * np.exp(-1.3 * x) + 0.2, np.ones(100))

    form = fit(canonical(parse("1*exp(-0.4*x) + 1")), sample)

    assert constants(form) == pytest.approx((3.7, -1.3, 0.2), rel=1e-12)


def test_weights_decide_a_fit():
    weights = np.where(np.arange(200) < 100, 1.0, 1e-9)
    sample = line(weights=weights / weights.mean(), noise=0.0)
    spoiled = Sample(sample.columns, sample.target + (np.arange(200) >= 100) * 5.0, sample.weights)

    form = fit(LINE, spoiled)

    assert constants(form) == pytest.approx((2.0, 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "sound"),
    [("1/(x - 5)", False), ("1/(x + 5)", True), ("log(x - 5)", False), ("1/x**2", True),
     ("sqrt(x - 5)", False), ("1/(x - 5)**2", False), ("1/exp(x - 5)", True),
     ("sin(x - 5)/(x - 5)", True), ("sin(x - 5)**2/(x - 5)**2", True),
     ("sin(x - 5.2)/(x - 5)", False), ("(x - 5.0003)/(x - 5)", False)],
)  # fmt: skip
def test_poles_and_gaps_between_the_rows_are_seen(text, sound):
    x = np.concatenate([np.linspace(0.5, 4.5, 50), np.linspace(5.5, 9.5, 50)])
    sample = Sample({"x": x}, x, np.ones(100))

    assert is_sound(canonical(parse(text)), probes_between(sample, seed=0)) is sound


def test_the_choice_prefers_the_simpler_of_equal_formulas():
    train, validation = line(seed=1), line(rows=60, seed=2)
    rows = Rows(train, validation)
    texts = ["2*x + 1", "2*x + 1 + 0.001*x**2", "2*x + 1 + 0.01*sin(x)", "3*x"]

    members = front(gather(texts, rows, Limits(40)), rows)
    chosen = choose(members, rows).chosen

    assert chosen.shape == "C*x + C"


def test_the_choice_takes_the_longer_formula_when_data_ask_for_it():
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 300)
    y = 2 * x + 1 + 3 * np.sin(x) + random.normal(0, 0.3, 300)
    data = Sample({"x": x}, y, np.ones(300))
    rows = Rows(data.take(np.arange(220)), data.take(np.arange(220, 300)))

    members = front(gather(["2*x + 1", "2*x + 1 + 3*sin(x)"], rows, Limits(40)), rows)
    chosen = choose(members, rows).chosen

    # 1*sin(1*x) has a frequency of its own
    assert chosen.shape == "C*sin(C*x) + C*x + C"


def test_parts_without_effect_are_taken_out():
    rows = Rows(line(seed=1), line(rows=60, seed=2))

    found = gather(["2*x + 1 + 1e-7*exp(0.1*x) + 1e-9*x**3"], rows, Limits(40))

    assert "C*x + C" in {one.shape for one in found}


def test_a_free_exponent_near_a_plain_one_is_tried_plain():
    x = np.linspace(0.5, 9, 80)
    sample = Sample({"x": x}, 3 * np.sqrt(x), np.ones(80))
    rows = Rows(sample, sample)

    found = gather(["3*x**0.48"], rows, Limits(40))

    assert "C*x**(1/2)" in {one.shape for one in found}


def test_a_structure_comes_back_by_shape_or_by_equal_values():
    sample = line(noise=0.0)
    same = canonical(parse("5*x + 7"))
    alike = canonical(parse("(3*x**2 - 4)/(x - 1)"))  # other values
    twin = canonical(parse("0.5*(x + 3) + 1*x"))

    found = returns(LINE, [Repeat((same,), 0), Repeat((alike, twin), 0), Repeat((alike,), 0)],
                    sample, "squared")  # fmt: skip

    assert (found.runs, found.found, found.chosen) == (3, 2, 1)


def test_symbols_stay_unique():
    names = ["X2", "b c", "X2_", "def", "_x", "x1", "größe", "µ", "1a"]

    symbols = symbols_of(names)

    assert symbols == ("X2", "X2__", "X2_", "X4", "_x", "x1", "größe", "X8", "X9")


def test_whole_groups_are_kept_back_and_rows_add_up():
    sample = line()
    group = np.repeat(np.arange(8), 25)
    rows = Visible(sample, {"x": "x"}, group, False, None)

    parts, how = split(rows, 0.25, seed=3, loss="squared")

    assert parts.train.rows + parts.validation.rows == 200
    assert parts.validation.rows == 50
    assert how == "2 of 8 groups kept back"
    assert not set(parts.train.target) & set(parts.validation.target)


def test_a_resample_is_four_fifths_of_the_rows_and_depends_on_the_seed():
    rows = Visible(line(), {"x": "x"}, None, False, None)

    first, again, other, few = (
        resampled(rows, 0.25, seed, "squared", most)
        for seed, most in ((1, 1000), (1, 1000), (2, 1000), (1, 30))
    )

    assert (first.train.rows, first.validation.rows) == (120, 40)
    assert (few.train.rows, few.validation.rows) == (30, 30)
    assert np.array_equal(first.train.target, again.train.target)
    assert not np.array_equal(first.train.target, other.train.target)
    assert set(few.train.target) < set(first.train.target)


def test_measures_are_those_of_the_evaluator():
    target, predicted = np.array([3.0, 4.0]), np.array([3.0, 5.0])

    found = measures(predicted, target)

    assert found["relative_rmse"] == pytest.approx(math.sqrt(1 / 25))
    assert found["rmse"] == pytest.approx(math.sqrt(0.5))
    assert found["mae"] == 0.5 and found["max_abs_error"] == 1.0
    assert found["r2"] == pytest.approx(1 - 1 / 0.5)
    assert found["nrmse_std"] == pytest.approx(math.sqrt(0.5) / 0.5)
    assert "relative_rmse" not in measures(np.ones(2), np.zeros(2))


def test_losses_of_a_robust_fit_grow_linearly():
    sample = line(noise=0.1)
    spoiled = sample.target.copy()
    spoiled[0] += 1e6
    rows = Rows(Sample(sample.columns, spoiled, sample.weights), sample, "huber")

    found = candidate_of(LINE, rows)

    assert shape(found.form) == "C*x + C"
    assert constants(found.form) == pytest.approx((2.0, 1.0), abs=0.1)
    assert found.train.max() < 1e6
