"""Simpler formulas near a given one: a part left out, an exponent made a plain fraction."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attrs import evolve

from sciharness_publisher.expression import Binary, Call, Expression, Negative, Number

NEAR_EXPONENT = 0.2


def reductions(tree: Expression) -> Iterator[Expression]:
    """Yield the tree with one operation replaced by one of its operands, once per place.

    A free exponent is also replaced by the nearest multiple of 1, 1/2, 1/3 and
    1/4. Constants are not fitted here; a worse formula is the caller's to drop.
    """
    if isinstance(tree, Binary):
        yield tree.left
        if tree.operator != "**":
            yield tree.right
        elif isinstance(tree.right, Number):
            yield from (evolve(tree, right=Number(value)) for value in _plain(tree.right.value))
        yield from (evolve(tree, left=left) for left in reductions(tree.left))
        yield from (evolve(tree, right=right) for right in reductions(tree.right))
    elif isinstance(tree, Call):
        yield tree.argument
        yield from (evolve(tree, argument=inner) for inner in reductions(tree.argument))
    elif isinstance(tree, Negative):
        yield tree.operand
        yield from (evolve(tree, operand=inner) for inner in reductions(tree.operand))


def _plain(exponent: float) -> set[float]:
    near = {round(exponent * part) / part for part in (1, 2, 3, 4)}
    exact = Fraction(exponent).limit_denominator(4)
    if float(exact) == exponent:
        return set()
    return {value for value in near if value and abs(value - exponent) < NEAR_EXPONENT}
