"""Canonical forms of formulas: sums of products whose constants each have an effect.

Forms are made by :mod:`sciharness_symbolic_regression.algebra`. Two forms with
equal :func:`shape` differ in the values of their constants alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeVar

from attrs import evolve, frozen

ONE = Fraction(1)
HALF = Fraction(1, 2)
TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "tanh", "sinh", "cosh"})
INVERSE = frozenset({"asin", "acos", "atan"})  # of a wave it is an angle again, as in refraction
ALGEBRAIC = frozenset({"abs", "cbrt"})

Exponent = Fraction | float  # a fraction belongs to the structure, a float is a constant to fit


@frozen
class Variable:
    """A column."""

    name: str


@frozen
class Function:
    """A function of a sum."""

    name: str
    argument: Sum


@frozen
class Product:
    """Bases to the power of exponents, at least one, in the order of their shapes."""

    factors: tuple[tuple[Base, Exponent], ...]


@frozen
class Sum:
    """Coefficients times products, in the order of their shapes, plus a constant.

    A constant of exactly 0 is absent. Where a sum is a base of a product or the
    argument of a logarithm its first coefficient is 1 or -1 and belongs to the
    structure; everywhere else coefficients are constants to fit.
    """

    terms: tuple[tuple[float, Product], ...] = ()
    constant: float = 0.0


Base = Variable | Function | Sum
_Item = TypeVar("_Item")


def shape(form: Sum) -> str:
    """Return the structure of a formula: its text with every free constant as ``C``."""
    return _shape_of_sum(form, normalised=False)


def is_normalised(form: Base) -> bool:
    """Whether the first coefficient of a base or logarithm argument is part of the structure."""
    return isinstance(form, Sum) and bool(form.terms) and abs(form.terms[0][0]) == 1.0


def mapped(form: Sum, change: Callable[[float], float]) -> Sum:
    """Return the form with every free constant changed, in the order of the written formula."""
    return _mapped_sum(form, change, normalised=False)


def constants(form: Sum) -> tuple[float, ...]:
    """Return the free constants in the order in which the formula shows them."""
    found: list[float] = []

    def note(value: float) -> float:
        found.append(value)
        return value

    mapped(form, note)
    return tuple(found)


def with_constants(form: Sum, values: Iterable[float]) -> Sum:
    """Return the same structure with other constants."""
    given = iter(values)
    return mapped(form, lambda _: float(next(given)))


def ordered_factors(product: Product) -> tuple[tuple[Base, Exponent], ...]:
    """Return the factors as written: numerator, what stands under a root, denominator."""
    parts = factors_by_place(product)
    return tuple(pair for part in parts for pair in part)


def factors_by_place(product: Product) -> tuple[tuple[tuple[Base, Exponent], ...], ...]:
    """Return factors above, under a root above and below its fraction bar, and below.

    Free exponents stand above whatever their sign.
    """
    places: tuple[list[tuple[Base, Exponent]], ...] = ([], [], [], [])
    for base, exponent in product.factors:
        if exponent == HALF and isinstance(exponent, Fraction):
            place = 1
        elif exponent == -HALF and isinstance(exponent, Fraction):
            place = 2
        else:
            place = 3 if isinstance(exponent, Fraction) and exponent < 0 else 0
        places[place].append((base, exponent))
    return tuple(map(tuple, places))


def takes_normalised(name: str) -> bool:
    """Whether a function's argument has a structural first coefficient."""
    return name in {"log", "abs"}


def nests_functions(form: Sum, inside: str = "") -> bool:
    """Whether a trigonometric function holds another function or stands inside one."""
    return any(_nests(base, inside) for base in _outer_functions(form))


def functions_in(form: Sum) -> Iterator[Function]:
    """Yield every function of a formula, at any depth."""
    for base in _outer_functions(form):
        yield base
        yield from functions_in(base.argument)


def exponents_in(form: Sum) -> Iterator[Exponent]:
    """Yield every exponent of a formula, at any depth."""
    for _, product in form.terms:
        for base, exponent in product.factors:
            yield exponent
            if isinstance(base, Function):
                yield from exponents_in(base.argument)
            elif isinstance(base, Sum):
                yield from exponents_in(base)


def in_order(terms: Iterable[tuple[float, Product]]) -> tuple[tuple[float, Product], ...]:
    """Return terms in canonical order: by shape, equal shapes by their constants."""
    return tuple(pair for pair, _ in _sorted((pair, pair[1]) for pair in terms))


def factors_in_order(
    factors: Iterable[tuple[Base, Exponent]],
) -> tuple[tuple[Base, Exponent], ...]:
    """Return factors in canonical order: by shape, equal shapes by their constants."""
    return tuple(pair for pair, _ in _sorted((pair, Product((pair,))) for pair in factors))


def _sorted(items: Iterable[tuple[_Item, Product]]) -> list[tuple[_Item, Product]]:
    listed = list(items)
    if len(listed) < 2:
        return listed
    shapes = [_shape_of_product(product) for _, product in listed]
    if len(set(shapes)) == len(shapes):
        return [item for _, item in sorted(zip(shapes, listed, strict=True), key=lambda x: x[0])]
    return sorted(
        listed, key=lambda item: (_shape_of_product(item[1]), constants(Sum(((1.0, item[1]),))))
    )


def _mapped_sum(form: Sum, change: Callable[[float], float], normalised: bool) -> Sum:
    terms = []
    for index, (coefficient, product) in enumerate(form.terms):
        kept = normalised and index == 0
        value = coefficient if kept else change(coefficient)
        terms.append((value, _mapped_product(product, change)))
    constant = change(form.constant) if form.constant else 0.0
    return Sum(tuple(terms), constant)


def _mapped_product(product: Product, change: Callable[[float], float]) -> Product:
    changed = {}
    for base, exponent in ordered_factors(product):
        if isinstance(base, Sum):
            new: Base = _mapped_sum(base, change, normalised=True)
        elif isinstance(base, Function):
            inner = _mapped_sum(base.argument, change, takes_normalised(base.name))
            new = evolve(base, argument=inner)
        else:
            new = base
        power = exponent if isinstance(exponent, Fraction) else change(exponent)
        changed[base, exponent] = (new, power)
    return Product(tuple(changed[pair] for pair in product.factors))


def _shape_of_sum(form: Sum, normalised: bool) -> str:
    parts = []
    for index, (coefficient, product) in enumerate(form.terms):
        fixed = normalised and index == 0
        lead = ("" if coefficient > 0 else "-") if fixed else "C*"
        parts.append(lead + _shape_of_product(product))
    return " + ".join([*parts, "C"] if form.constant else parts) or "0"


def _shape_of_product(product: Product) -> str:
    return "*".join(
        _shape_of_base(base) + ("" if exponent == 1 else f"**{_shape_of_exponent(exponent)}")
        for base, exponent in product.factors
    )


def _shape_of_base(base: Base) -> str:
    if isinstance(base, Variable):
        return base.name
    if isinstance(base, Function):
        return f"{base.name}({_shape_of_sum(base.argument, takes_normalised(base.name))})"
    return f"({_shape_of_sum(base, normalised=True)})"


def _shape_of_exponent(exponent: Exponent) -> str:
    return f"({exponent})" if isinstance(exponent, Fraction) else "C"


def _nests(base: Function, inside: str) -> bool:
    if base.name in ALGEBRAIC:
        return nests_functions(base.argument, inside)
    if base.name in TRIGONOMETRIC and inside in INVERSE:
        return nests_functions(base.argument, base.name)
    if inside and (inside in TRIGONOMETRIC or base.name in TRIGONOMETRIC):
        return True
    return nests_functions(base.argument, base.name)


def _outer_functions(form: Sum) -> Iterator[Function]:
    for _, product in form.terms:
        for base, _ in product.factors:
            if isinstance(base, Function):
                yield base
            elif isinstance(base, Sum):
                yield from _outer_functions(base)
