"""Formulas as trees: a whitelist parser and a writer.

The grammar is numbers, names, ``+ - * / **``, a leading minus or plus,
parentheses and calls of the functions in :data:`FUNCTIONS` with one argument.
Nothing is ever handed to ``eval``; whatever is not in the grammar is refused.
:mod:`sciharness_publisher.evaluation` computes values of a tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from attrs import frozen

from sciharness.errors import ContractError

FUNCTIONS = (
    "abs", "acos", "asin", "atan", "cbrt", "cos", "cosh", "exp",
    "log", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
MAX_CHARACTERS = 20_000
MAX_NODES = 2_000
MAX_DEPTH = 100

_TOKEN = re.compile(
    r"(?P<space>[ \t\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<mark>\*\*|[-+*/(),])"
)
NUMPY_NAMES = {name: name for name in FUNCTIONS} | {
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
}
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
_UNARY_BINDING = 3


class ExpressionError(ContractError):
    """A formula text is not in the grammar or exceeds its bounds."""


@frozen
class Number:
    """A finite constant; a negative one is written with its sign."""

    value: float


@frozen
class Name:
    """A named column."""

    name: str


@frozen
class Negative:
    """The negated operand."""

    operand: Expression


@frozen
class Binary:
    """Two operands joined by one of ``+ - * / **``."""

    operator: str
    left: Expression
    right: Expression


@frozen
class Call:
    """A function of :data:`FUNCTIONS` applied to one argument."""

    function: str
    argument: Expression


Expression = Number | Name | Negative | Binary | Call


def parse(text: str, names: Collection[str] | None = None) -> Expression:
    """Return the tree of a formula text.

    With ``names`` every name in the formula has to be one of them. A name
    directly before a parenthesis is a function, so a column may be called
    ``exp``.

    Raises:
        ExpressionError: the text is not in the grammar, uses a name or
            function that is not known, or exceeds a bound.

    >>> render(parse("2*x + -1/(y**2)", {"x", "y"}))
    '2*x + -1/y**2'
    """
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"a formula has at most {MAX_CHARACTERS} characters, got {len(text)}")
    parser = _Parser(_tokens(text), names)
    tree = parser.expression(0, 0)
    parser.expect_end()
    _check_depth(tree)
    return tree


def render(tree: Expression) -> str:
    """Return a text that :func:`parse` turns into the same tree; whole numbers without a point."""
    return _render(tree)[0]


def python_source(tree: Expression) -> str:
    """Return the formula as a Python expression on numpy arrays, functions under ``np``."""
    return _render(tree, {name: f"np.{numpy}" for name, numpy in NUMPY_NAMES.items()})[0]


def walk(tree: Expression) -> Iterator[Expression]:
    """Yield every node, parents before children, left before right."""
    yield tree
    for child in _children(tree):
        yield from walk(child)


def names_in(tree: Expression) -> tuple[str, ...]:
    """Return the names that the formula uses, sorted."""
    return tuple(sorted({node.name for node in walk(tree) if isinstance(node, Name)}))


def complexity(tree: Expression) -> int:
    """Return the number of nodes: numbers, names, operators and functions.

    >>> complexity(parse("2*x + sin(y)"))
    6
    """
    return sum(1 for _ in walk(tree))


def _check_depth(tree: Expression) -> None:
    level: list[Expression] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise ExpressionError(f"a formula is nested at most {MAX_DEPTH} deep")


def _children(tree: Expression) -> tuple[Expression, ...]:
    if isinstance(tree, Binary):
        return (tree.left, tree.right)
    if isinstance(tree, Negative):
        return (tree.operand,)
    if isinstance(tree, Call):
        return (tree.argument,)
    return ()


def _render(tree: Expression, functions: Mapping[str, str] | None = None) -> tuple[str, int]:
    """Return the text and how tightly its outermost operator binds."""
    if isinstance(tree, Number):
        text = repr(float(tree.value))
        if functions is None:  # in Python a whole number would stay one, and could overflow
            text = text.removesuffix(".0")
        return text, _UNARY_BINDING if text.startswith("-") else 9
    if isinstance(tree, Name):
        return tree.name, 9
    if isinstance(tree, Call):
        name = (functions or {}).get(tree.function, tree.function)
        return f"{name}({_render(tree.argument, functions)[0]})", 9
    if isinstance(tree, Negative):
        text, binding = _render(tree.operand, functions)
        # a bare "-2.0" would be read as a negative number
        bare = isinstance(tree.operand, Number)
        return f"-({text})" if bare or binding < _UNARY_BINDING else f"-{text}", _UNARY_BINDING
    return _render_binary(tree, functions)


def _render_binary(tree: Binary, functions: Mapping[str, str] | None) -> tuple[str, int]:
    mine = _BINDING[tree.operator]
    left, left_binding = _render(tree.left, functions)
    right, right_binding = _render(tree.right, functions)
    power = tree.operator == "**"
    if power and isinstance(tree.right, Number) and tree.right.value.is_integer():
        right = right.removesuffix(".0")
    if left_binding < mine or (power and left_binding == mine):
        left = f"({left})"
    if right_binding < mine or (not power and right_binding == mine):
        right = f"({right})"
    space = " " if mine == 1 else ""
    return f"{left}{space}{tree.operator}{space}{right}", mine


@frozen
class _Token:
    kind: str
    text: str
    place: int


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ExpressionError(
                f"unexpected {text[place]!r} at character {place + 1}",
                hint=f"A formula holds numbers, names, + - * / ** and {', '.join(FUNCTIONS)}.",
            )
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), place + 1))
        place = match.end()
    tokens.append(_Token("end", "the end", place + 1))
    return tokens


class _Parser:
    """Precedence climbing over the tokens; counts nodes and depth as it goes."""

    def __init__(self, tokens: list[_Token], names: Collection[str] | None) -> None:
        self._tokens = tokens
        self._names = None if names is None else set(names)
        self._next = 0
        self._nodes = 0

    def expression(self, binding: int, depth: int) -> Expression:
        """Return the longest expression whose operators bind tighter than ``binding``."""
        tree = self._operand(depth)
        while True:
            operator = self._tokens[self._next].text
            mine = _BINDING.get(operator, 0)
            if mine <= binding:
                return tree
            self._next += 1
            self._count(depth)
            right = self.expression(_UNARY_BINDING - 1 if operator == "**" else mine, depth + 1)
            tree = Binary(operator, tree, right)

    def expect_end(self) -> None:
        """Refuse whatever follows a complete formula."""
        token = self._tokens[self._next]
        if token.kind != "end":
            raise ExpressionError(f"unexpected {token.text!r} at character {token.place}")

    def _operand(self, depth: int) -> Expression:
        token = self._tokens[self._next]
        self._next += 1
        self._count(depth)
        if token.kind == "number":
            return self._number(token)
        if token.kind == "name":
            return self._name(token, depth)
        if token.text == "(":
            tree = self.expression(0, depth + 1)
            self._close()
            return tree
        if token.text in {"-", "+"}:
            return self._signed(token.text, depth)
        raise ExpressionError(f"expected a value at character {token.place}, found {token.text!r}")

    def _signed(self, sign: str, depth: int) -> Expression:
        literal = self._tokens[self._next].kind == "number"
        operand = self.expression(_UNARY_BINDING, depth + 1)
        if sign == "+":
            return operand
        if literal and isinstance(operand, Number):
            return Number(-operand.value)
        return Negative(operand)

    def _number(self, token: _Token) -> Number:
        value = float(token.text)
        if value in (float("inf"), float("-inf")):
            raise ExpressionError(f"{token.text} at character {token.place} is not a finite number")
        return Number(value)

    def _name(self, token: _Token, depth: int) -> Expression:
        if self._tokens[self._next].text == "(":
            return self._call(token, depth)
        if self._names is not None and token.text not in self._names:
            raise ExpressionError(
                f"unknown name {token.text!r} at character {token.place}",
                hint=f"Known names: {', '.join(sorted(self._names)) or 'none'}.",
            )
        return Name(token.text)

    def _call(self, token: _Token, depth: int) -> Call:
        if token.text not in FUNCTIONS:
            raise ExpressionError(
                f"unknown function {token.text!r} at character {token.place}",
                hint=f"Known functions: {', '.join(FUNCTIONS)}.",
            )
        self._next += 1
        argument = self.expression(0, depth + 1)
        self._close()
        return Call(token.text, argument)

    def _close(self) -> None:
        token = self._tokens[self._next]
        if token.text != ")":
            raise ExpressionError(f"expected ')' at character {token.place}, found {token.text!r}")
        self._next += 1

    def _count(self, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ExpressionError(f"a formula has at most {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise ExpressionError(f"a formula is nested at most {MAX_DEPTH} deep")
