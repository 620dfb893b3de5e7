"""Typeset formulas mean what their text means: the markup is read back and computed."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number, parse
from sciharness_reporting.mathml import equation, symbol
from sciharness_reporting.shown import _with_children

WORDS = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
SIGNS = {
    "⋅": "*",
    "\u00d7": "*",
    "\u2212": "-",
    "+": "+",
    "(": "(",
    ")": ")",
    "\u2061": "",
    "|": "",
}
COLUMNS = {"x": np.array([0.7, 1.9]), "b": np.array([2.3, 0.4]), "theta": np.array([1.1, 3.0])}
LETTERS = {"θ": "theta"}


def read(node: ElementTree.Element) -> str:
    """Return the formula text that presentation markup stands for."""
    inner = [read(child) for child in node]
    if node.tag == "mfrac":
        return f"(({inner[0]})/({inner[1]}))"
    if node.tag == "msqrt":
        return f"sqrt({''.join(inner)})"
    if node.tag == "mroot":
        return f"cbrt({inner[0]})"
    if node.tag == "msup":
        return f"exp({inner[1]})" if node[0].text == "e" else f"(({inner[0]})**({inner[1]}))"
    if node.tag == "mspace":
        return "*"
    if node.tag == "mi":
        return WORDS.get(node.text or "", LETTERS.get(node.text or "", node.text or ""))
    if node.tag == "mo":
        return SIGNS[node.text or ""]
    if node.tag == "mn":
        return node.text or ""
    return row(node, inner)


def row(node: ElementTree.Element, inner: list[str]) -> str:
    """Return a row; a raised function name and bars around a row are put in front."""
    first = node[0]
    if first.tag == "mo" and first.text == "|":
        return f"abs({''.join(inner[1:-1])})"
    if first.tag == "msup" and len(node) > 1 and node[1].text == "\u2061":
        return f"(({read(first[0])}{inner[2]})**({read(first[1])}))"
    return "".join(inner)


def meaning(markup: str) -> str:
    """Return the right side of a typeset equation as text."""
    root = ElementTree.fromstring(markup)
    if root[0].tag == "mtable":
        return "".join(read(line[1][0]) for line in root[0])
    side = root[0]
    return "".join(read(child) for child in list(side)[2:])


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.one_of(
        st.sampled_from([Name("x"), Name("b"), Name("theta")]),
        st.floats(-1e9, 1e9).map(lambda value: Number(float(f"{value:.3e}"))),
        st.integers(-3, 4).map(lambda value: Number(float(value))),
    )
    functions = ("sqrt", "exp", "log", "sin", "tanh", "acos", "cbrt", "abs")

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "**"]), inner, inner),
            st.builds(Call, st.sampled_from(functions), inner),
            st.builds(Negative, inner),
        )

    return st.recursive(leaves, grown, max_leaves=12)


@pytest.mark.parametrize("text", ["-1*(x + b)", "theta - 1*(x - b)", "-(1*(x + b))"])
def test_a_factor_of_one_leaves_the_brackets_of_a_negative_sum(text: str) -> None:
    back = parse(meaning(equation("y", parse(text), digits=17)))

    assert np.allclose(evaluate(back, COLUMNS), evaluate(parse(text), COLUMNS))


def nudged(tree: Expression) -> Expression:
    """Return the formula with every constant off by a few roundings."""
    if isinstance(tree, Number):
        return Number(tree.value * (1 + 1e-15))
    return _with_children(tree, nudged)


@settings(deadline=None, max_examples=400)
@given(tree=expressions())
def test_what_is_typeset_has_the_value_of_the_formula(tree: Expression) -> None:
    back = parse(meaning(equation("y", tree, digits=17).replace('stretchy="true"', "")))

    with np.errstate(all="ignore"):
        expected, found = evaluate(tree, COLUMNS), evaluate(back, COLUMNS)
        beside = evaluate(nudged(tree), COLUMNS)
    # Merging fractions reorders products: some rounding, and overflow at other places. Where
    # rounding of constants alone changes a value, such as sin(4e8), nothing can be compared.
    tame = np.isfinite(expected) & np.isfinite(found) & (abs(expected) < 1e100)
    tame &= np.isclose(expected, beside, rtol=1e-7, atol=1e-10)
    assert np.allclose(
        np.broadcast_to(found, tame.shape)[tame],
        np.broadcast_to(expected, tame.shape)[tame],
        rtol=1e-6,
        atol=1e-7,  # a root of what is left of a difference by rounding alone is 1.5e-8
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*x/3", "<mfrac>"),
        ("x**0.5", "<msqrt>"),
        ("sin(x)**2", "<msup><mi>sin</mi><mn>2</mn></msup>"),
        ("exp(-x)", "<msup><mi>e</mi>"),
        ("log(x)", "<mi>ln</mi>"),
        ("3e-7*x", "<mn>10</mn>"),
        ("theta + 1", "<mi>θ</mi>"),
        ("x_max*t1", "<msub><mi>x</mi><mtext>max</mtext></msub>"),
        ("mass*speed", "<mo>⋅</mo>"),
    ],
)
def test_formulas_look_as_in_a_paper(text: str, expected: str) -> None:
    assert expected in equation("y", parse(text))


def test_long_sums_run_over_several_lines() -> None:
    long = " + ".join(f"{number}.25*sin(x)*b" for number in range(1, 12))

    root = ElementTree.fromstring(equation("y", parse(long)))

    assert root[0].tag == "mtable"
    assert len(root[0]) > 1


@pytest.mark.parametrize("name", ["Höhe", "größe", "x'", "<b>&", "a b", "", "_", "__x", "λ"])
def test_any_name_is_well_formed(name: str) -> None:
    ElementTree.fromstring(symbol(name))
    ElementTree.fromstring(equation(name, parse("1")))


def test_deeply_nested_formulas_are_typeset() -> None:
    text = "sin(" * 90 + "x" + ")" * 90

    assert equation("y", parse(text)).count("sin") == 90
    assert math.isfinite(len(text))
