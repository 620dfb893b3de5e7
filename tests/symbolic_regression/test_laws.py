"""The deterministic stages: terms chosen as sets, laws named, formulas grown."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import parse, render
from sciharness_symbolic_regression.engines.base import Attempt
from sciharness_symbolic_regression.formulas.algebra import canonical
from sciharness_symbolic_regression.formulas.forms import nests_functions, shape
from sciharness_symbolic_regression.formulas.written import nodes
from sciharness_symbolic_regression.laws.engine import STAGES, Laws
from sciharness_symbolic_regression.laws.fits import (
    findings_of,
    fits_of,
    front_of,
    is_exact,
    may_use,
)
from sciharness_symbolic_regression.laws.gathering import Gathering, product_parts
from sciharness_symbolic_regression.laws.peeling import pure_powers
from sciharness_symbolic_regression.laws.places import put, slopes_of
from sciharness_symbolic_regression.laws.pursuit import eliminate, pursue
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    distinct,
    exponent_rows,
    listed,
    monomials,
    products,
    usable,
)
from sciharness_symbolic_regression.laws.waves import wave_of
from sciharness_symbolic_regression.request import SearchRequest
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.searching.portfolio import law_attempts, repeat_attempt

BASE = Attempt("laws", 3, (), 40, 8_000)


def sample_of(formula, rows=160, noise=0.0, seed=0, **ranges):
    random = np.random.default_rng(seed)
    columns = {name: random.uniform(*span, rows) for name, span in ranges.items()}
    target = evaluate(parse(formula), columns)
    target = target + random.normal(0, 1, rows) * noise * target.std()
    return Sample(columns, target, np.ones(rows))


def found(sample, stage, **changes):
    return Laws().search(sample, evolve(BASE, stage=stage, **changes), lambda said: None)


def structures(findings, sample):
    nonnegative = sample.nonnegative()
    return {shape(canonical(parse(text), nonnegative)) for text in findings.formulas}


SPAN = (1.0, 5.0)
LAWS = [
    ("plain", "0.3*a*b/(c*d**2)", {"a": SPAN, "b": SPAN, "c": SPAN, "d": SPAN}),
    ("plain", "sqrt(a**2 + b**2 - 2*a*b*cos(c))", {"a": SPAN, "b": SPAN, "c": SPAN}),
    ("exponential", "log(2*a + 3*b**2)", {"a": SPAN, "b": SPAN}),
    ("products", "(a - b*c)/sqrt(1 - b**2/d**2)",
     {"a": (11, 20), "b": (1, 2), "c": SPAN, "d": (3, 10)}),
    ("products", "a*b/(exp(a*b/(c*d)) - 1)", {"a": SPAN, "b": SPAN, "c": SPAN, "d": SPAN}),
    ("inverse", "1/(1/a + b/c)", {"a": SPAN, "b": SPAN, "c": SPAN}),
    ("identity", "4.2*a/(1.35 + a + a**2/8) + 0.1*b", {"a": (0.1, 20), "b": (-3, 3)}),
    ("identity", "sinh(a)", {"a": (-1, 1)}),
    ("inverse", "1/(exp(2/a) - 1)", {"a": (0.3, 6)}),
    ("inverse", "1/(1 + (1 - cos(b))/a)", {"a": (0.3, 9), "b": (1, 3)}),
    ("quotients", "30*a*b/((a - 10)*c**2)", {"a": (-1, 1), "b": (-1, 1), "c": (1, 2)}),
    ("quotients", "acos((cos(b) - a)/(1 - a*cos(b)))", {"a": (0.2, 0.7), "b": (1, 3)}),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "formula", "ranges"), LAWS, ids=[law[1] for law in LAWS])
def test_a_law_without_noise_is_found_exactly(stage, formula, ranges):
    sample = sample_of(formula, **ranges)

    assert found(sample, stage, max_evaluations=20_000).exact


@pytest.mark.slow
def test_a_law_is_found_behind_its_wave():
    sample = sample_of("cos(t)*(a**3*(b - 1)/(b + 2) - 1)", t=(0, 6), a=(0.3, 3), b=SPAN)

    assert found(sample, "merged", max_evaluations=20_000).exact


def test_a_noisy_power_law_keeps_its_plain_exponents():
    sample = sample_of("3.1*a**0.75*exp(-0.6/b)", noise=0.02, a=(0.5, 80), b=(0.2, 2))

    assert "C*a**(3/4)*exp(C*b**(-1))" in structures(found(sample, "products"), sample)


def test_growth_adds_what_is_missing():
    sample = sample_of("3*a**2/(1 + b) + 0.2*c", a=SPAN, b=SPAN, c=SPAN)

    grown = found(sample, "growth", starts=("3*a**2/b",), max_evaluations=30_000)

    assert grown.exact


def test_many_columns_are_no_hindrance():
    junk = {f"z{index}": (-3, 3) for index in range(12)}
    sample = sample_of("5*a/(1 + b**2) - c", a=(-3, 3), b=(-3, 3), c=(-3, 3), **junk)

    assert found(sample, "identity").exact


def test_a_stage_finds_the_same_twice():
    sample = sample_of("a*b + sin(c)", noise=0.05, a=SPAN, b=SPAN, c=SPAN)

    assert found(sample, "identity") == found(sample, "identity")


def test_only_allowed_operators_are_used():
    sample = sample_of("exp(-a)/b", a=SPAN, b=SPAN)

    texts = " ".join(found(sample, "plain", operators=("add", "mul")).formulas)

    assert texts and not any(mark in texts for mark in ("exp", "/", "sqrt", "log"))
    assert may_use(canonical(parse("exp(a)/b")), ("exp", "div"))
    assert not may_use(canonical(parse("exp(a)/b")), ("exp",))


def test_a_stage_that_does_not_apply_finds_nothing():
    sample = sample_of("a - 3", a=SPAN)

    assert found(sample, "square").formulas == ()


def test_a_set_is_found_that_no_single_best_term_leads_to():
    random = np.random.default_rng(1)
    first, second, third = random.normal(size=(3, 120))
    decoy = first + second + third + 0.3 * random.normal(size=120)
    others = random.normal(size=(30, 120))
    table = np.vstack([decoy, decoy * decoy, first, second, third, others])
    terms = Terms(table, lambda index: parse(f"x{index}"))

    best = pursue(terms, first + second + third, np.ones((1, 120)), np.ones(120), 3)

    exact = [one for one in best if one.error < 1e-9]
    assert [sorted(one.chosen) for one in exact] == [[2, 3, 4]]


def test_elimination_leaves_the_true_terms():
    random = np.random.default_rng(2)
    table = random.normal(size=(30, 120))
    target = 2 * table[4] - table[7] + 0.5 * table[20] + 0.01 * random.normal(size=120)

    left = eliminate(table, target, np.ones((1, 120)), np.ones(120))

    three = next(one for one in left if len(one.chosen) == 3)
    assert sorted(three.chosen) == [4, 7, 20]


def test_pure_powers_are_seen_beside_what_is_not_one():
    sample = sample_of("a*b**-2*(c + d)", a=SPAN, b=SPAN, c=SPAN, d=SPAN)

    powers = pure_powers(sample.columns, sample.target, sample.weights)

    assert powers == {"a": 1.0, "b": -2.0}


def test_terms_that_differ_by_factor_and_offset_are_one():
    column = np.linspace(1, 2, 30)
    items = [(column, parse("x")), (3 - 2 * column, parse("3 - 2*x")), (column**2, parse("x**2"))]

    assert [render(distinct(listed(items, 30)).tree(index)) for index in range(2)] == [
        "x", "x**2"
    ]  # fmt: skip


def test_terms_gathered_bit_by_bit_are_the_first_distinct_ones():
    columns = {"a": np.linspace(0.5, 3, 25), "b": np.cos(np.linspace(1, 4, 25))}
    rows = exponent_rows([[0, 1, -1, 2, 3], [0, 2, -2, 1]], 19)
    powers = monomials(list(columns), list(columns.values()), rows)
    whole = distinct(usable(products(powers, powers)))
    assert whole.count > 60

    gathering = Gathering.of(25, 10).take(product_parts(powers, powers), most=20)
    first = gathering.terms()
    more = gathering.take(product_parts(powers, powers), most=60).terms()

    assert np.array_equal(first.values, whole.values[:20])
    assert np.array_equal(more.values, whole.values[:60])
    texts = [render(whole.tree(index)) for index in range(60)]
    assert [render(more.tree(index)) for index in range(60)] == texts


def test_only_so_many_usable_terms_are_looked_at():
    column = np.linspace(1, 2, 30)
    items = [(column, parse("x")), (3 - 2 * column, parse("3 - 2*x")), (column**2, parse("x**2"))]

    assert Gathering.of(30, 5).take([listed(items, 30)], looked=2).terms().count == 1


def test_a_product_is_found_where_every_column_is_zero_somewhere():
    sample = sample_of("3*exp(a)*(1 + b)", a=SPAN, b=SPAN)
    sample.columns["a"][3] = sample.columns["b"][7] = 0.0
    target = 3 * np.exp(sample.columns["a"]) * (1 + sample.columns["b"])

    assert found(evolve(sample, target=target), "products").exact


def test_tables_hold_what_their_trees_say():
    columns = {"a": np.linspace(-2, 3, 25), "b": np.linspace(1, 4, 25)}
    rows = exponent_rows([[0, 1, -1, 2, 3], [0, 0.5, -2, 1]], 12)
    powers = monomials(list(columns), list(columns.values()), rows)
    terms = products(powers, powers)

    for index in range(terms.count):
        wanted = evaluate(terms.tree(index), columns)
        assert np.allclose(terms.values[index], wanted, rtol=1e-9, equal_nan=True)


def test_slopes_by_parts_are_derivatives():
    columns = {"x": np.linspace(0.5, 2, 9), "y": np.linspace(1, 3, 9)}
    tree = parse("2*x**2/(1 + y) - log(x*y)*sqrt(y) + sin(-x)")
    step = 1e-6

    for path, slope in slopes_of(tree, columns):
        above = evaluate(put(tree, path, lambda part: parse(f"({render(part)}) + {step}")), columns)
        below = evaluate(put(tree, path, lambda part: parse(f"({render(part)}) - {step}")), columns)
        # central differences leave about (2e-16 * 10) / 1e-6 of rounding and step**2 of curvature
        assert np.allclose(slope, (above - below) / (2 * step), rtol=1e-5, atol=1e-7)


def test_an_angle_of_a_wave_is_no_nesting():
    assert not nests_functions(canonical(parse("asin(a*sin(b))")))
    assert nests_functions(canonical(parse("sin(a*sin(b))")))


def test_a_stage_hands_over_a_law_that_a_shorter_stand_in_equals():
    law, stand_in = "1*m*v/sqrt(1 - v**2/c**2)", "1*m*v/cos(1.73*v/c)**(1/3)"
    sample = sample_of(law, rows=450, noise=0.01, seed=3, m=(1, 5), v=(1, 2), c=(3, 10))
    fits = fits_of(map(parse, (law, stand_in, "2*m*v")), sample, BASE)
    wanted = shape(canonical(parse(law), sample.nonnegative()))

    findings = findings_of(list(fits.values()), sample, BASE, 0)

    assert fits[wanted] not in front_of(list(fits.values()), 0.0)
    assert wanted in structures(findings, sample)


def test_the_first_view_and_the_columns_as_they_are_come_before_the_other_views():
    found = [(one.stage, one.view) for one in law_attempts(SearchRequest(), 0, views=3)]
    assert found[:4] == [("plain", 1), ("plain", 0), ("merged", 1), ("merged", 0)]
    assert found.index(("identity", 0)) < found.index(("square", 1)) < found.index(("plain", 2))
    assert found.index(("plain", 2)) < found.index(("logarithm", 1))
    assert len(set(found)) == len(found)


def test_a_wave_that_multiplies_all_else_is_divided_out():
    spans = {"t": (0, 6), "a": SPAN, "b": SPAN}
    product = sample_of("cos(t)*(a**2 - b/(1 + a))", noise=0.01, **spans)
    total = sample_of("cos(t) + a**2 - b/(1 + a)", noise=0.01, **spans)

    wave = wave_of(product)
    assert wave is not None and render(wave.tree) == "cos(t)"
    rest = wave.sample(product)
    assert rest is not None and rest.symbols == ("a", "b")
    assert wave_of(total) is None


def test_two_terms_are_found_that_are_each_worth_little():
    random = np.random.default_rng(5)
    pair = random.normal(size=(2, 150))
    target = pair[0] - pair[1]
    near = [target + 0.3 * random.normal(size=150) for _ in range(60)]
    pair[1] += 4 * pair[0]  # so that neither of them follows the target
    target = 5 * pair[0] - pair[1]
    terms = listed([(row, parse(f"x{i}")) for i, row in enumerate([*near, *pair])], 150)

    chosen = pursue(terms, target, np.ones((1, 150)), np.ones(150), 2)

    best = min(chosen, key=lambda one: one.error)
    assert set(best.chosen) == {60, 61}
    assert best.error < 1e-9


def test_a_factor_of_one_does_not_make_a_formula_too_large():
    plain, odd = canonical(parse("1.0000000000001*a*b + c")), canonical(parse("1.01*a*b + c"))
    assert nodes(odd) - nodes(plain) == 2


def test_a_series_that_comes_close_is_no_exact_fit():
    angles = np.linspace(0.1, 2.0, 200)
    rows = Sample({"x": angles}, np.sin(angles), np.ones(200))
    assert is_exact(1e-15 * rows.spread, rows)
    assert not is_exact(2e-9 * rows.spread, rows)


def test_few_evaluations_give_few_stages_and_views_come_first_in_each():
    few = law_attempts(SearchRequest(max_evaluations=75_000, stability_runs=0), 0)
    many = law_attempts(SearchRequest(), 0, views=1)

    assert [one.stage for one in few] == list(STAGES[: len(few)])
    assert 0 < len(few) < len(STAGES)
    assert [one.view for one in many[:4]] == [1, 0, 1, 0]
    assert {one.stage for one in many if one.view == 0} == set(STAGES)


def test_stability_runs_repeat_the_stage_that_found_the_formula():
    form = canonical(parse("a*b"))
    request = SearchRequest()

    again = repeat_attempt(request, "operon", form, evolve(BASE, stage="products", view=1))
    grown = repeat_attempt(request, "operon", form, evolve(BASE, stage="growth", starts=("a",)))
    engine = repeat_attempt(request, "operon", form, None)

    assert again is not None and (again.stage, again.view) == ("products", 0)
    assert grown is not None and (grown.stage, grown.starts) == ("chain", ())
    assert engine is not None and engine.engine == "operon"
    assert repeat_attempt(SearchRequest(stability_runs=0), "operon", form, None) is None
