"""Checks of single fields: numbers where numbers belong, texts that may name things."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sciharness.tables.blocks import Block
from sciharness.tables.columns import Columns
from sciharness.tables.findings import Findings
from sciharness.tables.numerals import is_missing, number_pattern, parse
from sciharness.tables.records import Dialect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COMMA_NUMBER = re.compile(rb"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(rb"[+-]?[0-9]{1,3}(?:[,.' ][0-9]{3})+(?:[.,][0-9]+)?")
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class NumberCells:
    """Reads the number columns of one block after another and notes what is no number.

    A column of which most fields in a block are text is noted once and left
    out from then on; ``removed`` holds such columns. Of guessed features they
    are no problem.
    """

    def __init__(
        self, columns: Columns, dialect: Dialect, findings: Findings, *, fast: bool
    ) -> None:
        self.removed: set[int] = set()
        self._columns = columns
        self._dialect = dialect
        self._findings = findings
        self._fast = fast
        self._gaps = columns.missing == "drop" or columns.guessed

    def take(self, block: Block, *, clean: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the values (rows, k) of ``columns.numbers`` and which rows are to be dropped.

        NaN stands for whatever is no number.
        """
        import numpy as np

        wanted = self._columns.numbers
        active = [column for column in wanted if column not in self.removed]
        parsed = parse(block, active, self._dialect, fast=self._fast and clean, gaps=self._gaps)
        drop = np.zeros(block.rows, np.bool_)
        bad = np.isnan(parsed)
        if bad.any():
            for place, column in enumerate(active):
                rows = np.flatnonzero(bad[:, place])
                if rows.size:
                    self._bad(block, column, rows, drop)
        if len(active) == len(wanted):
            return parsed, drop
        values = np.full((block.rows, len(wanted)), np.nan)
        values[:, [wanted.index(column) for column in active]] = parsed
        return values, drop

    def _bad(
        self, block: Block, column: int, rows: NDArray[np.int64], drop: NDArray[np.bool_]
    ) -> None:
        cells = self._cells(block, column, rows)
        is_feature = column in self._columns.features
        if is_feature and self._gaps:
            gaps = [is_missing(cell) for cell in cells]
            if not self._columns.guessed:
                drop[rows[gaps]] = True
            rows = rows[[not gap for gap in gaps]]
            cells = [cell for cell, gap in zip(cells, gaps, strict=True) if not gap]
        if not cells:
            return
        if is_feature and self._columns.guessed:
            self.removed.add(column)
        elif self._is_text(cells, block.rows):
            # A blank would be a poor example of a text.
            first = next((at for at, cell in enumerate(cells) if not is_missing(cell)), 0)
            self._note_text_column(block, column, int(rows[first]), cells[first])
        else:
            self._note_cells(block, column, rows, cells)

    def _cells(self, block: Block, column: int, rows: NDArray[np.int64]) -> list[bytes]:
        if len(rows) * 4 < block.rows:
            return block.texts(column, rows=rows)
        cells = block.texts(column)
        return [cells[row] for row in rows.tolist()]

    def _is_text(self, cells: Sequence[bytes], rows: int) -> bool:
        texts = sum(not is_missing(cell) and not _INFINITE.fullmatch(cell) for cell in cells)
        return texts * 2 > rows

    def _note_text_column(self, block: Block, column: int, row: int, cell: bytes) -> None:
        self.removed.add(column)
        name = self._columns.names[column]
        _, hint = _explain(cell, self._dialect)
        if column in self._columns.features:
            hint = hint or f"If it is no feature, name it in ignore: ignore: [{name}]."
        elif column == self._columns.target:
            hint = hint or "For classes set task: classification."
        self._findings.add(
            "text column",
            f"text such as {self._findings.quoted(cell.decode('utf-8', 'replace'))}",
            "numbers",
            hint,
            line=block.line_of(row),
            column=column + 1,
            name=name,
        )

    def _note_cells(
        self, block: Block, column: int, rows: NDArray[np.int64], cells: Sequence[bytes]
    ) -> None:
        name = self._columns.names[column]
        for number, (row, cell) in enumerate(zip(rows.tolist(), cells, strict=True)):
            if self._findings.is_full("number", name):
                self._findings.count_more("number", name, len(cells) - number)
                return
            found, hint = _explain(cell, self._dialect)
            if not hint and is_missing(cell):
                hint = self._gap_hint(column)
            self._findings.add(
                "number",
                found or self._findings.quoted(cell.decode("utf-8", "replace")),
                "a finite number",
                hint,
                line=block.line_of(row),
                column=column + 1,
                name=name,
            )

    def _gap_hint(self, column: int) -> str:
        if column in self._columns.features:
            return "Fill it in, ignore the column, or set missing: drop."
        return "Fill it in or remove the row; missing: drop is for features only."


def _explain(cell: bytes, dialect: Dialect) -> tuple[str, str]:
    """Return what a cell is, empty if only its text tells, and a hint."""
    if not cell:
        return "a blank field", ""
    if number_pattern(dialect.decimal).fullmatch(cell):
        return "a number beyond 1.8e308", ""
    if dialect.decimal == "," and number_pattern(".").fullmatch(cell):
        return "", "Other numbers of this table have a decimal comma; write all alike."
    if _COMMA_NUMBER.fullmatch(cell) and dialect.delimiter == ",":
        return "", "With decimal commas, separate the fields by semicolons or tabs."
    if _COMMA_NUMBER.fullmatch(cell) or _THOUSANDS.fullmatch(cell):
        return "", "Write numbers with one decimal mark and without thousands separators."
    return "", ""


class TextColumn:
    """Numbers the texts of a column by first occurrence and notes blanks and control characters."""

    def __init__(self, column: int, name: str, part: str, findings: Findings) -> None:
        self.column = column
        self.index: dict[bytes, int] = {}
        self._name = name
        self._part = part
        self._findings = findings

    def texts(self, block: Block) -> list[bytes]:
        """Return the checked texts of a block's rows."""
        cells = block.texts(self.column)
        if b"" in cells:
            self._note(block, cells, lambda cell: not cell, "a blank field")
        if _CONTROL.search(b" ".join(cells)):
            self._note(block, cells, _CONTROL.search, "a control character")
        return cells

    def codes(self, cells: Sequence[bytes]) -> NDArray[np.int64]:
        """Return a number for each text, the same for equal texts."""
        import numpy as np

        index = self.index
        return np.array([index.setdefault(cell, len(index)) for cell in cells], np.int64)

    def note_missing(self, block: Block, cells: Sequence[bytes]) -> None:
        """Note texts that only mean that there is none."""
        if any(text.lower() == b"nan" for text in set(cells)):
            self._note(block, cells, lambda cell: cell.lower() == b"nan", "NaN")

    def _note(
        self,
        block: Block,
        cells: Sequence[bytes],
        is_bad: Callable[[bytes], object],
        found: str,
    ) -> None:
        for row, cell in enumerate(cells):
            if not is_bad(cell):
                continue
            if self._findings.is_full(found, self._name):
                self._findings.count_more(found, self._name, 1)
                continue
            self._findings.add(
                found,
                found,
                f"a {self._part}",
                line=block.line_of(row),
                column=self.column + 1,
                name=self._name,
            )
