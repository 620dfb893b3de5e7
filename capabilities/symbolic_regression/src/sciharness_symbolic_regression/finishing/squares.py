"""Squares of sums that were found term by term: a^2 - 2 a b + b^2 is (a - b)^2."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from attrs import evolve

from sciharness_symbolic_regression.formulas.forms import (
    Base,
    Function,
    Product,
    Sum,
)

NEAR = 1.4  # factor by which the mixed term may be off; its constant is fitted again
TWO = Fraction(2)

Powers = dict[Base, Fraction]


def squares(form: Sum) -> Iterator[Sum]:
    """Yield the form with three of its terms, anywhere in it, made the square of a sum.

    Constants are not fitted here. The result need not be in canonical order.
    """
    yield from _completed(form)
    for place, (coefficient, product) in enumerate(form.terms):
        for other in _inside(product):
            terms = list(form.terms)
            terms[place] = (coefficient, other)
            yield evolve(form, terms=tuple(terms))


def _inside(product: Product) -> Iterator[Product]:
    for place, (base, exponent) in enumerate(product.factors):
        for other in _changed(base):
            factors = list(product.factors)
            factors[place] = (other, exponent)
            yield Product(tuple(factors))


def _changed(base: Base) -> Iterator[Base]:
    if isinstance(base, Sum):
        yield from squares(base)
    elif isinstance(base, Function):
        yield from (evolve(base, argument=argument) for argument in squares(base.argument))


def _completed(form: Sum) -> Iterator[Sum]:
    roots = [_root(product) for _, product in form.terms]
    for i, j in combinations(range(len(roots)), 2):
        first, second = roots[i], roots[j]
        if first and second:
            yield from _with_square(form, i, j, first, second)
    for i, first in enumerate(roots):
        if first and form.constant:
            yield from _with_square(form, i, None, first, {})


def _with_square(form: Sum, i: int, j: int | None, first: Powers, second: Powers) -> Iterator[Sum]:
    """Yield the form with terms i and j, or i and the constant, and their mixed term as one."""
    outer = form.terms[i][0]
    other = form.constant if j is None else form.terms[j][0]
    if outer * other <= 0.0:
        return
    mixed = _times(first, second)
    for k, (coefficient, product) in enumerate(form.terms):
        if k in (i, j) or dict(product.factors) != mixed:
            continue
        if not 1 / NEAR < coefficient**2 / (4 * outer * other) < NEAR:
            continue
        ratio = (other / outer) ** 0.5 * (1.0 if coefficient * outer > 0 else -1.0)
        lead = (1.0, Product(tuple(first.items())))
        inner = (
            Sum((lead, (ratio, Product(tuple(second.items()))))) if second else Sum((lead,), ratio)
        )
        left = [term for place, term in enumerate(form.terms) if place not in (i, j, k)]
        square = (outer, Product(((inner, TWO),)))
        yield Sum((square, *left), 0.0 if j is None else form.constant)


def _root(product: Product) -> Powers | None:
    """Return the factors of a product's square root if their exponents are whole."""
    found: Powers = {}
    for base, exponent in product.factors:
        if not isinstance(exponent, Fraction) or (exponent / 2).denominator != 1:
            return None
        found[base] = exponent / 2
    return found


def _times(first: Powers, second: Powers) -> Powers:
    found = dict(first)
    for base, exponent in second.items():
        found[base] = found.get(base, Fraction(0)) + exponent
    return {base: exponent for base, exponent in found.items() if exponent}
