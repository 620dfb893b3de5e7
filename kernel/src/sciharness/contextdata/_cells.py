"""Cells of a text table to an array and back, where nothing is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from sciharness.contextdata._folder import Array
from sciharness.contextdata._tables import Loss, same

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_PADDED = re.compile(r"[+-]?0[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NAN = {"nan", "+nan", "-nan"}
_INFINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
_BOOLS = ({"true", "false"}, {"True", "False"})
_SURE_DIGITS = 15  # so many decimal digits always survive in a float
_LEAST_NORMAL = 2.3e-308
_AS_TEXT = "Keep it as text."


def column_of(cells: Sequence[str], as_text: bool = False) -> Array:
    """Return the cells of one column as int64, bool, float64 or text, whichever holds them all.

    Empty cells among numbers are NaN. Numbers with leading zeros are text.

    Raises:
        Loss: numbers have more digits than a float holds; empty cells stand
            beside NaN; text ends in NUL.
    """
    if as_text:
        return _texts(cells)
    kinds = set(cells)
    if kinds and any(kinds <= pair for pair in _BOOLS):
        return np.array([cell in {"true", "True"} for cell in cells])
    numbers = [cell.strip() for cell in cells]
    if not any(numbers) or any(_PADDED.fullmatch(cell) for cell in numbers):
        return _texts(cells)
    if all(_INTEGER.fullmatch(cell) for cell in numbers):
        integers = [int(cell) for cell in numbers if len(cell) <= 20]
        if len(integers) == len(numbers) and -(2**63) <= min(integers) <= max(integers) < 2**63:
            return np.array(integers, dtype=np.int64)
    if all(map(_is_number, numbers)):
        return _floats(numbers)
    return _texts(cells)


def cells_of(array: Array) -> list[str]:
    """Return the cells that :func:`column_of` reads back as ``array``.

    Raises:
        Loss: there are none such.
    """
    kind = array.dtype.kind
    if kind == "b":
        cells = ["true" if value else "false" for value in array.tolist()]
    elif kind == "i":
        cells = [str(value) for value in array.tolist()]
    elif kind == "f" and array.dtype.itemsize == 8:
        cells = ["" if value != value else repr(value) for value in array.tolist()]
    elif kind == "U":
        cells = array.tolist()
    else:
        raise Loss("int64, float64, bool or text", str(array.dtype), "NPZ and Parquet hold it.")
    if not same(column_of(cells), array):
        found = f"{array.dtype} whose cells read as {column_of(cells).dtype}"
        raise Loss("values that text can tell", found, "NPZ and Parquet hold it.")
    return cells


def _texts(cells: Sequence[str]) -> Array:
    array = np.array(cells, dtype=str)
    if array.tolist() != list(cells):
        raise Loss("text that does not end in NUL", "such a text")
    return array


def _is_number(cell: str) -> bool:
    return not cell or _NUMBER.fullmatch(cell) is not None or cell.lower() in _NAN | _INFINITE


def _floats(cells: Sequence[str]) -> Array:
    missing = "" in cells
    for line, cell in enumerate(cells):
        if missing and cell.lower() in _NAN:
            raise Loss("empty cells or NaN, not both", f"both, NaN in row {line}", _AS_TEXT)
        if cell and not _survives(cell):
            raise Loss("numbers that a float64 holds", f"{cell[:60]} in row {line}", _AS_TEXT)
    return np.array([float(cell) if cell else np.nan for cell in cells])


def _survives(cell: str) -> bool:
    """Whether a float holds this number: printed to as many digits it reads the same."""
    digits = len(re.split("[eE]", cell)[0].strip("+-").replace(".", "").lstrip("0"))
    value = float(cell)
    if cell.lower() in _NAN | _INFINITE or not digits:
        return True
    if digits <= _SURE_DIGITS and _LEAST_NORMAL < abs(value) < np.inf:
        return True
    try:
        return Decimal(cell) == Decimal(format(value, f".{digits - 1}e"))
    except InvalidOperation:  # the float is infinite, or the exponent absurd
        return False
