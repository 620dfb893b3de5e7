"""Formula texts typeset as MathML, which notebooks and browsers show without scripts."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Mapping
from html import escape

_SUM, _NEGATIVE, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4, 5
_LONGEST = 20_000
_DIGITS = 5
_NAMES = {"log": "ln", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_MINUS = "<mo>\u2212</mo>"
_TIMES = "<mo>\u22c5</mo>"

Piece = tuple[str, int]  # markup, and how tightly its outermost operator binds


def equation(target: str, formula: str, names: Mapping[str, str]) -> str:
    """Return ``target = formula`` as a ``<math>`` element; empty if it is no such formula.

    The formula is one of formulas.json; ``names`` maps its symbols to what
    they stand for. Constants are rounded to five digits.

    >>> equation("y", "2*X1", {"X1": "v [m/s]"}).count("<mi>v [m/s]</mi>")
    1
    >>> equation("y", "__import__('os').name", {})
    ''
    """
    if len(formula) > _LONGEST:
        return ""
    try:
        right, _ = _piece(ast.parse(formula, mode="eval").body, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return f'<math display="block">{_name(target)}<mo>=</mo>{_row(right)}</math>'


def _piece(node: ast.expr, names: Mapping[str, str]) -> Piece:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return _number(float(node.value))
    if isinstance(node, ast.Name):
        return _name(names.get(node.id, node.id)), _ATOM
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _MINUS + _within(_piece(node.operand, names), _PRODUCT), _NEGATIVE
    if isinstance(node, ast.BinOp):
        return _binary(node.op, _piece(node.left, names), _piece(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _call(node.func.id, _piece(node.args[0], names))
    raise ValueError(f"{type(node).__name__} is not part of a formula")


def _binary(operator: ast.operator, left: Piece, right: Piece) -> Piece:
    if isinstance(operator, ast.Add):
        return f"{left[0]}<mo>+</mo>{_within(right, _PRODUCT)}", _SUM
    if isinstance(operator, ast.Sub):
        return left[0] + _MINUS + _within(right, _PRODUCT), _SUM
    if isinstance(operator, ast.Mult):
        return _within(left, _NEGATIVE) + _TIMES + _within(right, _PRODUCT), _PRODUCT
    if isinstance(operator, ast.Div):
        return f"<mfrac>{_row(left[0])}{_row(right[0])}</mfrac>", _PRODUCT
    if isinstance(operator, ast.Pow):
        return f"<msup>{_row(_within(left, _ATOM))}{_row(right[0])}</msup>", _POWER
    raise ValueError(f"{type(operator).__name__} is not part of a formula")


def _call(function: str, argument: Piece) -> Piece:
    markup = argument[0]
    if function == "sqrt":
        return f"<msqrt>{markup}</msqrt>", _ATOM
    if function == "cbrt":
        return f"<mroot>{_row(markup)}<mn>3</mn></mroot>", _ATOM
    if function == "exp":
        return f"<msup><mi>e</mi>{_row(markup)}</msup>", _POWER
    if function == "abs":
        return f"<mo>|</mo>{markup}<mo>|</mo>", _ATOM
    head = f"<mi>{escape(_NAMES.get(function, function))}</mi><mo>&#x2061;</mo>"
    return f"{head}<mo>(</mo>{markup}<mo>)</mo>", _ATOM


def _number(value: float) -> Piece:
    digits, _, exponent = f"{value:.{_DIGITS}g}".partition("e")
    if not exponent:
        return f"<mn>{digits}</mn>", _ATOM
    power = str(int(exponent)).replace("-", "\u2212")
    return f"<mn>{digits}</mn>{_TIMES}<msup><mn>10</mn><mn>{power}</mn></msup>", _PRODUCT


def _name(text: str) -> str:
    for case in ("SMALL", "CAPITAL"):
        try:
            letter = unicodedata.lookup(f"GREEK {case} LETTER {text}")
        except KeyError:
            continue
        if text == text.lower() if case == "SMALL" else text == text.capitalize():
            return f"<mi>{letter}</mi>"
    return f"<mi>{escape(text)}</mi>"


def _within(piece: Piece, least: int) -> str:
    """Return markup, in parentheses if it binds less tightly than ``least``."""
    return piece[0] if piece[1] >= least else f"<mo>(</mo>{piece[0]}<mo>)</mo>"


def _row(markup: str) -> str:
    return f"<mrow>{markup}</mrow>"
