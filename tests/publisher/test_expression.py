"""The formula grammar: what is read, what is refused, and that text and tree agree."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import (
    FUNCTIONS,
    MAX_NODES,
    Binary,
    Call,
    ExpressionError,
    Name,
    Negative,
    Number,
    complexity,
    names_in,
    parse,
    python_source,
    render,
)
from sciharness_publisher.inference import closed_form

NAMES = ("x", "y", "exp", "größe", "X2_")
COLUMNS = {name: np.linspace(0.3, 2.7, 7) * (place + 1) for place, name in enumerate(NAMES)}

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(Number)
leaves = st.one_of(numbers, st.sampled_from(NAMES).map(Name))
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Negative, inner),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "**"]), inner, inner),
        st.builds(Call, st.sampled_from(FUNCTIONS), inner),
    ),
    max_leaves=20,
)


@given(trees)
def test_a_written_tree_is_read_back_with_the_same_values(tree):
    again = parse(render(tree), NAMES)

    assert np.array_equal(evaluate(again, COLUMNS), evaluate(tree, COLUMNS), equal_nan=True)
    assert complexity(again) == complexity(tree)
    assert names_in(again) == names_in(tree)


@given(trees)
def test_the_predictor_computes_the_same_bits_as_the_fit(tree):
    text = render(tree)

    found = closed_form.formula(closed_form.read_formula(text), COLUMNS)

    assert np.array_equal(found, evaluate(tree, COLUMNS), equal_nan=True)


@given(trees)
def test_the_python_text_gives_the_same_values(tree):
    text = python_source(tree)

    with np.errstate(all="ignore"):
        try:
            found = eval(text, {"np": np, "__builtins__": {}}, dict(COLUMNS))  # our own text
        except ArithmeticError:  # Python's own numbers raise where arrays give infinity
            return

    if np.isrealobj(found):
        wanted = evaluate(tree, COLUMNS)
        assert np.allclose(np.asarray(found, float), wanted, rtol=1e-12, equal_nan=True)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_our_error(text):
    try:
        tree = parse(text)
    except ExpressionError:
        return

    assert complexity(tree) <= MAX_NODES


@given(trees)
def test_what_is_read_means_the_same_in_python(tree):
    text = render(tree)

    body = ast.parse(text, mode="eval").body

    assert {node.id for node in ast.walk(body) if isinstance(node, ast.Name)} - set(
        FUNCTIONS
    ) <= set(NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch mark')",
        "x.__class__",
        "x[0]",
        "(lambda: 0)()",
        "x if y else x",
        "[x for x in y]",
        "x and y",
        "x == y",
        "x ^ 2",
        "x // 2",
        "x; y",
        "x = 1",
        "f(x)",
        "eval(x)",
        "sin(x, y)",
        "sin()",
        "sin(x=y)",
        "x y",
        "'x'",
        "1e999",
        "1_000",
        "0x10",
        "1j",
        "x\0",
        "x # comment",
        "",
        "(x",
        "x)",
        "unknown",
    ],
)
def test_what_is_not_in_the_grammar_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ExpressionError):
        parse(text, {"x", "y"})

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "x" + ")" * 5000,
        "-" * 19_999 + "x",
        "1" + "+1" * 9000,
        "sin(" * 3000 + "x" + ")" * 3000,
        "x**" * 6000 + "x",
        "x" * 30_000,
        "+" * 15_000 + "1",
    ],
    ids=["parentheses", "signs", "sum", "functions", "powers", "characters", "plus signs"],
)
def test_a_formula_beyond_the_bounds_is_refused(text):
    with pytest.raises(ExpressionError, match=r"at most"):
        parse(text)


def test_a_name_before_a_parenthesis_is_a_function_so_a_column_may_be_called_exp():
    tree = parse("exp(x)*exp", {"x", "exp"})

    assert tree == Binary("*", Call("exp", Name("x")), Name("exp"))


def test_powers_bind_tighter_than_a_minus_and_to_the_right():
    value = float(evaluate(parse("-2**2**3"), {}))

    assert value == -256.0


def test_values_outside_a_functions_range_are_not_finite_and_do_not_raise():
    values = evaluate(parse("log(x) + 1/x"), {"x": np.array([-1.0, 0.0, 1.0])})

    assert np.isnan(values[:2]).all()
    assert values[2] == 1.0


def test_an_error_says_where_and_what_is_known():
    with pytest.raises(ExpressionError) as caught:
        parse("2*lenght", {"length"})

    assert "'lenght' at character 3" in str(caught.value)
    assert "length" in caught.value.hint
    assert caught.value.exit_code == 3


def test_the_predictor_knows_exactly_the_functions_of_the_grammar():
    assert set(closed_form.FUNCTIONS) == set(FUNCTIONS)
    assert math.isclose(closed_form.FUNCTIONS["atan"](1.0), math.pi / 4)
