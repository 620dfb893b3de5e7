"""The rows of a table, some megabytes at a time, with the places of all fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from attrs import evolve, frozen

from sciharness.errors import DataError
from sciharness.tables.findings import Findings
from sciharness.tables.marks import CR, QUOTE, Marks, find_marks
from sciharness.tables.records import Dialect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 2 << 20  # what is made of a block then stays near the processor
MAX_RECORD_BYTES = 16 << 20


class Stream(Protocol):
    """Bytes in order; ``read`` returns at most ``size`` of them, none at the end."""

    def read(self, size: int) -> bytes:
        """Return the next bytes."""


@frozen(eq=False)
class Block:
    """Complete rows with the expected number of fields.

    ``offset`` is the place of ``data[0]`` in the file and ``line`` its line,
    counted from 1. ``starts`` (rows,) and ``marks`` (rows, columns) int64 are
    places in ``data``: of each row's first byte, and of the byte after each
    field. ``plain`` says that a plain CSV parser reads exactly these rows;
    ``added`` that the last line feed is not in the file.
    """

    data: bytes
    offset: int
    line: int
    starts: NDArray[np.int64]
    marks: NDArray[np.int64]
    plain: bool
    added: bool = False

    @property
    def source(self) -> bytes:
        """The bytes of the rows as they are in the file."""
        return self.data[:-1] if self.added else self.data

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.starts)

    def line_of(self, row: int) -> int:
        """Return the line on which a row starts."""
        return self.line + self.data.count(b"\n", 0, int(self.starts[row]))

    def spans(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return first place and end of each field of a column, its quotes included."""
        import numpy as np

        begins = self.starts if column == 0 else self.marks[:, column - 1] + 1
        ends = self.marks[:, column]
        if column == self.marks.shape[1] - 1 and CR in self.data:
            bytes_before = np.frombuffer(self.data, np.uint8)[ends - 1]
            ends = np.where((bytes_before == CR) & (ends > begins), ends - 1, ends)
        return begins, ends

    def texts(self, column: int, rows: NDArray[np.int64] | slice = slice(None)) -> list[bytes]:
        """Return the text of each field of a column without blanks around it and quotes."""
        begins, ends = self.spans(column)
        data = self.data
        spans = zip(begins[rows].tolist(), ends[rows].tolist(), strict=True)
        cells = [data[a:b] for a, b in spans]
        if b" " in data or b"\t" in data:
            cells = [cell.strip(b" \t") for cell in cells]
        return [unquote(cell) for cell in cells] if b'"' in data else cells

    def text(self, row: int, column: int) -> str:
        """Return one field as ``texts`` gives it, decoded for a message."""
        begins, ends = self.spans(column)
        cell = self.data[int(begins[row]) : int(ends[row])].strip(b" \t")
        return unquote(cell).decode("utf-8", "replace")


def unquote(cell: bytes) -> bytes:
    """Return a stripped field without its quotes, if it has them, and without blanks inside."""
    if len(cell) >= 2 and cell.startswith(b'"') and cell.endswith(b'"'):
        return cell[1:-1].replace(b'""', b'"').strip(b" \t")
    return cell


def blocks(
    stream: Stream, header: bytes, dialect: Dialect, findings: Findings, size: int = BLOCK_BYTES
) -> Iterator[Block]:
    """Yield the rows of a table; ragged rows are noted and left out.

    ``stream`` stands after the header, as ``skip_header`` leaves it.

    Blank lines at the end of the file are no rows.

    Raises:
        DataError: a record is longer than ``MAX_RECORD_BYTES``.
    """
    offset, line, carry = len(header), 1 + header.count(b"\n"), b""
    while True:
        piece = stream.read(size)
        whole_lines = memoryview(piece)[: piece.rfind(b"\n") + 1]
        data = b"".join((carry, whole_lines))
        added = not piece and bool(data.strip(b"\r\n")) and not data.endswith(b"\n")
        if added:
            data += b"\n"
        marks = find_marks(data, dialect.delimiter)
        body = _without_blank_tail(data, marks.cut)
        if body:
            block = _block(data[:body], marks, dialect, findings, offset, line)
            yield evolve(block, added=True) if added else block
            line += block.rows if block.plain and QUOTE not in data else data.count(b"\n", 0, body)
            offset += body
        if not piece:
            _note_open_quote(data[body:], findings, line)
            return
        carry = data[body:] + piece[len(whole_lines) :]
        if len(carry) > MAX_RECORD_BYTES:
            _refuse_record(findings, line, marks)


def block_of_rows(data: bytes, dialect: Dialect) -> Block:
    """Return complete rows that were checked before as one block."""
    aside = Findings("")
    return _block(data, find_marks(data, dialect.delimiter), dialect, aside, 0, 1)


def skip_header(stream: Stream, size: int, file: str) -> bytes:
    """Read past the header and return its bytes.

    Raises:
        DataError: the file is shorter than its header was.
    """
    header = b""
    while len(header) < size:
        piece = stream.read(size - len(header))
        if not piece:
            raise changed_while_read(file)
        header += piece
    return header


def changed_while_read(file: str) -> DataError:
    """Return the error for a file that is not the same at a second look."""
    return DataError(
        "the file changed while it was being read",
        where=file,
        hint="Let the program that writes it finish, then try again.",
    )


def _without_blank_tail(data: bytes, cut: int) -> int:
    """Return the end of the last row that is not blank, its line feed included."""
    tail = cut
    while tail > 0 and data[tail - 1] in b"\r\n":
        tail -= 1
    if tail == 0:
        return 0
    return data.index(b"\n", tail) + 1


def _block(
    data: bytes, marks: Marks, dialect: Dialect, findings: Findings, offset: int, line: int
) -> Block:
    import numpy as np

    within = int(np.searchsorted(marks.places, len(data)))
    places, ends = marks.places[:within], marks.ends_record[:within]
    columns = len(dialect.columns)
    rows = len(places) // columns
    even = len(places) == rows * columns and ends[columns - 1 :: columns].all()
    if even and int(ends.sum()) == rows:
        table = places.reshape(rows, columns)
        whole = True
    else:
        table = _even_rows(data, places, ends, columns, findings, line)
        whole = False
    last = table[:, -1]
    starts = np.empty(len(table), np.int64)
    if whole:
        starts[:1], starts[1:] = 0, last[:-1] + 1
    else:
        finish = places[ends]
        starts[:] = np.concatenate(([0], finish[:-1] + 1))[np.searchsorted(finish, last)]
    _note_faults(data, marks, findings, line)
    return Block(data, offset, line, starts, table, plain=whole and marks.regular)


def _even_rows(
    data: bytes,
    places: NDArray[np.int64],
    ends: NDArray[np.bool_],
    columns: int,
    findings: Findings,
    line: int,
) -> NDArray[np.int64]:
    """Return the field ends of rows with as many fields as the header; note the others."""
    import numpy as np

    finish = np.flatnonzero(ends)
    counts = np.diff(finish, prepend=-1)
    uneven = np.flatnonzero(counts != columns)
    for number, row in enumerate(uneven.tolist()):
        if findings.is_full("ragged", ""):
            findings.count_more("ragged", "", len(uneven) - number)
            break
        start = 0 if row == 0 else int(places[finish[row - 1]]) + 1
        end = int(places[finish[row]])
        blank = not data[start:end].strip(b" \t\r")
        count = int(counts[row])
        findings.add(
            "ragged",
            "a blank line" if blank else f"{count} field{'s' if count != 1 else ''}",
            f"{columns} fields as in the header",
            "A field that holds the delimiter has to be quoted." if count > columns else "",
            line=line + data.count(b"\n", 0, start),
        )
    good = finish[counts == columns]
    table: NDArray[np.int64] = places[good[:, None] + np.arange(1 - columns, 1)[None, :]]
    return table.reshape(-1, columns)


def _note_faults(data: bytes, marks: Marks, findings: Findings, line: int) -> None:
    for place in marks.faults:
        findings.add(
            "quote",
            "text after a closing quote",
            "a delimiter or the end of the line",
            "Inside a quoted field a quote is written twice.",
            line=line + data.count(b"\n", 0, place),
        )


def _note_open_quote(tail: bytes, findings: Findings, line: int) -> None:
    if tail.strip(b"\r\n"):
        findings.add("quote", "a quote that is never closed", "a closing quote", line=line)


def _refuse_record(findings: Findings, line: int, marks: Marks) -> None:
    findings.add(
        "record",
        f"a record longer than {MAX_RECORD_BYTES >> 20} MiB",
        "records of one line each, or quoted line breaks",
        "Is there a quote that is never closed?" if marks.open_quote is not None else "",
        line=line,
    )
    findings.raise_any()
