"""Formulas as they are shown: rounded constants, columns under their own names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve

from sciharness.errors import HarnessError
from sciharness_publisher.expression import (
    Binary,
    Call,
    Expression,
    Name,
    Negative,
    Number,
    parse,
    render,
)

_LONGEST_NAME = 24


def tree_of(text: str) -> Expression | None:
    """Return the tree of a formula text, ``None`` if it is no formula."""
    try:
        return parse(text)
    except (HarnessError, RecursionError):
        return None


def rounded_text(text: str, digits: int) -> str:
    """Return a formula text with constants of at most ``digits`` digits."""
    tree = tree_of(text)
    return text if tree is None else render(rounded(tree, digits))


def rounded(tree: Expression, digits: int) -> Expression:
    """Return the formula with every constant rounded to ``digits`` significant digits."""
    if isinstance(tree, Number):
        return Number(float(f"{tree.value:.{digits}g}"))
    return _with_children(tree, lambda child: rounded(child, digits))


def replaced(tree: Expression, numbers: Mapping[float, Expression]) -> Expression:
    """Return the formula with other expressions for some of its numbers, whatever their sign."""
    if isinstance(tree, Number):
        other = numbers.get(abs(tree.value), tree)
        return Negative(other) if tree.value < 0 and other is not tree else other
    return _with_children(tree, lambda child: replaced(child, numbers))


def renamed(tree: Expression, names: Mapping[str, str]) -> Expression:
    """Return the formula with other names for its columns."""
    if isinstance(tree, Name):
        return Name(names.get(tree.name, tree.name))
    return _with_children(tree, lambda child: renamed(child, names))


def short_names(columns: Mapping[str, str]) -> dict[str, str]:
    """Return for each symbol a name to typeset: its column without the unit.

    Symbols whose column name is long, or would not tell it from another one,
    keep themselves.
    """
    names = {symbol: column.split(" [")[0].strip() for symbol, column in columns.items()}
    every = list(names.values())
    return {
        symbol: name if 0 < len(name) <= _LONGEST_NAME and every.count(name) == 1 else symbol
        for symbol, name in names.items()
    }


def _with_children(tree: Expression, change: Callable[[Expression], Expression]) -> Expression:
    if isinstance(tree, Binary):
        return evolve(tree, left=change(tree.left), right=change(tree.right))
    if isinstance(tree, Call):
        return evolve(tree, argument=change(tree.argument))
    if isinstance(tree, Negative):
        return evolve(tree, operand=change(tree.operand))
    return tree
