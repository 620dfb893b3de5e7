"""Canonical forms as formulas to read."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from attrs import frozen

from sciharness_publisher.expression import (
    Binary,
    Call,
    Expression,
    Name,
    Negative,
    Number,
    complexity,
    walk,
)
from sciharness_symbolic_regression.formulas.forms import (
    HALF,
    ONE,
    Base,
    Exponent,
    Fixed,
    Function,
    Product,
    Sum,
    Variable,
    in_order,
    mapped,
    ordered_factors,
    structural,
    takes_normalised,
)
from sciharness_symbolic_regression.formulas.latex import latex_of

__all__ = ["latex_of", "nodes", "order_of", "tree_of"]

ROUNDING = 1e-9  # by which a factor of one may be off


def tree_of(form: Sum) -> Expression:
    """Return the formula as it is shown: fractions, roots, minus signs.

    A sum starts with a positive part if it has one; a minus before a term belongs
    to the term's coefficient. A coefficient that is fixed at 1 is not written.
    """
    return _Writer(lambda value, place: Number(value)).sum(form)


def nodes(form: Sum) -> int:
    """Return how many nodes the formula has; a factor of one counts no more than where it is fixed.

    A law that fits exactly would otherwise be too large for its plain coefficients.
    """
    return complexity(tree_of(mapped(form, _one)))


def order_of(form: Sum) -> tuple[int, ...]:
    """Return the places of the free constants in :func:`forms.constants` as the text has them."""
    nodes = walk(_Writer(_Placed).sum(form))
    return tuple(node.place for node in nodes if isinstance(node, _Placed))


def _one(value: float) -> float:
    near = abs(abs(value) - 1.0) < ROUNDING and not isinstance(value, Fixed)
    return Fixed(math.copysign(1.0, value)) if near else value


@frozen
class _Placed(Number):
    """A free constant and its place among all."""

    place: int


class _Writer:
    """Writes a form; counts its free constants in the order of :func:`forms.constants`."""

    def __init__(self, number: Callable[[float, int], Number]) -> None:
        self._number = number
        self._free = 0

    def sum(self, form: Sum, normalised: bool = False) -> Expression:
        """Return a sum; ``normalised`` leaves out the size of its first coefficient."""
        if not form.terms:
            below = form.constant < 0
            return self._constant(form.constant, below) if form.constant else Number(0.0)
        parts: list[tuple[str, Expression]] = []
        first = _first(form)
        for place, (coefficient, product) in enumerate(form.terms):
            below = coefficient < 0
            shown = None if normalised and place == 0 else coefficient
            term = self._product(shown, product, below and place == first)
            parts.append(("-" if below else "+", term))
        if form.constant:
            mark = "-" if form.constant < 0 else "+"
            parts.append((mark, self._constant(form.constant)))
        order = [first, *(place for place in _order(form) if place != first)]
        (_, tree), *others = [parts[place] for place in order]
        return reduce(lambda left, part: Binary(part[0], left, part[1]), others, tree)

    def _product(self, coefficient: float | None, product: Product, below: bool) -> Expression:
        bare = coefficient is None or (isinstance(coefficient, Fixed) and abs(coefficient) == 1.0)
        top: list[Expression] = []
        if coefficient is not None and not bare:
            top.append(self._constant(coefficient, below))
        places: tuple[list[Expression], ...] = ([], [], [], [])
        for base, exponent in ordered_factors(product):
            tree = self._base(base)
            plain = structural(exponent) if isinstance(exponent, Fixed) else exponent
            places[_place(plain)].append(self._power(tree, plain))
        above, root_above, root_below, bottom = places
        top += above
        if root_above:
            top.append(Call("sqrt", _fraction(root_above, root_below)))
        elif root_below:
            bottom.insert(0, Call("sqrt", _times(root_below)))
        if bare and below:
            top[:1] = [Negative(top[0])] if top else [Number(-1.0)]
        return _fraction(top or [Number(1.0)], bottom)

    def _power(self, base: Expression, exponent: Exponent) -> Expression:
        """Return a power as it stands in its place: bare under a root, positive below."""
        if not isinstance(exponent, Fraction):
            return Binary("**", base, self._constant(exponent, exponent < 0))
        if exponent in {ONE, -ONE, HALF, -HALF}:
            return base
        return Binary("**", base, Number(float(abs(exponent))))

    def _base(self, base: Base) -> Expression:
        if isinstance(base, Variable):
            return Name(base.name)
        if isinstance(base, Function):
            return Call(base.name, self.sum(base.argument, takes_normalised(base.name)))
        return self.sum(base, normalised=True)

    def _constant(self, value: float, below: bool = False) -> Number:
        size = -abs(float(value)) if below else abs(float(value))
        if isinstance(value, Fixed):
            return Number(size)
        self._free += 1
        return self._number(size, self._free - 1)


def _first(form: Sum) -> int:
    """Return which part of a sum to write first: its first one, or else one without a minus."""
    order = _order(form)
    signs = [coefficient for coefficient, _ in form.terms] + [form.constant]
    if signs[order[0]] < 0 and signs[-1] > 0:
        return len(form.terms)
    return next((place for place in order if signs[place] > 0), order[0])


def _order(form: Sum) -> list[int]:
    """Return the places of a sum's terms as they are written, and of its constant."""
    places = list(range(len(form.terms)))
    if any(isinstance(coefficient, Fixed) for coefficient, _ in form.terms):
        ordered = [product for _, product in in_order(form.terms)]  # another one may lead
        places.sort(key=lambda place: ordered.index(form.terms[place][1]))
    return [*places, len(places)] if form.constant else places


def _place(exponent: Exponent) -> int:
    """Return where a power stands: above, under a root above or below the bar, below."""
    if not isinstance(exponent, Fraction):
        return 0
    if abs(exponent) == HALF:
        return 1 if exponent > 0 else 2
    return 0 if exponent > 0 else 3


def _fraction(above: list[Expression], below: list[Expression]) -> Expression:
    return Binary("/", _times(above), _times(below)) if below else _times(above)


def _times(factors: list[Expression]) -> Expression:
    return reduce(lambda left, right: Binary("*", left, right), factors)
