"""Whether a formula is possible: sums of like quantities, functions of plain numbers.

Constants count as plain numbers. A formula that needs a constant with a unit,
as an empirical fit often does, is therefore marked, with what would mend it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number, render
from sciharness_symbolic_regression.units.dimensions import PURE, Dimension

ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}
SHOWN = 60


class Impossible(ValueError):
    """A formula adds unlike quantities or takes a function of one."""


@frozen
class Check:
    """``possible`` is None where units are not known well enough to tell."""

    possible: bool | None
    why: str = ""


def check(tree: Expression, columns: Mapping[str, Dimension], target: Dimension | None) -> Check:
    """Return whether a formula over ``columns`` gives what the target measures.

    Columns that are not in ``columns`` may measure anything.

    >>> from sciharness_symbolic_regression.units.dimensions import dimension_of
    >>> from sciharness_publisher.expression import parse
    >>> known = {"x": dimension_of("m"), "t": dimension_of("s")}
    >>> check(parse("2*x + t"), known, None).why
    'adds time to length in 2*x + t'
    >>> check(parse("x/t"), known, dimension_of("m/s")).possible
    True
    """
    try:
        found = _dimension(tree, columns)
    except Impossible as error:
        return Check(False, str(error))
    if found is None or target is None:
        return Check(None)
    if found != target and found != PURE and target == PURE:
        return Check(False, f"gives {found} where the target is a plain number")
    if found != target:
        return Check(False, f"gives {found} where the target is {target}")
    return Check(True)


def _dimension(tree: Expression, columns: Mapping[str, Dimension]) -> Dimension | None:
    """Return the dimension, or None where it depends on a column of unknown unit."""
    if isinstance(tree, Number):
        return PURE
    if isinstance(tree, Name):
        return columns.get(tree.name)
    if isinstance(tree, Negative):
        return _dimension(tree.operand, columns)
    if isinstance(tree, Call):
        return _function(tree, _dimension(tree.argument, columns))
    left, right = _dimension(tree.left, columns), _dimension(tree.right, columns)
    if tree.operator == "**":
        return _power(tree, left, right)
    if tree.operator in {"+", "-"}:
        return _sum(tree, left, right)
    if left is None or right is None:
        return None
    return left * right if tree.operator == "*" else left / right


def _sum(tree: Binary, left: Dimension | None, right: Dimension | None) -> Dimension | None:
    if left is None or right is None:
        return None
    if left != right and not _is_zero(tree.left) and not _is_zero(tree.right):
        raise Impossible(f"adds {right} to {left} in {_shown(tree)}")
    return right if _is_zero(tree.left) else left


def _power(tree: Binary, base: Dimension | None, exponent: Dimension | None) -> Dimension | None:
    if exponent not in (None, PURE):
        raise Impossible(f"has an exponent of {exponent} in {_shown(tree)}")
    if base is None or base == PURE:
        return base
    if not isinstance(tree.right, Number):
        raise Impossible(f"raises {base} to a power that varies in {_shown(tree)}")
    return base ** Fraction(tree.right.value).limit_denominator(10**6)


def _function(tree: Call, argument: Dimension | None) -> Dimension | None:
    if argument is None or tree.function == "abs":
        return argument
    if tree.function in ROOTS:
        return argument ** ROOTS[tree.function]
    if argument != PURE:
        raise Impossible(f"takes {tree.function} of {argument} in {_shown(tree)}")
    return PURE


def _is_zero(tree: Expression) -> bool:
    return isinstance(tree, Number) and tree.value == 0.0


def _shown(tree: Expression) -> str:
    text = render(tree)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
