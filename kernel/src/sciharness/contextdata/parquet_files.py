"""Parquet to context.data and back; what would not come back is refused by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sciharness.contextdata._folder import Array
from sciharness.contextdata._json import Json
from sciharness.contextdata._tables import (
    Loss,
    Plan,
    read_table_shaped,
    refuse,
    same,
    write_carried,
    write_table,
)
from sciharness.contextdata._write import new_file
from sciharness.errors import DataError

_KEY = b"context.data"


def from_parquet(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    axis: str = "row",
    index: str | None = None,
    rename: Mapping[str, str] | None = None,
    descriptions: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """Write a Parquet table as the new directory ``out`` and return its report.

    Integers, floats, bool, text, dates and times without zone become
    variables of that dtype along ``axis``, or along the column ``index``.
    Nulls among floats become NaN, among dates and times NaT. ``rename`` maps
    column names to those of variables, ``descriptions`` names to texts. A
    manifest inside the file, as :func:`to_parquet` writes, is used instead of
    the options.

    Raises:
        DataError: it is no Parquet file; a column would lose something (all
            are named); ``out`` is there already; pyarrow is not installed.
    """
    source, out = Path(source), Path(out)
    arrow = _arrow()
    try:
        table = arrow.parquet.read_table(source)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"cannot be read as Parquet: {error}", where=str(source)) from None
    losses: dict[str, Loss] = {}
    columns: dict[str, Array] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            if name in columns:
                raise Loss("a name of its own", "a name that is there twice")
            columns[name] = _array(arrow, column)
        except Loss as loss:
            losses[name] = loss
    refuse(source, losses)
    if not columns:
        raise DataError("has no columns", where=str(source))
    carried = (table.schema.metadata or {}).get(_KEY)
    plan = Plan(axis, index, rename or {}, descriptions or {})
    if carried is not None and plan == Plan():
        return write_carried(out, columns, carried, source)
    if not table.num_rows:
        raise DataError("has no rows", where=str(source), hint="An axis has at least one entry.")
    return write_table(out, columns, plan, source)


def to_parquet(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write a table-shaped directory as the new Parquet file ``out`` and return its path.

    Axis entries that are more than positions are the first column. NaN and
    NaT become nulls. The manifest goes into the metadata of the schema, under
    ``context.data``.

    Raises:
        ContextManifestError: the directory is not sound.
        DataError: it is not table-shaped, or a variable has a dtype that
            Parquet would not give back (all are named); ``out`` is there
            already; pyarrow is not installed.
    """
    out = Path(out)
    arrow = _arrow()
    table = read_table_shaped(path)
    losses: dict[str, Loss] = {}
    columns: dict[str, Any] = {}  # Any: arrays of arrow
    for name, array in table.columns.items():
        try:
            columns[name] = _column(arrow, array)
        except Loss as loss:
            losses[name] = loss
    refuse(path, losses)
    written = arrow.table(columns, metadata={_KEY: table.manifest})
    with new_file(out) as file:
        arrow.parquet.write_table(written, file)
    return out


def _arrow() -> Any:  # Any: pyarrow has no types
    try:
        import pyarrow  # heavy, and only here needed
        import pyarrow.parquet
    except ImportError:
        hint = 'Install it: pip install "sciharness[parquet]".'
        raise DataError("Parquet needs pyarrow", hint=hint) from None
    return pyarrow


def _array(arrow: Any, column: Any) -> Array:  # Any: pyarrow has no types
    """Return the values of a column of arrow."""
    kind = column.type
    types = arrow.types
    plain = types.is_integer(kind) or types.is_boolean(kind)
    timed = types.is_date32(kind) or (types.is_timestamp(kind) and kind.tz is None)
    if types.is_string(kind) or types.is_large_string(kind):
        texts = column.to_pylist()
        if column.null_count:
            raise Loss("text in every row", f"{column.null_count} nulls")
        array: Array = np.array(texts, dtype=str)
        if array.tolist() != texts:
            raise Loss("text that does not end in NUL", "such a text")
        return array
    if types.is_floating(kind):
        array = column.to_numpy()
        if column.null_count and np.isnan(array).sum() > column.null_count:
            raise Loss("nulls or NaN, not both", "both")
        return array
    if not (plain or timed):
        raise Loss("integers, floats, bool, text, dates or times without zone", str(kind))
    if plain and column.null_count:
        raise Loss("a value in every row", f"{column.null_count} nulls")
    return np.asarray(column.to_numpy())


def _column(arrow: Any, array: Array) -> Any:  # Any: pyarrow has no types
    """Return an arrow array that :func:`_array` turns back into the same."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    try:
        missing = np.isnan(native) if native.dtype.kind in "fM" else None
        column = arrow.array(native.tolist() if native.dtype.kind == "U" else native, mask=missing)
        back = _array(arrow, arrow.chunked_array([column]))
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise Loss("a dtype that Parquet holds", f"{array.dtype} ({error})") from None
    if not same(back, array):
        raise Loss("a dtype that Parquet holds", str(array.dtype))
    return column
