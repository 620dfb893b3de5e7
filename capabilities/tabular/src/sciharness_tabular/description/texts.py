"""Columns of text: every cell as the number of its text."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError

Numbers = NDArray[np.int64]


@frozen(eq=False)
class Texts:
    """A column of texts: ``codes`` (rows,) int64 count into ``values``, -1 is a blank cell."""

    codes: Numbers
    values: tuple[str, ...]


@frozen
class Layout:
    """How the file is written: all column names, and for text bytes of header and delimiter."""

    columns: tuple[str, ...]
    format: str = "text"
    delimiter: str = ","
    header: int = 0


def layout_of(path: Path, dialect: Mapping[str, Any]) -> Layout:  # Any: JSON values
    """Return the layout as the table reader found it; without its word the strict CSV's.

    Raises:
        DataError: the first line is no header.
    """
    if dialect:
        columns = tuple(str(name) for name in dialect["columns"])
        named = str(dialect["format"]), str(dialect["delimiter"]), int(dialect["header"])
        return Layout(columns, *named)
    with path.open("rb") as file:
        head = file.readline()
    try:
        (names,) = csv.reader([head.decode("utf-8-sig").rstrip("\r\n")])
    except (ValueError, csv.Error) as error:
        raise DataError(f"the first line is no header: {error}", where=path.name) from error
    return Layout(tuple(names), header=len(head))


def read_texts(path: Path, layout: Layout, names: Sequence[str]) -> dict[str, Texts]:
    """Return the columns of these names; blanks around a text do not count.

    Raises:
        DataError: the file cannot be read that way.
    """
    if not names:
        return {}
    places = [layout.columns.index(name) for name in names]
    read = _parquet if layout.format == "parquet" else _rows
    try:
        frame = read(path, layout, places)
    except (ValueError, OSError) as error:
        raise DataError(f"cannot be read: {error}", where=path.name) from error
    return {name: _coded(frame[place]) for name, place in zip(names, places, strict=True)}


def _coded(column: Any) -> Texts:  # Any: a series of pandas
    codes, found = column.factorize()
    known: dict[str, int] = {}
    stripped = (str(text).strip(" \t") for text in found)
    places = [known.setdefault(text, len(known)) if text else -1 for text in stripped]
    renumbered = np.array([*places, -1], np.int64)  # the last for a missing cell, code -1
    return Texts(renumbered[codes], tuple(known))


def _rows(path: Path, layout: Layout, places: Sequence[int]) -> Any:  # Any: a frame of pandas
    """Return the columns; blank lines, which a table has at its end alone, are no rows."""
    from pandas import read_csv  # heavy, and only needed for texts

    with path.open("rb") as file:
        file.seek(layout.header)
        if not file.read(1):
            return {place: _no_text() for place in places}
        file.seek(layout.header)
        return read_csv(
            file,
            sep=layout.delimiter,
            header=None,
            names=range(len(layout.columns)),
            usecols=list(places),
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            encoding_errors="replace",
        )


def _parquet(path: Path, layout: Layout, places: Sequence[int]) -> Any:  # Any: as above
    from pandas import Series
    from pyarrow import parquet  # optional; the table reader has refused the file without it

    with parquet.ParquetFile(path) as file:
        columns = (file.read(columns=[file.schema_arrow.names[place]])[0] for place in places)
        cells = ([None if one is None else str(one) for one in c.to_pylist()] for c in columns)
        return {place: Series(one, dtype=str) for place, one in zip(places, cells, strict=True)}


def _no_text() -> Any:  # Any: a series of pandas
    from pandas import Series

    return Series([], dtype=str)
