"""Fast values of a form and their derivatives by its constants, row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.evaluation import FUNCTIONS
from sciharness_symbolic_regression.formulas.forms import (
    Base,
    Exponent,
    Fixed,
    Function,
    Product,
    Sum,
    Variable,
    constants,
    ordered_factors,
    takes_normalised,
)

Array = NDArray[np.float64]

SLOPES: Mapping[str, Callable[[Any, Any], Any]] = {  # argument and value -> derivative
    "abs": lambda x, y: np.sign(x),
    "acos": lambda x, y: -1 / np.sqrt(1 - x * x),
    "asin": lambda x, y: 1 / np.sqrt(1 - x * x),
    "atan": lambda x, y: 1 / (1 + x * x),
    "cbrt": lambda x, y: 1 / (3 * y * y),
    "cos": lambda x, y: -np.sin(x),
    "cosh": lambda x, y: np.sinh(x),
    "exp": lambda x, y: y,
    "log": lambda x, y: 1 / x,
    "sin": lambda x, y: np.cos(x),
    "sinh": lambda x, y: np.cosh(x),
    "sqrt": lambda x, y: 0.5 / y,
    "tan": lambda x, y: 1 + y * y,
    "tanh": lambda x, y: 1 - y * y,
}


@frozen
class Step:
    """One operation; ``left`` and ``right`` are earlier steps, ``detail`` what the kind needs."""

    kind: str
    left: int = -1
    right: int = -1
    detail: Any = None  # Any: a constant's index, a name, a function or an exponent


@frozen
class Tape:
    """The operations of one structure in order; the last one is the formula's value."""

    steps: tuple[Step, ...]
    size: int

    def values(self, theta: Sequence[float] | Array, columns: Mapping[str, Array]) -> Array:
        """Return the formula's values; not finite where it is undefined."""
        with np.errstate(all="ignore"):
            return self._rows(self._forward(theta, columns)[-1], columns)

    def values_and_slopes(
        self, theta: Sequence[float] | Array, columns: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Return values (rows,) and derivatives by the constants (constants, rows)."""
        with np.errstate(all="ignore"):
            values = self._forward(theta, columns)
            slopes = self._backward(values)
            shape = self._rows(values[-1], columns).shape
            table = np.zeros((self.size, *shape))
            for step, slope in zip(self.steps, slopes, strict=True):
                if step.kind == "constant" and slope is not None:
                    table[step.detail] += slope
            return self._rows(values[-1], columns), table

    def _rows(self, value: Any, columns: Mapping[str, Array]) -> Array:  # Any: scalar or array
        rows = next(iter(columns.values())).shape
        return np.broadcast_to(np.asarray(value, dtype=np.float64), rows)

    def _forward(self, theta: Sequence[float] | Array, columns: Mapping[str, Array]) -> list[Any]:
        values: list[Any] = []  # Any: float64 scalars and arrays
        for step in self.steps:
            values.append(_value(step, values, theta, columns))
        return values

    def _backward(self, values: list[Any]) -> list[Any]:
        slopes: list[Any] = [None] * len(values)
        slopes[-1] = np.float64(1.0)
        for place in range(len(values) - 1, -1, -1):
            if slopes[place] is None:
                continue
            for target, part in _parts(self.steps[place], values, place):
                change = slopes[place] * part
                slopes[target] = change if slopes[target] is None else slopes[target] + change
        return slopes


def compiled(form: Sum) -> Tape:
    """Return the tape of a form; its constants are those of :func:`forms.constants`."""
    writer = _Writer()
    writer.sum(form, normalised=False)
    assert writer.constants == len(constants(form))
    return Tape(tuple(writer.steps), writer.constants)


def _value(step: Step, values: list[Any], theta: Any, columns: Mapping[str, Array]) -> Any:
    if step.kind == "constant":
        return np.float64(theta[step.detail])
    if step.kind == "name":
        return columns[step.detail]
    if step.kind == "literal":
        return np.float64(step.detail)
    left = values[step.left]
    if step.kind == "add":
        return left + values[step.right]
    if step.kind == "times":
        return left * values[step.right]
    if step.kind == "negate":
        return -left
    if step.kind == "function":
        return FUNCTIONS[step.detail](left)
    return left ** (step.detail if step.kind == "power" else values[step.right])


def _parts(step: Step, values: list[Any], place: int) -> list[tuple[int, Any]]:
    """Return (earlier step, derivative by it) pairs."""
    left = values[step.left]
    if step.kind == "add":
        return [(step.left, 1.0), (step.right, 1.0)]
    if step.kind == "times":
        return [(step.left, values[step.right]), (step.right, left)]
    if step.kind == "negate":
        return [(step.left, -1.0)]
    if step.kind == "function":
        return [(step.left, SLOPES[step.detail](left, values[place]))]
    if step.kind == "power":
        return [(step.left, step.detail * left ** (step.detail - 1.0))]
    if step.kind == "free power":
        exponent = values[step.right]
        logarithm = np.where(left > 0, np.log(left), 0.0)
        return [
            (step.left, exponent * left ** (exponent - 1.0)),
            (step.right, values[place] * logarithm),
        ]
    return []


class _Writer:
    """Writes steps in the order in which the formula shows its constants."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.constants = 0

    def sum(self, form: Sum, normalised: bool) -> int:
        total = None
        for index, (coefficient, product) in enumerate(form.terms):
            if normalised and index == 0:
                term = self.product(product, None)
                term = term if coefficient > 0 else self._add("negate", term)
            else:
                term = self.product(product, self._constant(coefficient))
            total = term if total is None else self._add("add", total, term)
        if form.constant or total is None:
            zero = not form.constant
            constant = self._add("literal", detail=0.0) if zero else self._constant(form.constant)
            total = constant if total is None else self._add("add", total, constant)
        return total

    def product(self, product: Product, coefficient: int | None) -> int:
        total = coefficient
        for base, exponent in ordered_factors(product):
            factor = self._power(self._base(base), exponent)
            total = factor if total is None else self._add("times", total, factor)
        assert total is not None
        return total

    def _base(self, base: Base) -> int:
        if isinstance(base, Variable):
            return self._add("name", detail=base.name)
        if isinstance(base, Function):
            argument = self.sum(base.argument, takes_normalised(base.name))
            return self._add("function", argument, detail=base.name)
        return self.sum(base, normalised=True)

    def _power(self, base: int, exponent: Exponent) -> int:
        if not isinstance(exponent, Fraction):
            return self._add("free power", base, self._constant(exponent))
        if exponent == 1:
            return base
        if exponent == Fraction(1, 2):
            return self._add("function", base, detail="sqrt")
        return self._add("power", base, detail=float(exponent))

    def _constant(self, value: float) -> int:
        if isinstance(value, Fixed):
            return self._add("literal", detail=float(value))
        self.constants += 1
        return self._add("constant", detail=self.constants - 1)

    def _add(self, kind: str, left: int = -1, right: int = -1, detail: Any = None) -> int:
        self.steps.append(Step(kind, left, right, detail))
        return len(self.steps) - 1
