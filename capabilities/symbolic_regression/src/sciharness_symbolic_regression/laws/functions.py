"""Functions of one argument that laws are built of, with fixed and with scanned constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sciharness_publisher.expression import Binary, Call, Expression, Number
from sciharness_symbolic_regression.laws.terms import (
    Terms,
    applied,
    joined,
    products,
    raised,
    usable,
)

Array = NDArray[np.float64]
Change = Callable[[Array], Array]
Written = Callable[[Expression], Expression]
Pair = tuple[Change, Written]

SCALES = (0.08, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1, 1.6, 2.5, 5.0)  # of an argument's median size
BEYOND = (1.05, 1.15, 1.3, 1.6, 2.2, 3.5, 6.0, 10.0)  # of an argument's largest value
MOST_RADIANS = 50.0
WAVES = (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12)  # half waves over the range


def call(name: str) -> Written:
    """Return how a function is written."""
    return lambda z: Call(name, z)


def plus(number: float, tree: Expression) -> Expression:
    """Return number + tree."""
    return Binary("+", Number(number), tree)


def minus(number: float, tree: Expression) -> Expression:
    """Return number - tree."""
    return Binary("-", Number(number), tree)


def over(tree: Expression) -> Expression:
    """Return 1 / tree."""
    return Binary("/", Number(1.0), tree)


def times(number: float, tree: Expression) -> Expression:
    """Return number * tree."""
    return tree if number == 1.0 else Binary("*", Number(number), tree)


def squared(tree: Expression) -> Expression:
    """Return tree ** 2."""
    return raised(tree, 2.0)


def _wave(function: Change, inner: Change = lambda z: z) -> Change:
    """Return a wave of an argument, undefined where so many periods would fit anything."""

    def change(z: Array) -> Array:
        turned = inner(z)
        reach = turned.max(axis=-1, keepdims=True) - turned.min(axis=-1, keepdims=True)
        return np.where(reach < MOST_RADIANS, function(turned), np.nan)

    return change


PLAIN: tuple[Pair, ...] = (
    (np.log, call("log")),
    (np.exp, call("exp")),
    (lambda z: np.exp(-z), lambda z: Call("exp", times(-1.0, z))),
    (_wave(np.sin), call("sin")),
    (_wave(np.cos), call("cos")),
    (_wave(lambda z: np.sin(z) ** 2), lambda z: squared(Call("sin", z))),
    (np.sqrt, call("sqrt")),
    (lambda z: 1 / (1 + z), lambda z: over(plus(1.0, z))),
    (lambda z: 1 / (1 - z), lambda z: over(minus(1.0, z))),
    (lambda z: 1 / (1 + z * z), lambda z: over(plus(1.0, squared(z)))),
    (lambda z: 1 / (1 - z * z), lambda z: over(minus(1.0, squared(z)))),
    (lambda z: np.log(1 + z), lambda z: Call("log", plus(1.0, z))),
    (lambda z: np.log(1 + z * z), lambda z: Call("log", plus(1.0, squared(z)))),
    (lambda z: np.sqrt(1 + z), lambda z: Call("sqrt", plus(1.0, z))),
    (lambda z: np.sqrt(1 + z * z), lambda z: Call("sqrt", plus(1.0, squared(z)))),
    (lambda z: np.sqrt(1 - z * z), lambda z: Call("sqrt", minus(1.0, squared(z)))),
    (lambda z: np.exp(-z * z), lambda z: Call("exp", times(-1.0, squared(z)))),
    (np.tanh, call("tanh")),
    (_wave(np.sin, lambda z: z * z), lambda z: Call("sin", squared(z))),
    (_wave(np.cos, lambda z: z * z), lambda z: Call("cos", squared(z))),
    (_wave(np.sin, lambda z: z + z * z), lambda z: Call("sin", Binary("+", z, squared(z)))),
)
ONE_PLUS: Pair = (lambda z: 1 + z, lambda z: plus(1.0, z))
ONE_MINUS: Pair = (lambda z: 1 - z, lambda z: minus(1.0, z))


def plain(terms: Terms) -> Terms:
    """Return every plain function of every term where it is defined."""
    return usable(joined([applied(terms, change, written) for change, written in PLAIN]))


def scanned(argument: Array, tree: Expression, waves: bool = True) -> Terms:
    """Return functions of one argument with constants on a grid that suits its size."""
    found = [
        applied(Terms(argument[None, :], lambda _: tree), change, written)
        for change, written in _grid(argument, waves)
    ]
    return usable(joined(found))


def _grid(argument: Array, waves: bool) -> Iterator[Pair]:
    size = float(np.median(np.abs(argument))) or 1.0
    positive = bool(argument.min() >= 0)
    top = float(argument.max())
    for share in BEYOND if top > 0 else ():
        yield from _poles(share * top)
    for share in SCALES:
        yield from _falls(share * size)
        if positive:
            yield from _shifted(share * size)
        for power in (2, 3, 4) if positive else (2, 4):
            yield _power_over(power, share * size)
    if waves:
        yield from _waves(argument)


def _falls(k: float) -> Iterator[Pair]:
    yield lambda z: np.exp(-z / k), lambda z: Call("exp", times(-1 / k, z))
    yield lambda z: np.exp(z / k), lambda z: Call("exp", times(1 / k, z))
    yield lambda z: np.exp(-k / z), lambda z: Call("exp", Binary("/", Number(-k), z))
    yield lambda z: np.exp(k / z), lambda z: Call("exp", Binary("/", Number(k), z))


def _shifted(k: float) -> Iterator[Pair]:
    yield lambda z: 1 / (k + z), lambda z: over(plus(k, z))
    yield lambda z: np.log(k + z), lambda z: Call("log", plus(k, z))
    yield lambda z: np.sqrt(k + z), lambda z: Call("sqrt", plus(k, z))


def _poles(k: float) -> Iterator[Pair]:
    """Yield functions that end at k, a value beyond the largest argument."""
    yield lambda z: 1 / (k - z), lambda z: over(minus(k, z))
    yield lambda z: np.log(k - z), lambda z: Call("log", minus(k, z))
    yield lambda z: np.sqrt(k - z), lambda z: Call("sqrt", minus(k, z))


def _power_over(power: int, k: float) -> Pair:
    """Return 1 / (1 + (z/k)^p), the fall of a saturating law."""
    lead = k**-power
    return (
        lambda z: 1 / (1 + lead * z**power),
        lambda z: over(plus(1.0, times(lead, raised(z, float(power))))),
    )


def _waves(argument: Array) -> Iterator[Pair]:
    reach = float(argument.max() - argument.min()) or 1.0
    for half in WAVES:
        yield from _wave_pair(half * np.pi / reach)


def _wave_pair(w: float) -> Iterator[Pair]:
    yield lambda z: np.sin(w * z), lambda z: Call("sin", times(w, z))
    yield lambda z: np.cos(w * z), lambda z: Call("cos", times(w, z))


def _inhibited(k: float, q: float) -> Pair:
    return (
        lambda z: 1 / (k + z + q * z * z),
        lambda z: over(plus(k, Binary("+", z, times(q, squared(z))))),
    )


def saturating(argument: Array, tree: Expression) -> Terms:
    """Return 1 / (k1 + z + z^2/k2) on a grid, the fall of an inhibited rate."""
    size = float(np.median(np.abs(argument))) or 1.0
    column = Terms(argument[None, :], lambda _: tree)
    pairs = [_inhibited(k * size, 1 / (q * size)) for k in SCALES for q in SCALES]
    return usable(joined([applied(column, *pair) for pair in pairs]))


def damped(argument: Array, tree: Expression) -> Terms:
    """Return decaying and growing waves on a grid."""
    column = Terms(argument[None, :], lambda _: tree)
    size = float(np.median(np.abs(argument))) or 1.0
    decays = [pair for share in SCALES for pair in _falls(share * size)]
    falls = joined([applied(column, *pair) for pair in decays])
    waves = joined([applied(column, *pair) for pair in _waves(argument)])
    return usable(products(usable(falls), waves))
