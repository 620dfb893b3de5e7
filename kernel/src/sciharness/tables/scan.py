"""One pass over a table: every field checked, what the split needs kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from sciharness.tables.blocks import Block, blocks, skip_header
from sciharness.tables.cells import NumberCells, TextColumn
from sciharness.tables.characters import is_clean
from sciharness.tables.columns import Columns
from sciharness.tables.findings import Findings
from sciharness.tables.growing import Growing, reuse_memory
from sciharness.tables.identity import row_keys
from sciharness.tables.numerals import number_pattern
from sciharness.tables.records import Dialect
from sciharness.tables.samples import SampleNames
from sciharness.tables.source import Digested, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EXPECTED_ROWS = 1 << 26

FAST_BYTES = 4 << 20
"""From this file size on pandas parses the numbers; below, importing it costs more."""

MAX_CLASSES = 1000


@frozen(eq=False)
class Scan:
    """What one pass over a table found.

    ``starts`` (rows + 1,) int64 are the places in the text of each row's first
    byte and of the end of the last row; ``kept`` (rows,) bool is false for
    rows that ``missing: drop`` leaves out. All other arrays are about kept
    rows only: ``target`` float64, or class numbers int64; ``keys`` uint64 are
    equal for rows with equal features and target; ``X`` (rows, k) are all columns
    that could be features, if arrays were asked for. ``header`` are the first
    bytes, ``sha256`` and ``size`` those of the whole text.
    """

    starts: NDArray[np.int64]
    kept: NDArray[np.bool_]
    header: bytes
    sha256: str
    size: int
    features: tuple[int, ...]
    target: NDArray[np.float64] | NDArray[np.int64] | None = None
    classes: tuple[str, ...] = ()
    keys: NDArray[np.uint64] | None = None
    group: NDArray[np.int64] | None = None
    X: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    sigma: NDArray[np.float64] | None = None
    sample_id: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """Number of kept rows."""
        return int(self.kept.sum())


def scan(
    source: Source,
    dialect: Dialect,
    columns: Columns,
    findings: Findings,
    *,
    arrays: bool = False,
) -> Scan:
    """Read all rows once; problems are noted in ``findings``.

    With ``arrays`` the number columns and sample names are kept, otherwise
    only what a split needs.

    Raises:
        DataError: the file changed or cannot be read on.
    """
    size = source.expected_bytes
    if size >= FAST_BYTES:
        reuse_memory()
    reader = _Reader(dialect, columns, findings, size=size, arrays=arrays)
    with source.stream() as stream:
        digested = Digested(stream, source.name)
        header = skip_header(digested, dialect.header, source.name)
        for block in blocks(digested, header, dialect, findings):
            reader.take(block)
    return reader.finish(digested, header)


class _Reader:
    """Collects what ``Scan`` holds, block by block."""

    def __init__(
        self,
        dialect: Dialect,
        columns: Columns,
        findings: Findings,
        *,
        size: int,
        arrays: bool,
    ) -> None:
        self._columns = columns
        self._dialect = dialect
        self._findings = findings
        self._size = size
        self._arrays = arrays
        self._numbers = NumberCells(columns, dialect, findings, fast=size >= FAST_BYTES)
        self._group = self._text(columns.group, "group")
        by_class = columns.target is not None and not columns.target_is_number
        self._class = self._text(columns.target if by_class else None, "class")
        self._samples = None
        if columns.sample_id is not None:
            texts = self._text(columns.sample_id, "sample name")
            assert texts is not None
            self._samples = SampleNames(texts, findings)
        self._weighs = False
        self._end = dialect.header
        self._parts: dict[str, Growing] = {}

    def _text(self, column: int | None, part: str) -> TextColumn | None:
        if column is None:
            return None
        return TextColumn(column, self._columns.names[column], part, self._findings)

    def take(self, block: Block) -> None:
        """Check one block and keep what is needed of it."""
        columns = self._columns
        clean = is_clean(block, self._findings)
        values, drop = self._numbers.take(block, clean=clean)
        kept = ~drop
        self._keep(block, "starts", block.starts + block.offset)
        self._keep(block, "kept", kept)
        self._end = block.offset + len(block.source)
        self._check_signs(block, values)
        target = self._target(block, values)
        some = kept if drop.any() else slice(None)
        if target is not None:
            self._keep(block, "target", target[some])
            features = [values[:, place] for place in range(len(columns.features))]
            self._keep(block, "keys", row_keys([*features, target])[some])
        if self._group is not None:
            self._keep(block, "group", self._group.codes(self._group.texts(block))[some])
        if self._samples is not None:
            self._samples.take(block)
        if self._arrays:
            self._keep(block, "X", values[some, : len(columns.features)])
            for part, column in (("weights", columns.weights), ("sigma", columns.sigma)):
                if column is not None:
                    self._keep(block, part, values[some, columns.numbers.index(column)])

    def _target(
        self, block: Block, values: NDArray[np.float64]
    ) -> NDArray[np.float64] | NDArray[np.int64] | None:
        if self._columns.target_is_number:
            return values[:, len(self._columns.features)]
        if self._class is None:
            return None
        cells = self._class.texts(block)
        self._class.note_missing(block, cells)
        return self._class.codes(cells)

    def _check_signs(self, block: Block, values: NDArray[np.float64]) -> None:
        import numpy as np

        columns = self._columns
        if columns.weights is not None and not self._weighs:
            self._weighs = bool((values[:, columns.numbers.index(columns.weights)] > 0).any())
        for column, least, expected in (
            (columns.sigma, np.nextafter(0, 1), "a number above 0"),
            (columns.weights, 0.0, "a number that is not negative"),
        ):
            if column is None:
                continue
            rows = np.flatnonzero(values[:, columns.numbers.index(column)] < least)
            name = columns.names[column]
            for number, row in enumerate(rows.tolist()):
                if self._findings.is_full("sign", name):
                    self._findings.count_more("sign", name, len(rows) - number)
                    break
                found = self._findings.quoted(block.text(row, column))
                line = block.line_of(row)
                self._findings.add("sign", found, expected, line=line, column=column + 1, name=name)

    def _keep(self, block: Block, part: str, values: NDArray[np.generic]) -> None:
        if part not in self._parts:
            # As many rows as there will be if they go on like these, and some to spare.
            expected = self._size * block.rows // max(len(block.data), 1)
            self._parts[part] = Growing(min(expected + expected // 64, MAX_EXPECTED_ROWS))
        self._parts[part].append(values)

    def finish(self, digested: Digested, header: bytes) -> Scan:
        """Return what was collected, after the checks of whole columns."""
        import numpy as np

        columns = self._columns
        found: dict[str, Any] = {  # Any: arrays of different types
            part: values.array() for part, values in self._parts.items()
        }
        found.setdefault("kept", np.empty(0, np.bool_))
        found["starts"] = np.append(found.get("starts", np.empty(0, np.int64)), self._end)
        if self._class is not None and "target" in found:
            found["target"], found["classes"] = self._sorted_classes(found["target"])
        if self._samples is not None:
            self._samples.note_duplicates()
            if self._arrays:
                found["sample_id"] = self._samples.texts(found["kept"])
        if columns.weights is not None and len(found["kept"]) and not self._weighs:
            name = columns.names[columns.weights]
            if not self._findings.has("number", "text column", "sign", name=name):
                self._findings.add("weights", "only zeros", "a weight above 0", name=name)
        removed = self._numbers.removed
        features = tuple(column for column in columns.features if column not in removed)
        return Scan(
            header=header,
            sha256=digested.sha256,
            size=digested.size,
            features=features,
            **found,
        )

    def _sorted_classes(
        self, codes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Number the classes in order: by value if all are numbers, else by their text."""
        import numpy as np

        assert self._class is not None
        known = list(self._class.index)
        present = np.unique(codes).tolist()
        if len(present) > MAX_CLASSES:
            self._findings.add(
                "classes",
                f"{len(present)} different values",
                f"at most {MAX_CLASSES} classes",
                "For a measured quantity set task: regression.",
                name=self._columns.names[self._class.column],
            )
        number = number_pattern(".").fullmatch
        if all(number(known[code]) for code in present):
            order = sorted(present, key=lambda code: (float(known[code]), known[code]))
        else:
            order = sorted(present, key=lambda code: known[code])
        rank = np.zeros(len(known), np.int64)
        rank[order] = np.arange(len(order))
        return rank[codes], tuple(known[code].decode("utf-8", "replace") for code in order)
