"""CSV to context.data and back; what would not come back is refused by name."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sciharness.contextdata._cells import cells_of, column_of
from sciharness.contextdata._folder import Array
from sciharness.contextdata._json import Json
from sciharness.contextdata._tables import (
    Loss,
    Plan,
    read_table_shaped,
    refuse,
    write_carried,
    write_table,
)
from sciharness.contextdata._write import new_file
from sciharness.errors import DataError

SIDECAR = ".manifest.json"
TAB = ".tsv"  # the extension of tables with a tab between cells
_SPECIAL = frozenset(',\t"\r\n')


def from_csv(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    axis: str = "row",
    index: str | None = None,
    text: Collection[str] = (),
    rename: Mapping[str, str] | None = None,
    descriptions: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> dict[str, Json]:
    """Write the table ``source`` as the new directory ``out`` and return its report.

    Each column becomes a variable, int64, bool, float64 or text, along
    ``axis``, or along the column ``index``. ``text`` names columns to keep as
    text; ``rename`` maps column names to those of variables, ``descriptions``
    names to texts. Empty cells among numbers are NaN. The first line holds
    the names; UTF-8. Cells are parted by ``delimiter``, by default a tab in
    ``.tsv`` files and a comma in others.

    A manifest beside it, ``SOURCE.manifest.json`` as :func:`to_csv` writes,
    is used instead of the options.

    Raises:
        DataError: it is no such table; a column would lose something (all are
            named); ``out`` is there already.
    """
    source, out = Path(source), Path(out)
    names, rows = _read(source, delimiter or _delimiter(source))
    columns = _columns(source, names, rows, text)
    sidecar = Path(f"{source}{SIDECAR}")
    plan = Plan(axis, index, rename or {}, descriptions or {})
    if sidecar.exists() and not text and plan == Plan():
        return write_carried(out, columns, sidecar.read_bytes(), source)
    if not rows:
        raise DataError("has no rows", where=str(source), hint="An axis has at least one entry.")
    return write_table(out, columns, plan, source)


def to_csv(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write a table-shaped directory as the new CSV file ``out`` and return its path.

    Axis entries that are more than positions are the first column. The
    manifest, with what CSV cannot hold, goes into ``OUT.manifest.json``.
    NaN is an empty cell; floats have their shortest form that reads the same.
    A ``.tsv`` file has a tab where others have a comma.

    Raises:
        ContextManifestError: the directory is not sound.
        DataError: it is not table-shaped, or a variable has a dtype or values
            that :func:`from_csv` would not give back (all are named); a file
            is there already.
    """
    out = Path(out)
    table = read_table_shaped(path)
    cells: dict[str, list[str]] = {}
    losses: dict[str, Loss] = {}
    for name, array in table.columns.items():
        try:
            cells[name] = cells_of(array)
        except Loss as loss:
            losses[name] = loss
        if name != name.strip() or not name:
            losses[name] = Loss("a name without white space around it", repr(name))
    refuse(path, losses)
    with new_file(out) as file, new_file(Path(f"{out}{SIDECAR}")) as sidecar:
        sidecar.write_bytes(table.manifest)
        with file.open("w", encoding="utf-8", newline="") as stream:
            for row in (tuple(cells), *zip(*cells.values(), strict=True)):
                stream.write(_delimiter(out).join(map(_quoted, row)) + "\n")
    return out


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == TAB else ","


def _quoted(cell: str) -> str:
    # csv.writer leaves a lone carriage return bare, and its reader then ends the line there.
    if cell and not _SPECIAL & set(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _read(source: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    """Return the names and the rows of a table, all of one length."""
    try:
        with source.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            names = [name.strip() for name in next(reader, [])]
            rows = []
            for row in reader:
                if len(row) != len(names) and row:
                    found = f"line {reader.line_num} has {len(row)} cells, the first {len(names)}"
                    raise DataError(found, where=str(source))
                if row:
                    rows.append(row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read as CSV: {error}", where=str(source)) from None
    if not names or "" in names or len(set(names)) < len(names):
        raise DataError("the first line does not name each column once", where=str(source))
    return names, rows


def _columns(
    source: Path, names: Sequence[str], rows: Sequence[Sequence[str]], text: Collection[str]
) -> dict[str, Array]:
    losses = {name: Loss("the name of a column", "none") for name in text if name not in names}
    columns = {}
    for position, name in enumerate(names):
        try:
            columns[name] = column_of([row[position] for row in rows], name in text)
        except Loss as loss:
            losses[name] = loss
    refuse(source, losses)
    return columns
