"""Formulas in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number, parse

LATEX_DIGITS = 5
_NONE: Mapping[float, Any] = MappingProxyType({})  # Any: sympy, untyped


def latex_of(
    tree: Expression, names: Mapping[str, str], plain: Mapping[float, str] | None = None
) -> str:
    """Return the formula in LaTeX with constants to five digits.

    ``names`` maps the names in the formula to how they are shown, ``plain`` positive
    constants to texts such as ``pi/4``.
    """
    import sympy  # heavy: 0.4 s, needed for the final candidates only
    from sympy.core.parameters import distribute

    symbols = {name: sympy.Symbol(f"v{index}", real=True) for index, name in enumerate(names)}
    shown = {symbols[name]: _latex_name(text) for name, text in names.items()}
    texts = {value: text for value, text in (plain or {}).items() if not _is_decimal(text)}
    known = {value: _sympy(parse(text), {"pi": sympy.pi}, sympy) for value, text in texts.items()}
    with distribute(False):  # else 2*(x + y) would be multiplied out
        found = _sympy(tree, symbols, sympy, known)
    return str(sympy.latex(found, symbol_names=shown, order="none"))


def _is_decimal(text: str) -> bool:
    return text.replace(".", "", 1).replace("e", "", 1).replace("-", "").isdigit()


def _sympy(
    tree: Expression,
    symbols: Mapping[str, Any],
    sympy: Any,  # Any: as above
    known: Mapping[float, Any] = _NONE,
) -> Any:
    def read(part: Expression) -> Any:  # Any: as above
        return _sympy(part, symbols, sympy, known)

    if isinstance(tree, Number):
        return known[tree.value] if tree.value in known else _sympy_number(tree.value, sympy)
    if isinstance(tree, Name):
        return symbols[tree.name]
    if isinstance(tree, Negative):
        return -read(tree.operand)
    if isinstance(tree, Call):
        function = getattr(sympy, {"abs": "Abs"}.get(tree.function, tree.function))
        argument = read(tree.argument)
        return function(argument, evaluate=not argument.has(sympy.Add))  # sin(-x - y) never ends
    if tree.operator in "+-":  # terms in their order
        return sympy.Add(*(sign * read(part) for sign, part in _terms(tree)), evaluate=False)
    left, right = read(tree.left), read(tree.right)
    if tree.operator == "**":
        return left**right
    return left * right if tree.operator == "*" else left / right


def _terms(tree: Expression) -> Iterator[tuple[int, Expression]]:
    """Yield the signs and terms of a sum from left to right."""
    if isinstance(tree, Binary) and tree.operator in "+-":
        yield from _terms(tree.left)
        yield (1 if tree.operator == "+" else -1), tree.right
    else:
        yield 1, tree


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
