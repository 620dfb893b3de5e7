"""Axis values from JSON scalars to an array, without changing any of them."""

from __future__ import annotations

import math

import numpy as np

from sciharness.contextdata._folder import Array
from sciharness.contextdata._json import Json

# One long text makes every item of a Unicode array as wide.
_WIDEST = 256 * 1024**2  # bytes


def axis_values(values: list[Json]) -> Array:
    """Return the values as a one-dimensional array.

    All text, all bool, all integer (int64) and integer with float (float64)
    get that dtype. Where this would change a value (mixed kinds, null,
    integers past 64 bits or past what a float holds, text that ends in NUL)
    the JSON scalars are kept in an object array.
    """
    kinds = set(map(type, values))
    if kinds == {str} and not any(text.endswith("\0") for text in values):
        if 4 * len(values) * max(map(len, values)) <= _WIDEST:
            return np.array(values)
    elif kinds == {bool}:
        return np.array(values)
    elif kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    elif kinds == {float} or (kinds == {int, float} and all(map(_is_float, values))):
        return np.array(values, dtype=np.float64)
    kept = np.empty(len(values), dtype=object)
    kept[:] = values
    return kept


def first_infinite(values: list[Json]) -> int | None:
    """Return the position of the first number beyond the range of floats, if there is one."""
    for position, value in enumerate(values):
        if type(value) is float and math.isinf(value):
            return position
    return None


def _is_float(value: float) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False
