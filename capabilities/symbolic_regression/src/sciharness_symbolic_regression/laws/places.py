"""Places in a formula: how fast the formula changes with each part, and new parts put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import Binary, Call, Expression, Negative, Number
from sciharness_symbolic_regression.formulas.tape import SLOPES

Array = NDArray[np.float64]
Path = tuple[int, ...]


def slopes_of(tree: Expression, columns: Mapping[str, Array]) -> list[tuple[Path, Array]]:
    """Return the places of all parts with the derivative of the formula by each, outside first.

    Numbers and exponents are left out: the constants of a formula adapt anyway.
    """
    rows = len(next(iter(columns.values())))
    found: list[tuple[Path, Array]] = []

    def visit(part: Expression, path: Path, slope: Array) -> None:
        if isinstance(part, Number):
            return
        found.append((path, slope))
        if isinstance(part, Negative):
            visit(part.operand, (*path, 0), -slope)
        elif isinstance(part, Call):
            inner, value = evaluate(part.argument, columns), evaluate(part, columns)
            visit(part.argument, (*path, 0), slope * _slope(part.function, inner, value))
        elif isinstance(part, Binary):
            left, right = _sides(part, columns)
            visit(part.left, (*path, 0), slope * left)
            if part.operator != "**":
                visit(part.right, (*path, 1), slope * right)

    with np.errstate(all="ignore"):
        visit(tree, (), np.ones(rows))
    return [(path, slope) for path, slope in found if np.isfinite(slope).all()]


def put(tree: Expression, path: Path, change: Callable[[Expression], Expression]) -> Expression:
    """Return the tree with the part at a place changed."""
    if not path:
        return change(tree)
    first, rest = path[0], path[1:]
    if isinstance(tree, Binary):
        if first == 0:
            return evolve(tree, left=put(tree.left, rest, change))
        return evolve(tree, right=put(tree.right, rest, change))
    if isinstance(tree, Call):
        return evolve(tree, argument=put(tree.argument, rest, change))
    assert isinstance(tree, Negative)
    return Negative(put(tree.operand, rest, change))


def _slope(function: str, argument: Array, value: Array) -> Array:
    return np.asarray(SLOPES[function](argument, value))


def _sides(part: Binary, columns: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return the derivatives of an operation by its operands."""
    left, right = evaluate(part.left, columns), evaluate(part.right, columns)
    one = np.ones(())
    if part.operator == "+":
        return one, one
    if part.operator == "-":
        return one, -one
    if part.operator == "*":
        return right, left
    if part.operator == "/":
        return 1.0 / right, -left / (right * right)
    return np.asarray(right * left ** (right - 1.0)), one
