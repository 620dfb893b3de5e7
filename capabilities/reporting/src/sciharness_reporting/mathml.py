"""Formulas typeset as MathML Core, which browsers show without scripts or network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from types import MappingProxyType
from unicodedata import lookup

from attrs import frozen

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number
from sciharness_reporting.text import MINUS, split

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4
_LINE = 76  # a line of a formula holds about so many characters
_EXPONENT = 16  # and a readable exponent so many
_GREEK = frozenset(
    re.findall(
        r"\w+",
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi "
        "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega",
    )
)
_FUNCTIONS = MappingProxyType({"log": "ln", "asin": "arcsin", "acos": "arccos", "atan": "arctan"})
_DRAWN = frozenset({"sqrt", "cbrt", "abs", "exp"})
# a table would set its fractions small
_DISPLAY = '<mrow displaystyle="true">'
_TIMES = "<mo>\u22c5</mo>"
_CLOSE_TIMES = '<mspace width="0.17em"></mspace>'


@frozen
class _Piece:
    """Markup with how tightly it binds and about how many characters wide it is."""

    markup: str
    binding: int
    width: int


@frozen
class _Term:
    """One signed term of a sum."""

    negative: bool
    piece: _Piece


def equation(target: str, tree: Expression, digits: int = 5) -> str:
    """Return ``target = formula`` as a ``<math>`` element; long sums run over several lines.

    Constants are rounded to ``digits`` significant digits.
    """
    terms = _terms(tree, digits)
    head = f"{_identifier(target).markup}<mo>=</mo>"
    lines = _lines(terms, len(target) + 3)
    rows = [_joined(line, first=number == 0) for number, line in enumerate(lines)]
    if len(rows) == 1:
        return _math(f"<mrow>{head}{rows[0]}</mrow>")
    cells = [
        f"<mtr><mtd>{head if number == 0 else ''}</mtd><mtd>{_DISPLAY}{row}</mrow></mtd></mtr>"
        for number, row in enumerate(rows)
    ]
    return _math(f"<mtable>{''.join(cells)}</mtable>")


def symbol(name: str) -> str:
    """Return a name as a ``<math>`` element that stands in running text."""
    return f"<math>{_identifier(name).markup}</math>"


def _math(inner: str) -> str:
    return f'<math display="block">{inner}</math>'


def _lines(terms: Sequence[_Term], start: int) -> list[list[_Term]]:
    lines: list[list[_Term]] = [[]]
    width = start
    for term in terms:
        if lines[-1] and width + term.piece.width > _LINE:
            lines.append([])
            width = start
        lines[-1].append(term)
        width += term.piece.width + 3
    return lines


def _joined(terms: Sequence[_Term], *, first: bool) -> str:
    parts = []
    for number, term in enumerate(terms):
        leading = first and number == 0
        if term.negative:
            parts.append(f'<mo form="prefix">{MINUS}</mo>' if leading else f"<mo>{MINUS}</mo>")
        elif not leading:
            parts.append("<mo>+</mo>")
        parts.append(term.piece.markup)
    return "".join(parts)


def _terms(tree: Expression, digits: int, negative: bool = False) -> list[_Term]:
    """Return the signed terms of a sum; anything else is its only term."""
    if isinstance(tree, Binary) and tree.operator in "+-":
        right = negative != (tree.operator == "-")
        return _terms(tree.left, digits, negative) + _terms(tree.right, digits, right)
    if isinstance(tree, Negative):
        return _terms(tree.operand, digits, not negative)
    flipped, positive = _without_sign(tree)
    piece, minus = _unsigned(positive, digits), negative != flipped
    # A factor of one is not written: what is left of -1 (a + b) is a sum.
    return [_Term(minus, _at_least(piece, _PRODUCT) if minus else piece)]


def _without_sign(tree: Expression) -> tuple[bool, Expression]:
    """Return whether a term starts with a minus, and the term without it."""
    if isinstance(tree, Number) and tree.value < 0:
        return True, Number(-tree.value)
    if isinstance(tree, Negative):
        flipped, rest = _without_sign(tree.operand)
        return not flipped, rest
    if isinstance(tree, Binary) and tree.operator in "*/":
        flipped, left = _without_sign(tree.left)
        return flipped, Binary(tree.operator, left, tree.right)
    return False, tree


def _piece(tree: Expression, digits: int) -> _Piece:
    terms = _terms(tree, digits)
    if len(terms) == 1 and not terms[0].negative:
        return terms[0].piece
    width = sum(term.piece.width + 3 for term in terms)
    return _Piece(f"<mrow>{_joined(terms, first=True)}</mrow>", _SUM, width)


def _unsigned(tree: Expression, digits: int) -> _Piece:
    """Return anything but a sum or what starts with a minus."""
    if isinstance(tree, Number):
        return _number(tree.value, digits)
    if isinstance(tree, Name):
        return _identifier(tree.name)
    if isinstance(tree, Call):
        return _call(tree, digits)
    assert isinstance(tree, Binary)
    return _power(tree, digits) if tree.operator == "**" else _product(tree, digits)


def _number(value: float, digits: int) -> _Piece:
    mantissa, exponent = split(value, digits)
    if -4 <= exponent < 6:
        text = f"{value:.{max(0, digits - 1 - exponent)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return _Piece(f"<mn>{text}</mn>", _ATOM, len(text))
    sign = f"<mo>{MINUS}</mo>" if exponent < 0 else ""
    power = f"<msup><mn>10</mn><mrow>{sign}<mn>{abs(exponent)}</mn></mrow></msup>"
    if mantissa == "1":
        return _Piece(power, _POWER, 3)
    markup = f"<mrow><mn>{mantissa}</mn><mo>\u00d7</mo>{power}</mrow>"
    return _Piece(markup, _PRODUCT, len(mantissa) + 4)


def _identifier(name: str) -> _Piece:
    """Return a name: Greek letters spelled out become letters, ``x_max`` and ``x1`` an index."""
    stem, index = name, ""
    match = re.fullmatch(r"([^\W\d_]+)_?(\d+)", name) or re.fullmatch(r"([^\W_]+)_(\w+)", name)
    if match and (len(match[1]) == 1 or match[1] in _GREEK or len(match[2]) <= 3):
        stem, index = match[1], match[2]
    letter = _letter(stem)
    base = f"<mi>{escape(letter)}</mi>"
    if not index:
        return _Piece(base, _ATOM, len(letter))
    low = f"<mn>{index}</mn>" if index.isdecimal() else f"<mtext>{escape(index)}</mtext>"
    return _Piece(f"<msub>{base}{low}</msub>", _ATOM, len(letter) + len(index))


def _letter(stem: str) -> str:
    """Return the Greek letter that ``stem`` spells out, else ``stem``."""
    if stem not in _GREEK:
        return stem
    size = "CAPITAL" if stem[0].isupper() else "SMALL"
    return lookup(f"GREEK {size} LETTER {stem.upper().replace('LAMBDA', 'LAMDA')}")


def _bracketed(piece: _Piece) -> _Piece:
    markup = f"<mrow><mo>(</mo>{piece.markup}<mo>)</mo></mrow>"
    return _Piece(markup, _ATOM, piece.width + 2)


def _at_least(piece: _Piece, binding: int) -> _Piece:
    return piece if piece.binding >= binding else _bracketed(piece)


def _call(tree: Call, digits: int) -> _Piece:
    argument = _piece(tree.argument, digits)
    inner, width = argument.markup, argument.width
    if tree.function == "sqrt":
        return _Piece(f"<msqrt>{inner}</msqrt>", _ATOM, width + 2)
    if tree.function == "cbrt":
        return _Piece(f"<mroot><mrow>{inner}</mrow><mn>3</mn></mroot>", _ATOM, width + 2)
    if tree.function == "abs":
        bar = '<mo stretchy="true">|</mo>'
        return _Piece(f"<mrow>{bar}{inner}{bar}</mrow>", _ATOM, width + 2)
    if tree.function == "exp" and "<msup>" not in inner and width <= _EXPONENT:
        return _Piece(f"<msup><mi>e</mi><mrow>{inner}</mrow></msup>", _POWER, 1 + width * 3 // 4)
    return _applied(f"<mi>{_FUNCTIONS.get(tree.function, tree.function)}</mi>", argument)


def _applied(function: str, argument: _Piece) -> _Piece:
    markup = f"<mrow>{function}<mo>\u2061</mo>{_bracketed(argument).markup}</mrow>"
    return _Piece(markup, _ATOM, argument.width + 5)


def _power(tree: Binary, digits: int) -> _Piece:
    left, exponent = tree.left, tree.right
    if isinstance(exponent, Number) and exponent.value == 0.5:
        return _call(Call("sqrt", left), digits)
    raised = _piece(exponent, digits)
    if isinstance(left, Call) and left.function not in _DRAWN and _is_natural(exponent):
        name = f"<mi>{_FUNCTIONS.get(left.function, left.function)}</mi>"
        return _applied(f"<msup>{name}{raised.markup}</msup>", _piece(left.argument, digits))
    base = _at_least(_piece(left, digits), _ATOM)
    markup = f"<msup><mrow>{base.markup}</mrow><mrow>{raised.markup}</mrow></msup>"
    return _Piece(markup, _POWER, base.width + raised.width * 3 // 4)


def _is_natural(tree: Expression) -> bool:
    return isinstance(tree, Number) and tree.value.is_integer() and tree.value > 1


def _product(tree: Binary, digits: int) -> _Piece:
    """Return a product; everything divided by stands under one fraction bar."""
    above, below = _factors(tree)
    upper = _multiplied(above, digits)
    if not below:
        return upper
    lower = _multiplied(below, digits)
    markup = f"<mfrac><mrow>{upper.markup}</mrow><mrow>{lower.markup}</mrow></mfrac>"
    return _Piece(markup, _PRODUCT, max(upper.width, lower.width))


def _factors(tree: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return what is multiplied and what is divided by."""
    if not isinstance(tree, Binary) or tree.operator not in "*/":
        return [tree], []
    above, below = _factors(tree.left)
    right, right_below = _factors(tree.right)
    if tree.operator == "/":
        right, right_below = right_below, right
    return above + right, below + right_below


def _multiplied(factors: Sequence[Expression], digits: int) -> _Piece:
    plain = [one for one in factors if not (isinstance(one, Number) and one.value == 1)]
    if not plain:
        return _number(1.0, digits)
    pieces = [_piece(one, digits) for one in plain]
    if len(pieces) == 1:
        return pieces[0]
    pieces = [_at_least(piece, _PRODUCT) for piece in pieces]
    markup = pieces[0].markup
    for left, right, piece in zip(plain, plain[1:], pieces[1:], strict=False):
        markup += (_CLOSE_TIMES if _may_touch(left, right) else _TIMES) + piece.markup
    return _Piece(f"<mrow>{markup}</mrow>", _PRODUCT, sum(p.width + 1 for p in pieces))


def _may_touch(left: Expression, right: Expression) -> bool:
    """Return whether a product is plain without a sign: ``2 x`` but not ``2 3`` or ``mass v``."""
    if _starts_with_number(right):
        return False
    return isinstance(left, Number) or not (_is_word(left) or _is_word(right))


def _starts_with_number(tree: Expression) -> bool:
    while isinstance(tree, Binary):
        tree = tree.left
    return isinstance(tree, Number)


def _is_word(tree: Expression) -> bool:
    if isinstance(tree, Binary) and tree.operator == "**":
        tree = tree.left
    return isinstance(tree, Name) and len(tree.name) > 1 and tree.name not in _GREEK
