"""Reading the two tables of an evaluation: strict, and quick for millions of rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from sciharness.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A decimal number in plain writing: no blanks, no underscores, no nan, no inf.
_NUMBER_BYTES = b"0123456789+-.eE"
_SHOWN = 5


@frozen
class Columns:
    """A strict CSV file as columns of raw cells (UTF-8 bytes), all of length ``rows``."""

    file: str
    rows: int
    cells: Mapping[str, Sequence[bytes]]

    def column(self, name: str) -> Sequence[bytes]:
        """Return the cells of one column.

        Raises:
            DataError: there is no such column.
        """
        if name not in self.cells:
            raise DataError(
                f"expected a column {name!r}, found {', '.join(map(repr, self.cells))}.",
                where=self.file,
                hint="Columns are named as in protocol file-predictor-v1.",
            )
        return self.cells[name]

    def numbers(self, name: str, *, secret: bool = False) -> NDArray[np.float64]:
        """Return one column as float64; ``secret`` keeps its cells out of messages.

        Raises:
            DataError: a cell is empty, is no decimal number, or is not finite.
        """
        import numpy as np

        cells = self.column(name)
        stray = b"".join(cells).translate(None, _NUMBER_BYTES)
        try:
            numbers = np.array([] if stray else list(map(float, cells)), dtype=np.float64)
        except ValueError:
            stray = b"?"
        if stray or not np.isfinite(numbers).all():
            raise self._bad_number(name, cells, secret)
        return numbers

    def _bad_number(self, name: str, cells: Sequence[bytes], secret: bool) -> DataError:
        bad = [row for row, cell in enumerate(cells) if not is_number(cell)]
        shown = "" if secret else f" {_printable(cells[bad[0]])}"
        return DataError(
            f"{len(bad)} of {self.rows} cells of {name!r} are no finite number; "
            f"the first,{shown} in data row {bad[0] + 1}.",
            where=self.file,
            hint="Every row needs one finite decimal number; nothing is left out or filled in.",
        )


def is_number(cell: bytes) -> bool:
    """Return whether a cell is a finite decimal number in plain writing."""
    if cell.translate(None, _NUMBER_BYTES):
        return False
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False


def read_columns(path: Path, file: str) -> Columns:
    """Return the columns of the strict CSV at ``path``; ``file`` names it in messages.

    Raises:
        DataError: no header or row, a repeated column, or a row of another length.
    """
    raw = path.read_bytes()
    if raw and not raw.endswith(b"\n"):
        raw += b"\n"
    quoted = b'"' in raw or b"\r" in raw
    header, cells, ragged = _quoted_cells(raw, file) if quoted else _plain_cells(raw)
    rows = len(cells) // len(header) if header else 0
    if ragged is not None:
        raise DataError(
            f"data row {ragged + 1} has not the {len(header)} cells of the header", where=file
        )
    if not rows or len(set(header)) < len(header):
        raise DataError("expected a header of distinct names and at least one row", where=file)
    names = [name.decode("utf-8", "replace") for name in header]
    width = len(names)
    return Columns(file, rows, {name: cells[at::width] for at, name in enumerate(names)})


def _plain_cells(raw: bytes) -> tuple[list[bytes], list[bytes], int | None]:
    """Split bytes without quotes: header, all cells in row order, first ragged row."""
    import numpy as np

    head, _, body = raw.partition(b"\n")
    header = head.split(b",") if head else []
    if not body or not header:
        return header, [], None
    text = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    commas = np.searchsorted(np.flatnonzero(text == ord(",")), ends)
    ragged = np.flatnonzero(commas != (len(header) - 1) * np.arange(1, len(ends) + 1))
    if ragged.size:
        return header, [], int(ragged[0])
    return header, body[:-1].replace(b"\n", b",").split(b","), None


def _quoted_cells(raw: bytes, file: str) -> tuple[list[bytes], list[bytes], int | None]:
    """Split bytes with quotes or carriage returns by the standard reader."""
    try:
        text = io.StringIO(raw.decode("utf-8"), newline="")
        header, *rows = list(csv.reader(text, strict=True)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"expected strict CSV in UTF-8: {error}", where=file) from error
    for number, row in enumerate(rows):
        if len(row) != len(header):
            return [name.encode() for name in header], [], number
    return [name.encode() for name in header], [cell.encode() for row in rows for cell in row], None


def check_rows(predictions: Columns, labels: Columns) -> None:
    """Refuse predictions that are not exactly the labelled rows, in their order.

    Raises:
        DataError: rows are missing, added, repeated, or in another order.
    """
    found, expected = predictions.column("sample_id"), labels.column("sample_id")
    if found == expected:
        return
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    faults = [
        f"{sum(rows.values())} {word} ({', '.join(map(_printable, list(rows)[:_SHOWN]))})"
        for word, rows in (("missing", missing), ("not asked for or repeated", extra))
        if rows
    ]
    raise DataError(
        f"expected {labels.rows} rows in the order of the input, found {predictions.rows}: "
        + ("; ".join(faults) if faults else "the same rows in another order")
        + ".",
        where=predictions.file,
        hint="A predictor writes one row per input row, in the same order.",
    )


def _printable(cell: bytes) -> str:
    return ascii(cell[:40].decode("utf-8", "replace"))
