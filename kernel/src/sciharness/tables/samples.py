"""The column ``sample_id``: names of rows, each only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciharness.tables.blocks import Block
from sciharness.tables.cells import TextColumn
from sciharness.tables.findings import Findings
from sciharness.tables.names import SAMPLE_ID

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SEPARATOR = b"\0"  # never part of a checked name


class SampleNames:
    """Collects the names of all rows in little memory and notes repeated ones."""

    def __init__(self, column: TextColumn, findings: Findings) -> None:
        self._column = column
        self._findings = findings
        self._joined: list[tuple[bytes, int]] = []
        self._hashes: list[NDArray[np.int64]] = []
        self._places: list[tuple[int, int, NDArray[np.int64] | None]] = []
        self._rows = 0

    def take(self, block: Block) -> None:
        """Take the names of one block."""
        import numpy as np

        cells = self._column.texts(block)
        if _SEPARATOR in block.data:  # the table is refused anyway
            cells = [cell.replace(_SEPARATOR, b" ") for cell in cells]
        self._joined.append((_SEPARATOR.join(cells), len(cells)))
        self._hashes.append(np.array([hash(cell) for cell in cells], np.int64))
        lines = None
        if not block.plain or b'"' in block.data:
            feeds = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n"))
            lines = block.line + np.searchsorted(feeds, block.starts)
        self._places.append((self._rows, block.line, lines))
        self._rows += block.rows

    def texts(self, kept: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return the names of kept rows."""
        return tuple(
            cell.decode("utf-8", "replace")
            for cell, keep in zip(self._cells(), kept.tolist(), strict=True)
            if keep
        )

    def note_duplicates(self) -> None:
        """Note each row whose name an earlier row has."""
        import numpy as np

        if not self._rows:
            return
        hashes = np.concatenate(self._hashes)
        ordered = np.sort(hashes)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if not twice.size:
            return
        suspects = set(np.flatnonzero(np.isin(hashes, twice)).tolist())
        first: dict[bytes, int] = {}
        for row, cell in enumerate(self._cells()):
            if row in suspects and cell and first.setdefault(cell, row) != row:
                self._note(row, cell, first[cell])

    def _note(self, row: int, cell: bytes, first: int) -> None:
        if self._findings.is_full("sample", SAMPLE_ID):
            self._findings.count_more("sample", SAMPLE_ID, 1)
            return
        text = self._findings.quoted(cell.decode("utf-8", "replace"))
        self._findings.add(
            "sample",
            f"{text}, which line {self._line_of(first)} has too",
            "each name once",
            line=self._line_of(row),
            column=self._column.column + 1,
            name=SAMPLE_ID,
        )

    def _line_of(self, row: int) -> int:
        for start, line, lines in reversed(self._places):
            if start <= row:
                return line + row - start if lines is None else int(lines[row - start])
        return 0

    def _cells(self) -> list[bytes]:
        cells: list[bytes] = []
        for joined, count in self._joined:
            if count:
                cells.extend(joined.split(_SEPARATOR))
        return cells
