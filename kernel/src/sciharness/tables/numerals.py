"""What counts as a number in a table, and columns of numbers as float64.

A number is written as ``[+-] digits [mark digits] [e [+-] digits]`` with
digits before or after the decimal mark, ASCII only, blanks or tabs around it,
quotes around the field allowed. So ``1e-3``, ``+1.5``, ``.5`` and ``1.`` are
numbers; ``1,234.5``, ``0x1f``, ``1_000``, ``nan`` and ``inf`` are not.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sciharness.tables.blocks import Block
from sciharness.tables.records import Dialect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MISSING = (b"", b"na", b"n/a", b"nan", b"null")
"""Fields that ``missing: drop`` takes as missing, in any case of letters."""

_DIGITS = rb"[+-]?(?:[0-9]+(?:%(mark)s[0-9]*)?|%(mark)s[0-9]+)(?:[eE][+-]?[0-9]+)?"


@cache
def number_pattern(decimal: str) -> re.Pattern[bytes]:
    """Return the pattern that a stripped field has to match in full to be a number."""
    return re.compile(_DIGITS % {b"mark": re.escape(decimal.encode())})


def to_float(cell: bytes, decimal: str) -> float:
    """Return a stripped field as a float; NaN when it is no finite number."""
    if number_pattern(decimal).fullmatch(cell) is None:
        return float("nan")
    value = float(cell if decimal == "." else cell.replace(decimal.encode(), b"."))
    return value if -float("inf") < value < float("inf") else float("nan")


def is_missing(cell: bytes) -> bool:
    """Whether a stripped field stands for a missing value."""
    return cell.lower() in MISSING


def parse(
    block: Block, columns: Sequence[int], dialect: Dialect, *, fast: bool, gaps: bool
) -> NDArray[np.float64]:
    """Return the columns as float64 (rows, len(columns)); NaN is whatever is no finite number.

    ``fast`` allows the C parser of pandas, which gives the same numbers;
    ``gaps`` says that blank fields are to be expected.
    """
    if fast and block.plain and not _has_split_exponent(block.data, dialect):
        values = _parse_quickly(block, columns, dialect, gaps=gaps)
        if values is not None:
            return values
    return _parse_slowly(block, columns, dialect)


def _has_split_exponent(data: bytes, dialect: Dialect) -> bool:
    """Whether something like ``1e 5`` may be there, which pandas takes for a number."""
    import numpy as np

    if b" " not in data and (b"\t" not in data or dialect.delimiter == "\t"):
        return False
    buffer = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero((buffer | 0x20) == ord("e"))  # e and E, in words too
    after = buffer[np.minimum(marks + 1, len(buffer) - 1)]
    signed = (after == ord("+")) | (after == ord("-"))
    after = buffer[np.minimum(marks + 1 + signed, len(buffer) - 1)]
    before = buffer[np.maximum(marks - 1, 0)]
    number = ((before >= ord("0")) & (before <= ord("9"))) | (before == ord(dialect.decimal))
    return bool((number & ((after == ord(" ")) | (after == ord("\t")))).any())


def _parse_slowly(block: Block, columns: Sequence[int], dialect: Dialect) -> NDArray[np.float64]:
    import numpy as np

    values = np.empty((block.rows, len(columns)), np.float64)
    matches = number_pattern(dialect.decimal).fullmatch
    nan = float("nan")
    for place, column in enumerate(columns):
        cells = block.texts(column)
        if dialect.decimal == ".":
            values[:, place] = [float(cell) if matches(cell) else nan for cell in cells]
        else:
            values[:, place] = [to_float(cell, dialect.decimal) for cell in cells]
    values[~np.isfinite(values)] = nan
    return values


def _parse_quickly(
    block: Block, columns: Sequence[int], dialect: Dialect, *, gaps: bool
) -> NDArray[np.float64] | None:
    """Return what pandas reads, or ``None`` when it meets something that is no number."""
    import numpy as np
    import pandas as pd  # heavy: only for large tables

    missing = [text.decode() for text in MISSING] if gaps else []
    try:
        frame = pd.read_csv(
            io.BytesIO(block.data),
            sep=dialect.delimiter,
            decimal=dialect.decimal,
            header=None,
            names=range(len(dialect.columns)),
            index_col=False,
            usecols=sorted(columns),
            dtype=np.float64,
            engine="c",
            quoting=0 if b'"' in block.data else 3,
            na_filter=gaps,
            keep_default_na=False,
            na_values=missing,
            skip_blank_lines=False,
            low_memory=False,
            **_exact_floats(),
        )
    except (ValueError, OverflowError):
        return None
    if len(frame) != block.rows:
        return None
    values: NDArray[np.float64] = frame.to_numpy()
    order = sorted(columns)
    if list(columns) != order:
        values = values[:, [order.index(column) for column in columns]]
    infinite = np.isinf(values)
    if infinite.any():
        values = np.where(infinite, np.nan, values)
    return values


@cache
def _exact_floats() -> dict[str, Any]:  # Any: keyword arguments
    """Return what makes pandas round correctly; since 3.1 it always does."""
    import pandas as pd

    release = tuple(int(part) for part in pd.__version__.split(".")[:2])
    return {} if release >= (3, 1) else {"float_precision": "round_trip"}
