"""Values of a formula on numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import NUMPY_NAMES, Binary, Call, Expression, Name, Number

Array = NDArray[np.float64]

FUNCTIONS: Mapping[str, np.ufunc] = {name: getattr(np, text) for name, text in NUMPY_NAMES.items()}


def evaluate(tree: Expression, columns: Mapping[str, Array]) -> Array:
    """Return the values of the formula, float64, in the common shape of the columns.

    Values outside a function's range come out as NaN or infinity without a
    warning. A formula without names gives an array of shape ``()``.
    """
    with np.errstate(all="ignore"):
        return np.asarray(_value(tree, columns), dtype=np.float64)


def apply(operator: str, left: Any, right: Any) -> Any:  # Any: float64 scalars or arrays
    """Return ``left operator right`` for one of ``+ - * / **``."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "/":
        return left / right
    return left**right


def _value(tree: Expression, columns: Mapping[str, Array]) -> Any:  # Any: as in apply
    if isinstance(tree, Number):
        return np.float64(tree.value)
    if isinstance(tree, Name):
        return columns[tree.name]
    if isinstance(tree, Binary):
        return apply(tree.operator, _value(tree.left, columns), _value(tree.right, columns))
    if isinstance(tree, Call):
        return FUNCTIONS[tree.function](_value(tree.argument, columns))
    return -_value(tree.operand, columns)
