"""Canonical forms of formulas: sums of products whose constants each have an effect.

Forms are made by :mod:`sciharness_symbolic_regression.formulas.algebra`. Two forms with
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


class Fixed(float):
    """A constant that is no longer fitted: ``text`` says what it is, ``price`` what it counts."""

    text: str
    price: float

    def __new__(cls, value: float, text: str = "", price: float = 0.0) -> Fixed:
        """Return the number with what is known of it."""
        made = super().__new__(cls, value)
        made.text, made.price = text, price
        return made


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
    """Return the structure of a formula: its text with every constant as ``C``."""
    return _shape_of_sum(form, normalised=False)


def is_normalised(form: Base) -> bool:
    """Whether the first coefficient of a base or logarithm argument is part of the structure."""
    return isinstance(form, Sum) and bool(form.terms) and abs(form.terms[0][0]) == 1.0


def structural(value: float) -> Exponent:
    """Return an exponent as a fraction if it is a small multiple of 1/2, 1/3 or 1/4.

    >>> structural(1.5), structural(0.7)
    (Fraction(3, 2), 0.7)
    """
    for denominator in (1, 2, 3, 4):
        numerator = round(value * denominator)
        if numerator / denominator == value and abs(value) <= 12:
            return Fraction(numerator, denominator)
    return value


def mapped(form: Sum, change: Callable[[float], float]) -> Sum:
    """Return the form with every free constant changed, in their order.

    The order is that of the text, but for a sum that starts with a minus. What is
    :class:`Fixed` stays.
    """
    return _mapped_sum(form, lambda one: one if isinstance(one, Fixed) else change(one), False)


def constants(form: Sum) -> tuple[float, ...]:
    """Return the free constants in the order of :func:`mapped`."""
    found: list[float] = []

    def note(value: float) -> float:
        found.append(value)
        return value

    mapped(form, note)
    return tuple(found)


def fixed(form: Sum) -> tuple[Fixed, ...]:
    """Return the constants that are no longer fitted."""
    found: list[Fixed] = []

    def note(value: float) -> float:
        if isinstance(value, Fixed):
            found.append(value)
        return value

    _mapped_sum(form, note, False)
    return tuple(found)


def faced(form: Sum) -> Sum:
    """Return the formula with ``-2*(y - x)`` as ``2*(x - y)``, wherever a minus can go in."""
    return Sum(tuple(_faced(*term) for term in form.terms), form.constant)


def arrangements(form: Sum) -> Iterator[Sum]:
    """Yield the formula with another term of one of its bases as the one that has no constant.

    Values are the same: ``2*(x + 0.5*y)**2`` becomes ``0.5*(y + 2*x)**2``.
    """
    yield from _arranged(form, normalised=False)


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


def _faced(coefficient: float, product: Product) -> tuple[float, Product]:
    factors: list[tuple[Base, Exponent]] = []
    for base, exponent in product.factors:
        if isinstance(base, Sum):
            new: Base = faced(base)
            plain = isinstance(exponent, Fraction) and exponent == 1
            if coefficient < 0 and plain and _subtracts(base):
                coefficient, new = -coefficient, _negative(faced(base))
        elif isinstance(base, Function):
            new = evolve(base, argument=faced(base.argument))
        else:
            new = base
        factors.append((new, exponent))
    return coefficient, Product(tuple(factors))


def _subtracts(base: Sum) -> bool:
    return base.constant < 0 or any(coefficient < 0 for coefficient, _ in base.terms)


def _negative(base: Sum) -> Sum:
    return Sum(tuple((-one, product) for one, product in base.terms), -base.constant)


def _arranged(form: Sum, normalised: bool) -> Iterator[Sum]:
    for place, (coefficient, product) in enumerate(form.terms):
        free = not (normalised and place == 0)
        for factor, product_ in _arranged_product(product, free):
            terms = list(form.terms)
            terms[place] = (coefficient * factor if free else coefficient, product_)
            yield Sum(tuple(terms), form.constant)


def _arranged_product(product: Product, free: bool) -> Iterator[tuple[float, Product]]:
    for place, (base, exponent) in enumerate(product.factors):
        found: list[tuple[float, Base]] = []
        if isinstance(base, Function):
            inner = _arranged(base.argument, takes_normalised(base.name))
            found = [(1.0, evolve(base, argument=one)) for one in inner]
        elif isinstance(base, Sum):
            found = [(1.0, one) for one in _arranged(base, normalised=True)]
            if free:
                found += [
                    (abs(lead) ** float(exponent), _led_by(base, index))
                    for index, (lead, _) in enumerate(base.terms)
                    if index
                ]
        for factor, other in found:
            factors = list(product.factors)
            factors[place] = (other, exponent)
            yield factor, Product(tuple(factors))


def _led_by(base: Sum, index: int) -> Sum:
    """Return a base divided by the size of one of its coefficients, that term first."""
    lead, product = base.terms[index]
    others = [pair for place, pair in enumerate(base.terms) if place != index]
    rest = tuple((coefficient / abs(lead), other) for coefficient, other in others)
    return Sum(((1.0 if lead > 0 else -1.0, product), *rest), base.constant / abs(lead))


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
