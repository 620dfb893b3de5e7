"""Parquet files as strict CSV text; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciharness.errors import DataError
from sciharness.tables.strict import header_line, quoted

ROWS_AT_ONCE = 20_000


@contextmanager
def csv_stream(path: Path, name: str) -> Iterator[CsvStream]:
    """Open a Parquet file as the strict CSV text of its rows.

    Floats are written with the fewest digits that give the same float64, dates
    and times as in ISO 8601, missing values as blank fields.

    Raises:
        DataError: pyarrow is not installed, or it cannot read the file.
    """
    try:
        import pyarrow as arrow  # optional and heavy
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            "reading Parquet needs pyarrow",
            where=name,
            hint='Install it with `pip install "sciharness[parquet]"`, or save the table as CSV.',
        ) from error
    try:
        file = parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise _broken(name, error) from error
    with file:
        yield CsvStream(file, name)


class CsvStream:
    """The rows of an open Parquet file as a stream of CSV bytes."""

    def __init__(self, file: Any, name: str) -> None:  # Any: pyarrow comes without types
        self._name = name
        self._pieces = _pieces(file, name)
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end.

        Raises:
            DataError: pyarrow cannot read on.
        """
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = piece
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _pieces(file: Any, name: str) -> Iterator[bytes]:  # Any: pyarrow comes without types
    import pyarrow as arrow

    names = file.schema_arrow.names
    if not names:
        raise DataError("a Parquet file without columns", where=name)
    yield header_line(names)
    try:
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
            columns = [_texts(column) for column in batch.columns]
            rows = zip(*columns, strict=True)
            yield b"".join(b",".join(row) + b"\n" for row in rows)
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise _broken(name, error) from error


def _texts(column: Any) -> Sequence[bytes]:  # Any: pyarrow comes without types
    import pyarrow as arrow

    if arrow.types.is_nested(column.type):
        return [b"(nested)"] * len(column)
    if arrow.types.is_floating(column.type):
        values = column.cast(arrow.float64()).to_pylist()
        return [b"" if value is None else repr(value).encode() for value in values]
    return [b"" if value is None else _text(value) for value in column.to_pylist()]


def _text(value: Any) -> bytes:  # Any: whatever Python value a column gives
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, bytes):
        return quoted(value.hex().encode())
    if hasattr(value, "isoformat"):
        return quoted(value.isoformat().encode())
    return quoted(str(value).encode("utf-8", "replace"))


def _broken(name: str, error: Exception) -> DataError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(
        f"no readable Parquet file: {reason[:200]}", where=name, hint="Write the file again."
    )
