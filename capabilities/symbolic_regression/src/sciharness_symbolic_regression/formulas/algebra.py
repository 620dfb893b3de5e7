"""One canonical form for formulas that differ only in how they are written.

A formula becomes a sum of coefficients times products of powers, so that every
constant that is left has an effect of its own: ``2*(3*x)``, ``exp(x + 1)`` and
``1/(2*x + 4)`` lose the constant that another one could stand for. Two formulas
with equal :func:`shape` differ in the values of their constants alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from fractions import Fraction

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative, Number
from sciharness_symbolic_regression.formulas.forms import (
    HALF,
    ONE,
    Base,
    Exponent,
    Function,
    Product,
    Sum,
    Variable,
    factors_in_order,
    in_order,
    structural,
)

ODD = frozenset({"sin", "tan", "tanh", "sinh", "asin", "atan"})
EVEN = frozenset({"cos", "cosh"})
NEVER_NEGATIVE = frozenset({"exp", "abs", "cosh", "acos"})


class Undefined(ValueError):
    """The formula has no real, finite value whatever the data."""


def canonical(tree: Expression, nonnegative: Collection[str] = ()) -> Sum:
    """Return the canonical form; ``nonnegative`` names columns without negative values.

    Raises:
        Undefined: a part of the formula is not finite for any data, or zero is divided by.
    """
    return _Reader(frozenset(nonnegative)).read(tree)


class _Reader:
    """Builds canonical forms bottom-up; knows which columns are never negative."""

    def __init__(self, nonnegative: frozenset[str]) -> None:
        self._nonnegative = nonnegative

    def read(self, tree: Expression) -> Sum:
        if isinstance(tree, Number):
            return Sum((), _finite(tree.value))
        if isinstance(tree, Name):
            return _single(1.0, ((Variable(tree.name), ONE),))
        if isinstance(tree, Negative):
            return scaled(self.read(tree.operand), -1.0)
        if isinstance(tree, Call):
            return self.apply(tree.function, self.read(tree.argument))
        return self.join(tree)

    def join(self, tree: Binary) -> Sum:
        left, right = self.read(tree.left), self.read(tree.right)
        if tree.operator == "+":
            return plus(left, right)
        if tree.operator == "-":
            return plus(left, scaled(right, -1.0))
        if tree.operator == "*":
            return self.times(left, right)
        if tree.operator == "/":
            return self.times(left, self.power(right, -ONE))
        if not right.terms:
            return self.power(left, structural(right.constant))
        if not left.terms and left.constant > 0:
            return self.apply("exp", scaled(right, math.log(left.constant)))
        return self.apply("exp", self.times(right, self.apply("log", left)))

    def times(self, left: Sum, right: Sum) -> Sum:
        if not left.terms:
            return scaled(right, left.constant)
        if not right.terms:
            return scaled(left, right.constant)
        (a, first), (b, second) = _as_product(left), _as_product(right)
        return self.product(a * b, first + second)

    def product(self, coefficient: float, factors: Iterable[tuple[Base, Exponent]]) -> Sum:
        """Return coefficient times factors: equal bases joined, exponentials merged."""
        exponents: dict[Base, Exponent] = {}
        for base, exponent in factors:
            exponents[base] = _added(exponents.get(base, Fraction(0)), exponent)
        grown = Sum()
        for base in [base for base in exponents if _is(base, "exp")]:
            assert isinstance(base, Function)
            grown = plus(grown, scaled(base.argument, float(exponents.pop(base))))
        left = [(base, exponent) for base, exponent in exponents.items() if exponent != 0]
        if grown.terms:
            left.append((Function("exp", grown), ONE))
        if not left:
            return Sum((), _finite(coefficient))
        if len(left) == 1 and isinstance(left[0][0], Sum) and left[0][1] == 1:
            return scaled(left[0][0], coefficient)
        cleared = self._cleared(coefficient, left)
        if cleared is not None:
            return cleared
        return _single(_finite(coefficient), left)

    def _cleared(self, coefficient: float, factors: list[tuple[Base, Exponent]]) -> Sum | None:
        """Return ``(1 - t/x)*x`` as ``x - t``: a column that a sum divides by, multiplied in."""
        for place, (base, exponent) in enumerate(factors):
            if not (isinstance(base, Sum) and isinstance(exponent, Fraction) and exponent == 1):
                continue
            for other, (name, power) in enumerate(factors):
                if isinstance(name, Variable) and (part := _clearing(base, name, power)):
                    grown = Sum()
                    for value, product in base.terms:
                        grown = plus(grown, self.product(value, (*product.factors, (name, part))))
                    if base.constant:
                        grown = plus(grown, _single(base.constant, ((name, part),)))
                    left = [pair for at, pair in enumerate(factors) if at not in {place, other}]
                    rest = self.product(coefficient, [*left, (name, _added(power, -part))])
                    return self.times(rest, grown)
        return None

    def power(self, base: Sum, exponent: Exponent) -> Sum:
        if exponent == 0:
            return Sum((), 1.0)
        if not base.terms:
            return Sum((), _real_power(base.constant, exponent))
        coefficient, factors = _as_product(base)
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            raised = [(part, _multiplied(power, exponent)) for part, power in factors]
            return self.product(_real_power(coefficient, exponent), raised)
        return self._root(coefficient, factors, exponent)

    def _root(
        self, coefficient: float, factors: tuple[tuple[Base, Exponent], ...], exponent: Exponent
    ) -> Sum:
        """Return a power that is defined for non-negative values only."""
        split = isinstance(exponent, Fraction) or len(factors) == 1
        outside = [pair for pair in factors if split and self._positive_factor(*pair)]
        inside = [pair for pair in factors if pair not in outside]
        if coefficient < 0 and not inside:
            raise Undefined("root of a negative value")
        raised = [(self._bare(*pair), _multiplied(pair[1], exponent)) for pair in outside]
        if len(inside) == 1 and coefficient > 0 and _is_odd(inside[0][1]):
            raised.append((inside[0][0], _multiplied(inside[0][1], exponent)))
        elif inside:
            kept = self.product(math.copysign(1.0, coefficient), inside)
            raised.append((kept, exponent))
        return self.product(_real_power(abs(coefficient), exponent), raised)

    def apply(self, name: str, argument: Sum) -> Sum:
        if not argument.terms:
            return Sum((), _constant_value(name, argument.constant))
        if name == "sqrt":
            return self.power(argument, HALF)
        if name == "exp":
            return self._exponential(argument)
        if name == "log":
            return self._logarithm(argument)
        if name == "abs":
            return self._absolute(argument)
        if name in ODD and argument.terms[0][0] < 0:
            return _single(-1.0, ((Function(name, scaled(argument, -1.0)), ONE),))
        if name in EVEN and argument.terms[0][0] < 0:
            argument = scaled(argument, -1.0)
        return _single(1.0, ((Function(name, argument), ONE),))

    def _exponential(self, argument: Sum) -> Sum:
        result = Sum((), _constant_value("exp", argument.constant))
        rest = []
        for coefficient, product in argument.terms:
            inner = _logarithm_in(product)
            if inner is None:
                rest.append((coefficient, product))
            else:  # exp(a*log(f)) is f**a
                result = self.times(result, self.power(inner, structural(coefficient)))
        if not rest:
            return result
        grown = Function("exp", Sum(tuple(rest)))
        return self.times(result, _single(1.0, ((grown, ONE),)))

    def _logarithm(self, argument: Sum) -> Sum:
        coefficient, factors = _as_product(argument)
        if len(factors) == 1 and coefficient > 0 and self._positive_factor(*factors[0]):
            base, exponent = self._bare(*factors[0]), factors[0][1]
            if isinstance(base, Function) and base.name == "exp":
                inner = base.argument
            else:
                inner = self._logarithm_of(self.product(1.0, ((base, ONE),)))
            inner = scaled(inner, float(exponent))
        else:
            inner = self._logarithm_of(self.product(math.copysign(1.0, coefficient), factors))
        return plus(inner, Sum((), _constant_value("log", abs(coefficient))))

    def _logarithm_of(self, argument: Sum) -> Sum:
        return _single(1.0, ((Function("log", argument), ONE),))

    def _absolute(self, argument: Sum) -> Sum:
        coefficient, factors = _as_product(argument)
        if all(self._positive_factor(*pair) for pair in factors):
            return self.product(abs(coefficient), factors)
        inner = self.product(1.0, factors)
        return _single(abs(coefficient), ((Function("abs", inner), ONE),))

    def _positive_factor(self, base: Base, exponent: Exponent) -> bool:
        return _is_even(exponent) or self._never_negative(base)

    def _bare(self, base: Base, exponent: Exponent) -> Base:
        """Return the base, as its absolute value where only an even power hid its sign."""
        if self._never_negative(base):
            return base
        return Function("abs", self.product(1.0, ((base, ONE),)))

    def _never_negative(self, base: Base) -> bool:
        if isinstance(base, Variable):
            return base.name in self._nonnegative
        if isinstance(base, Function):
            return base.name in NEVER_NEGATIVE
        return base.constant >= 0 and all(
            coefficient >= 0 and all(self._positive_factor(*pair) for pair in product.factors)
            for coefficient, product in base.terms
        )


def plus(left: Sum, right: Sum) -> Sum:
    """Return the sum of two forms, equal products joined."""
    terms: dict[Product, float] = {}
    for coefficient, product in left.terms + right.terms:
        terms[product] = terms.get(product, 0.0) + coefficient
    pairs = [(value, product) for product, value in terms.items() if _finite(value) != 0.0]
    return Sum(in_order(pairs), _finite(left.constant + right.constant))


def scaled(form: Sum, factor: float) -> Sum:
    """Return the form times a number."""
    if factor == 0.0:
        return Sum()
    terms = tuple((_finite(coefficient * factor), product) for coefficient, product in form.terms)
    return Sum(terms, _finite(form.constant * factor))


def _single(coefficient: float, factors: Iterable[tuple[Base, Exponent]]) -> Sum:
    ordered = factors_in_order(factors)
    return Sum(((coefficient, Product(ordered)),)) if ordered else Sum((), coefficient)


def _as_product(form: Sum) -> tuple[float, tuple[tuple[Base, Exponent], ...]]:
    """Return coefficient and factors; a real sum becomes one factor with first coefficient 1."""
    if not form.constant and len(form.terms) == 1:
        return form.terms[0][0], form.terms[0][1].factors
    lead = form.terms[0][0]
    inner = scaled(form, 1.0 / lead)
    fixed = ((1.0, inner.terms[0][1]), *inner.terms[1:])  # exactly 1, whatever rounding does
    return lead, ((Sum(fixed, inner.constant), ONE),)


def _clearing(base: Sum, name: Variable, power: Exponent) -> Fraction | None:
    """Return to what power a column is multiplied into a sum that divides by it, if at all."""
    if not isinstance(power, Fraction) or power < 1:
        return None
    below = [
        exponent
        for _, product in base.terms
        for factor, exponent in product.factors
        if factor == name and isinstance(exponent, Fraction) and exponent <= -1
    ]
    longer = len(base.terms) + bool(base.constant) - len(below)
    if not below or longer > len(below) + 1:
        return None
    return Fraction(min(math.floor(power), math.floor(-min(below))))


def _logarithm_in(product: Product) -> Sum | None:
    base, exponent = product.factors[0]
    if len(product.factors) == 1 and exponent == 1 and _is(base, "log"):
        assert isinstance(base, Function)
        return base.argument
    return None


def _is(base: Base, function: str) -> bool:
    return isinstance(base, Function) and base.name == function


def _is_even(exponent: Exponent) -> bool:
    return isinstance(exponent, Fraction) and exponent.numerator % 2 == 0


def _is_odd(exponent: Exponent) -> bool:
    return isinstance(exponent, Fraction) and exponent.denominator == 1 and not _is_even(exponent)


def _added(left: Exponent, right: Exponent) -> Exponent:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return structural(float(left + right))
    return float(left) + float(right)


def _multiplied(left: Exponent, right: Exponent) -> Exponent:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return structural(float(left * right))
    return float(left) * float(right)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Undefined("a constant is not finite")
    return value


def _real_power(base: float, exponent: Exponent) -> float:
    try:
        value = base ** (int(exponent) if exponent == int(exponent) else float(exponent))
    except (ZeroDivisionError, OverflowError) as error:
        raise Undefined(str(error)) from error
    if isinstance(value, complex):
        raise Undefined("root of a negative value")
    return _finite(float(value))


def _constant_value(name: str, argument: float) -> float:
    functions: dict[str, Callable[[float], float]] = {"abs": abs}
    try:
        return _finite(float(functions.get(name, getattr(math, name, abs))(argument)))
    except (ValueError, OverflowError) as error:
        raise Undefined(str(error)) from error
