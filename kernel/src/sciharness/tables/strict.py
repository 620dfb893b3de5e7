"""Rows rewritten as strict CSV: comma, decimal point, LF, no blanks around fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

from sciharness.tables.blocks import Block
from sciharness.tables.columns import Columns
from sciharness.tables.names import SAMPLE_ID
from sciharness.tables.records import Dialect


def quoted(text: bytes) -> bytes:
    """Return a field as CSV writes it, in quotes where it has to be."""
    if any(mark in text for mark in (b",", b'"', b"\n", b"\r")):
        return b'"' + text.replace(b'"', b'""') + b'"'
    return text


def header_line(names: Iterable[str]) -> bytes:
    """Return the header for these column names."""
    return b",".join(quoted(name.encode()) for name in names) + b"\n"


class StrictWriter:
    """Writes ``sample_id`` with feature columns, and ``sample_id`` with the target.

    Rows are named by the table's ``sample_id``, else numbered from 0. Numbers
    keep the source's digits.
    """

    def __init__(
        self,
        dialect: Dialect,
        columns: Columns,
        inputs: BinaryIO,
        labels: BinaryIO | None,
    ) -> None:
        self._columns = columns
        self._inputs = inputs
        self._labels = labels
        self._delimiter = dialect.delimiter.encode()
        self._decimal = dialect.decimal.encode()
        self._to_strict = bytes.maketrans(self._delimiter + self._decimal, b",.")
        self._blanks = b" " if dialect.delimiter == "\t" else b" \t"
        self._is_strict = dialect.delimiter == "," and dialect.decimal == "."
        self._rows = 0
        self._runs = _runs(columns.features)
        inputs.write(
            header_line([SAMPLE_ID, *(columns.names[place] for place in columns.features)])
        )
        if labels is not None and columns.target is not None:
            labels.write(header_line([SAMPLE_ID, columns.names[columns.target]]))

    def take(self, block: Block) -> None:
        """Write the rows of one block."""
        if not block.rows:
            return
        names = self._names(block)
        _write(self._inputs, names, self._numbers(block, self._runs))
        if self._labels is not None and self._columns.target is not None:
            target = self._columns.target
            if self._columns.target_is_number:
                values = self._numbers(block, [(target, target)])
            else:
                values = [quoted(text) for text in block.texts(target)]
            _write(self._labels, names, values)
        self._rows += block.rows

    def _names(self, block: Block) -> list[bytes]:
        if self._columns.sample_id is not None:
            return [quoted(text) for text in block.texts(self._columns.sample_id)]
        return [b"%d" % number for number in range(self._rows, self._rows + block.rows)]

    def _numbers(self, block: Block, runs: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return for each row the columns of ``runs`` as strict CSV."""
        data = block.data
        parts = []
        for first, last in runs:
            begins, ends = block.spans(first)[0], block.spans(last)[1]
            spans = zip(begins.tolist(), ends.tolist(), strict=True)
            parts.append([data[begin:end] for begin, end in spans])
        rows = parts[0]
        if len(parts) > 1:
            rows = [self._delimiter.join(row) for row in zip(*parts, strict=True)]
        if self._is_strict and not any(mark in data for mark in (b" ", b"\t", b'"')):
            return rows
        text = b"\n".join(rows)
        if b'"' in text:
            places = [place for first, last in runs for place in range(first, last + 1)]
            cells = zip(*(block.texts(place) for place in places), strict=True)
            return [b",".join(map(self._plain, row)) for row in cells]
        return text.translate(self._to_strict, self._blanks).split(b"\n")

    def _plain(self, cell: bytes) -> bytes:
        return cell.replace(self._decimal, b".")


def _write(file: BinaryIO, names: list[bytes], values: list[bytes]) -> None:
    file.write(b"\n".join(map(b",".join, zip(names, values, strict=True))) + b"\n")


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places as runs of neighbours, first and last."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] + 1 == place:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs
