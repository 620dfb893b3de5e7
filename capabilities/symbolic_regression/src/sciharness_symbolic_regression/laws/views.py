"""Ways to look at a target: transformed, so that a law becomes a plain sum of terms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness_publisher.expression import Call, Expression
from sciharness_symbolic_regression.laws.functions import over, squared

Array = NDArray[np.float64]


@frozen
class View:
    """A change of the target, how to write its inverse, and its slope for the weights.

    Equal scatter of the target is unequal scatter of the changed one, so rows
    count with 1 / slope^2.
    """

    name: str
    change: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    back: Callable[[Expression], Expression]
    fits: Callable[[Array], bool]


def _any(target: Array) -> bool:
    return True


def _never_zero(target: Array) -> bool:
    return bool((target > 0).all() or (target < 0).all())


def _mostly_positive(target: Array) -> bool:
    return bool((target > 0).mean() > 0.5 and -target.min() < 0.1 * target.max())


def _angle(target: Array) -> bool:
    return bool(np.abs(target).max() <= np.pi / 2)


def _half_turn(target: Array) -> bool:
    return bool(target.min() >= 0 and target.max() <= np.pi)


def _small(target: Array) -> bool:
    return bool(target.max() < 30 and target.max() - target.min() < 30)


VIEWS: tuple[View, ...] = (
    View("identity", lambda y: y, np.ones_like, lambda e: e, _any),
    View("square", lambda y: y * y, lambda y: 2 * y, lambda e: Call("sqrt", e), _mostly_positive),
    View("inverse", lambda y: 1 / y, lambda y: y**-2, over, _never_zero),
    View(
        "inverse square", lambda y: y**-2, lambda y: 2 * y**-3,
        lambda e: over(Call("sqrt", e)), _mostly_positive,
    ),
    View("logarithm", np.log, lambda y: 1 / y, lambda e: Call("exp", e), _mostly_positive),
    View("root", np.sqrt, lambda y: 0.5 / np.sqrt(y), squared, _mostly_positive),
    View("exponential", np.exp, np.exp, lambda e: Call("log", e), _small),
    View("sine", np.sin, np.cos, lambda e: Call("asin", e), _angle),
    View("cosine", np.cos, np.sin, lambda e: Call("acos", e), _half_turn),
    View("tangent", np.tan, lambda y: 1 / np.cos(y) ** 2, lambda e: Call("atan", e), _angle),
)  # fmt: skip


def weights_of(slope: Array) -> Array:
    """Return weights (rows,) for a changed target: equal scatter before, capped at the 90 % best.

    The cap keeps a few rows from deciding alone.
    """
    weights = 1.0 / np.maximum(np.square(slope), 1e-300)
    cap = float(np.quantile(weights, 0.9)) or float(weights.max())
    return np.asarray(np.minimum(weights, cap) / cap)
