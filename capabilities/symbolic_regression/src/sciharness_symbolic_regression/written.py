"""Canonical forms as formulas to read: trees, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number
from sciharness_symbolic_regression.forms import (
    Base,
    Exponent,
    Function,
    Product,
    Sum,
    Variable,
    factors_by_place,
    takes_normalised,
)

LATEX_DIGITS = 5


def tree_of(form: Sum) -> Expression:
    """Return the formula as it is shown: fractions, roots, minus signs.

    Its free numbers stand in the order of :func:`forms.constants`; a minus
    before a term belongs to the term's coefficient.
    """
    return _sum(form, normalised=False)


def latex_of(tree: Expression, names: Mapping[str, str]) -> str:
    """Return the formula in LaTeX with constants to five digits.

    ``names`` maps the names in the formula to how they are shown.
    """
    import sympy  # heavy: 0.4 s, needed for the final candidates only

    symbols = {name: sympy.Symbol(f"v{index}", real=True) for index, name in enumerate(names)}
    shown = {symbols[name]: _latex_name(text) for name, text in names.items()}
    return str(sympy.latex(_sympy(tree, symbols, sympy), symbol_names=shown))


def _sum(form: Sum, normalised: bool) -> Expression:
    if not form.terms:
        return Number(form.constant)
    first, *others = form.terms
    tree = _first(*first, fixed=normalised)
    for coefficient, product in others:
        tree = Binary("+" if coefficient >= 0 else "-", tree, _product(abs(coefficient), product))
    if form.constant:
        sign = "+" if form.constant >= 0 else "-"
        tree = Binary(sign, tree, Number(abs(form.constant)))
    return tree


def _first(coefficient: float, product: Product, fixed: bool) -> Expression:
    if not fixed:
        return _product(coefficient, product)
    bare = _product(None, product)
    return bare if coefficient > 0 else Negative(bare)


def _product(coefficient: float | None, product: Product) -> Expression:
    above, root_above, root_below, below = factors_by_place(product)
    top: list[Expression] = [] if coefficient is None else [Number(coefficient)]
    top += [_power(base, exponent) for base, exponent in above]
    bottom = [_power(base, -exponent) for base, exponent in below]
    numerator, denominator = (
        [_base(base) for base, _ in part] for part in (root_above, root_below)
    )
    if numerator:
        top.append(Call("sqrt", _fraction(numerator, denominator)))
    elif denominator:
        bottom.insert(0, Call("sqrt", _times(denominator)))
    return _fraction(top or [Number(1.0)], bottom)


def _fraction(above: list[Expression], below: list[Expression]) -> Expression:
    return Binary("/", _times(above), _times(below)) if below else _times(above)


def _times(factors: list[Expression]) -> Expression:
    return reduce(lambda left, right: Binary("*", left, right), factors)


def _power(base: Base, exponent: Exponent) -> Expression:
    tree = _base(base)
    if exponent == 1 and isinstance(exponent, Fraction):
        return tree
    return Binary("**", tree, Number(float(exponent)))


def _base(base: Base) -> Expression:
    if isinstance(base, Variable):
        return Name(base.name)
    if isinstance(base, Function):
        return Call(base.name, _sum(base.argument, takes_normalised(base.name)))
    return _sum(base, normalised=True)


def _sympy(tree: Expression, symbols: Mapping[str, Any], sympy: Any) -> Any:  # Any: sympy, untyped
    if isinstance(tree, Number):
        return _sympy_number(tree.value, sympy)
    if isinstance(tree, Name):
        return symbols[tree.name]
    if isinstance(tree, Negative):
        return -_sympy(tree.operand, symbols, sympy)
    if isinstance(tree, Call):
        function = getattr(sympy, {"abs": "Abs"}.get(tree.function, tree.function))
        return function(_sympy(tree.argument, symbols, sympy))
    left, right = (_sympy(side, symbols, sympy) for side in (tree.left, tree.right))
    if tree.operator == "**":
        return left**right
    return {"+": left + right, "-": left - right, "*": left * right}.get(
        tree.operator, left / right
    )


def _sympy_number(value: float, sympy: Any) -> Any:  # Any: as above
    near = Fraction(value).limit_denominator(4)
    if float(near) == value and abs(value) <= 12:
        return sympy.Rational(near.numerator, near.denominator)
    exponent = math.floor(math.log10(abs(value))) if value else 0
    if -4 <= exponent <= 4:
        return sympy.Float(f"{value:.{LATEX_DIGITS}g}", LATEX_DIGITS)
    mantissa = sympy.Float(f"{value / 10.0**exponent:.{LATEX_DIGITS}g}", LATEX_DIGITS)
    return mantissa * sympy.Integer(10) ** exponent


def _latex_name(text: str) -> str:
    special = {character: f"\\{character}" for character in "_%&#${}"}
    escaped = "".join(special.get(character, character) for character in text)
    escaped = escaped.replace("^", r"\hat{}").replace(" ", r"\ ")
    return escaped if len(text) == 1 else rf"\mathrm{{{escaped}}}"
