"""Predictions of models that are one formula or one linear sum."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from sciharness_publisher.inference.protocol import Columns, Predict, Refused, main

FUNCTIONS: Mapping[str, Any] = {  # Any: numpy's universal functions
    "abs": np.abs, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "cbrt": np.cbrt,
    "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "log": np.log, "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
OPERATIONS: Mapping[type, Any] = {  # Any: functions of two arrays
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: lambda left, right: left**right,
}
MAX_CHARACTERS = 20_000


def build(model: dict[str, Any]) -> Predict:
    """Return the function of the model's columns that the model stands for."""
    if model["kind"] == "linear":
        return lambda columns: linear(model, columns)
    if model["kind"] == "formula":
        tree = read_formula(model["formula"])
        formula(tree, {column["symbol"]: np.zeros(1) for column in model["columns"]})  # refuse now
        return lambda columns: formula(tree, columns)
    raise Refused(f"model: unknown kind {model['kind']!r}")


def linear(model: dict[str, Any], columns: Columns) -> np.ndarray:
    """Return intercept plus the sum of coefficient times column."""
    total = np.asarray(model["intercept"], dtype=np.float64)
    for column, coefficient in zip(model["columns"], model["coefficients"], strict=True):
        total = total + np.float64(coefficient) * columns[column["symbol"]]
    return total


def read_formula(text: str) -> ast.expr:
    """Return the syntax tree of the formula; it is interpreted, never compiled or evaluated."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"model: the formula has more than {MAX_CHARACTERS} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"model: the formula cannot be read: {error}") from error


def formula(tree: ast.expr, columns: Columns) -> np.ndarray:
    """Return the values of the formula, shape of the columns, or () without columns."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(value(tree, columns), dtype=np.float64)
    except RecursionError as error:
        raise Refused("model: the formula is nested too deep") from error


def value(node: ast.expr, columns: Columns) -> Any:  # Any: a float64 scalar or array
    """Return the value of an expression of numbers, columns, + - * / ** and functions."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value(node.left, columns), value(node.right, columns))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        operand = value(node.operand, columns)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.Name) and node.id in columns:
        return columns[node.id]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return constant(node.value)
    if isinstance(node, ast.Call) and _is_allowed(node):
        return FUNCTIONS[ast.unparse(node.func)](value(node.args[0], columns))
    found = ast.unparse(node) if isinstance(node, ast.Name | ast.Call) else type(node).__name__
    raise Refused(f"model: the formula holds {found[:80]!r}, which is not allowed")


def _is_allowed(call: ast.Call) -> bool:
    """Whether a call is a known function of one argument."""
    known = isinstance(call.func, ast.Name) and call.func.id in FUNCTIONS
    return known and len(call.args) == 1 and not call.keywords


def constant(number: Any) -> np.float64:  # Any: int or float, checked by the caller
    """Return a finite float64; integers of any length may stand in a text."""
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise Refused("model: the formula holds a number that is not finite")
    return np.float64(found)


if __name__ == "__main__":
    sys.exit(main(None, build))
