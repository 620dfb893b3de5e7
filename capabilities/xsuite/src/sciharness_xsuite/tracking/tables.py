"""The table of particles: one row each, in the order of the input, start and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sciharness.errors import DataError
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.record import Floats, Tracked, loss_reason

_ROWS = 20_000  # at once: memory stays small for a million particles
_UNITS = {"x": " [m]", "y": " [m]", "zeta": " [m]"}

HEADER = (
    "particle_id",
    *(f"{name}_start{_UNITS.get(name, '')}" for name in COORDINATES),
    "survived",
    "lost_at_turn",
    "lost_at_element",
    "lost_at_name",
    "reason",
    *(f"{name}_final{_UNITS.get(name, '')}" for name in COORDINATES),
)


def write_csv(path: Path, start: Floats, tracked: Tracked, names: Sequence[str]) -> None:
    """Write the table as CSV; numbers in their shortest form that reads back the same."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(HEADER) + "\n")
        for first in range(0, len(start), _ROWS):
            columns = _columns(start, tracked, names, slice(first, first + _ROWS))
            texts = [_texts(column) for column in columns]
            stream.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))


def parquet_modules() -> tuple[ModuleType, ModuleType]:
    """Return ``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        DataError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(
            "a Parquet table needs pyarrow, which is not installed",
            where="table",
            hint="pip install 'sciharness-suite[parquet]', or --with table=csv.",
        ) from error
    return pyarrow, pyarrow.parquet


def write_parquet(path: Path, start: Floats, tracked: Tracked, names: Sequence[str]) -> None:
    """Write the table as Parquet.

    Raises:
        DataError: pyarrow is not installed.
    """
    pyarrow, parquet = parquet_modules()
    writer = None
    for first in range(0, len(start), _ROWS):
        columns = _columns(start, tracked, names, slice(first, first + _ROWS))
        rows = pyarrow.table(dict(zip(HEADER, columns, strict=True)))
        writer = writer or parquet.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    if writer is not None:
        writer.close()


def _columns(
    start: Floats, tracked: Tracked, names: Sequence[str], rows: slice
) -> list[Any]:  # Any: arrays of numbers and lists of texts
    survived = tracked.survived[rows]
    at = tracked.lost_at_element[rows]
    return [
        np.arange(rows.start, rows.start + len(survived), dtype=np.int64),
        *start[rows].T,
        survived.astype(np.int64),
        tracked.lost_at_turn[rows],
        at,
        [names[place] if 0 <= place < len(names) else "" for place in at.tolist()],
        [loss_reason(code) for code in tracked.state[rows].tolist()],
        *tracked.final[rows].T,
    ]


def _texts(column: Any) -> list[str]:  # Any: an array of numbers or a list of texts
    if isinstance(column, list):
        return [f'"{text}"' if text else "" for text in column]
    if column.dtype.kind == "f":
        return [repr(value) if value == value else "" for value in column.tolist()]
    return [str(value) for value in column.tolist()]
