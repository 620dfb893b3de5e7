"""Canonical forms: same values as the formula, and one structure for one meaning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Call, Name, Negative, Number, parse, render
from sciharness_symbolic_regression.finishing.fitting import values
from sciharness_symbolic_regression.finishing.reducing import reductions
from sciharness_symbolic_regression.formulas.algebra import Undefined, canonical
from sciharness_symbolic_regression.formulas.forms import (
    constants,
    nests_functions,
    shape,
    with_constants,
)
from sciharness_symbolic_regression.formulas.tape import compiled
from sciharness_symbolic_regression.formulas.written import latex_of, tree_of
from sciharness_symbolic_regression.samples.sample import Sample

RANDOM = np.random.default_rng(1)
POSITIVE = {name: RANDOM.uniform(0.5, 3.0, 40) for name in "xyz"}
SIGNED = {name: RANDOM.uniform(-3.0, 3.0, 40) for name in "xyz"}

numbers = st.floats(-3, 3).filter(lambda v: abs(v) > 0.01).map(lambda v: Number(round(v, 3)))
leaves = st.one_of(numbers, st.sampled_from("xyz").map(Name))
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Negative, inner),
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(Binary, st.just("**"), inner, st.sampled_from([2.0, 0.5, -1.0, 1.3]).map(Number)),
        st.builds(
            Call, st.sampled_from(["sin", "cos", "exp", "log", "sqrt", "abs", "tanh"]), inner
        ),
    ),
    max_leaves=12,
)


def agree(found, wanted):
    """Whether values agree where the formula is defined; a form may be defined at more places."""
    known = np.isfinite(wanted) & (np.abs(wanted) < 1e12)
    size = np.maximum(np.abs(wanted[known]), 1.0)
    # a canonical form adds in another order: differences grow with cancelling terms
    return bool((np.abs(found[known] - wanted[known]) <= 1e-6 * size).all())


@pytest.mark.parametrize("columns", [POSITIVE, SIGNED], ids=["positive", "signed"])
@given(tree=trees)
def test_a_canonical_form_has_the_values_of_the_formula(columns, tree):
    wanted = np.broadcast_to(evaluate(tree, columns), (40,))
    assume(np.isfinite(wanted).any() and not ill_conditioned(tree, columns))
    known = {name for name, column in columns.items() if column.min() >= 0}
    try:
        form = canonical(tree, known)
    except Undefined:
        assume(False)

    shown = np.broadcast_to(evaluate(tree_of(form), columns), (40,))
    taped = compiled(form).values(constants(form), columns)

    assert agree(shown, wanted)
    assert agree(taped, wanted)


def ill_conditioned(tree, columns):
    """Whether a relative change of 1e-12 of the columns changes a value by more than 1e-8."""
    moved = {name: column * (1 + 1e-12) for name, column in columns.items()}
    first, second = (np.broadcast_to(evaluate(tree, at), (40,)) for at in (columns, moved))
    with np.errstate(all="ignore"):
        change = np.abs(first - second) / np.maximum(np.abs(first), 1.0)
    return bool((change[np.isfinite(change)] > 1e-8).any())


@given(tree=trees)
def test_a_form_is_its_own_canonical_form(tree):
    try:
        form = canonical(tree, "xyz")
        again = canonical(parse(render(tree_of(form))), "xyz")
    except Undefined:
        assume(False)

    assert len(constants(again)) <= len(constants(form))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2*(3*x)", "6*x"),
        ("x*x*x", "x**3"),
        ("x/(2*y + 4)", "0.5*x/(y + 2)"),
        ("exp(x + 1)", "2.718*exp(x)"),
        ("exp(x)*exp(y)", "exp(x + y)"),
        ("log(3*x)", "log(x) + 1.1"),
        ("exp(0.7*log(x))", "x**0.7"),
        ("sqrt(4*x*y)", "2*sqrt(x)*sqrt(y)"),
        ("sqrt(x)**2", "x"),
        ("sqrt(x**2)", "x"),
        ("1/(1/x)", "x"),
        ("sin(-x)", "-sin(x)"),
        ("cos(-x)", "cos(x)"),
        ("x - (y - 2)", "x - y + 2"),
        ("x*(1 - y*z/x)", "x - y*z"),
        ("x**2*(1 - y/x)/sqrt(z + 1)", "(x - y)*x/sqrt(z + 1)"),
        ("(2*x + 4*y)**2", "4*(x + 2*y)**2"),
        ("x/y/z", "x/(y*z)"),
        ("abs(-3*x)", "3*x"),
    ],
)
def test_ways_to_write_one_formula_share_a_structure(left, right):
    assert shape(canonical(parse(left), "xyz")) == shape(canonical(parse(right), "xyz"))


@pytest.mark.parametrize(
    ("text", "known"),
    [("sqrt(x**2)", "abs(x)"), ("sqrt(x*y)", "sqrt(x*y)"), ("log(x**2)", "2*log(abs(x))")],
)
def test_signs_are_kept_where_a_column_may_be_negative(text, known):
    form = canonical(parse(text))

    assert render(tree_of(form)) == known.replace("abs", "1*abs", known.startswith("abs")).replace(
        "sqrt(x*y)", "1*sqrt(x*y)"
    )


@pytest.mark.parametrize("text", ["1/0", "1/(x - x)", "log(0)", "log(-1)", "sqrt(-1)", "exp(1000)"])
def test_what_is_never_defined_is_said_so(text):
    with pytest.raises(Undefined):
        canonical(parse(text))


@given(tree=trees, data=st.data())
def test_slopes_are_those_of_small_steps(tree, data):
    try:
        form = canonical(tree, "xyz")
    except Undefined:
        assume(False)
    theta = np.array(constants(form))
    assume(len(theta) and (np.abs(theta) > 1e-3).all() and (np.abs(theta) < 1e3).all())
    tape = compiled(form)
    place = data.draw(st.integers(0, len(theta) - 1))
    step = 1e-6 * abs(theta[place])

    found, slopes = tape.values_and_slopes(theta, POSITIVE)
    ends = [
        tape.values(theta + sign * step * np.eye(len(theta))[place], POSITIVE) for sign in (1, -1)
    ]

    smooth = np.isfinite(found) & np.isfinite(slopes[place]) & (np.abs(found) < 1e6)
    estimate = (ends[0] - ends[1]) / (2 * step)
    smooth &= np.isfinite(estimate) & (np.abs(slopes[place]) < 1e6)
    # central differences: rounding eps*|f|/h, truncation h^2 f''' which kinks of abs exceed
    allowed = 1e-3 * np.maximum(np.abs(slopes[place]), 1.0) + 1e-9 * np.abs(found) / step
    assume(smooth.any())
    assert np.mean(np.abs(estimate - slopes[place])[smooth] <= allowed[smooth]) >= 0.9


@given(tree=trees)
def test_reductions_are_smaller_formulas_of_the_same_names(tree):
    for smaller in reductions(tree):
        assert len(render(smaller)) <= len(render(tree)) + 20


def test_constants_stand_in_the_order_of_the_written_formula():
    form = canonical(parse("2*x**0.7*exp(3*y)/(z + 5) - 7*z + 11"), "xyz")

    numbered = with_constants(form, range(101, 101 + len(constants(form))))
    text = render(tree_of(numbered))

    places = [text.index(str(number)) for number in range(101, 101 + len(constants(form)))]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "text", ["sin(-x - y)", "tanh(-x - y)", "sin(-2*(x + y))", "sin(x*(-x - y))"]
)
def test_latex_of_a_function_of_negative_terms_comes_to_an_end(text):
    found = latex_of(parse(text), {"x": "x", "y": "y"})

    assert found.startswith("\\" + text.partition("(")[0]) and "- " in found


def test_latex_shows_names_short_numbers_and_powers_of_ten():
    tree = parse("1.23456789e-9*sqrt(a_b)/X2**2 - 3.14159265*log(c)")

    text = latex_of(tree, {"a_b": "a_b", "X2": "v [m/s]", "c": "c"})

    assert r"\mathrm{a\_b}" in text and r"\mathrm{v\ [m/s]}" in text
    assert "1.2346" in text and r"10^{-9}" in text and "3.1416" in text
    assert "000" not in text


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("sin(cos(x))", True),
        ("sin(2*exp(x) + 1)", True),
        ("exp(sin(x))", True),
        ("x*sin(y)*exp(-z)", False),
        ("exp(-1*exp(x))", False),
        ("sin(sqrt(x))", False),
        ("1/(1 + sin(abs(x) + 2))", False),
    ],
)
def test_functions_inside_trigonometric_ones_are_seen(text, nested):
    assert nests_functions(canonical(parse(text))) is nested


def test_values_of_a_form_are_rows_even_for_a_constant():
    form = canonical(parse("2"))

    sample = Sample(POSITIVE, POSITIVE["x"], np.ones(40))

    assert values(form, sample).tolist() == [2.0] * 40
