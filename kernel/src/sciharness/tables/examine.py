"""From a table file and the contract's words to checked rows and their split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from sciharness.contract.records import ContractInput, Holdout
from sciharness.plugin import Table
from sciharness.tables.baseline import baseline
from sciharness.tables.blocks import changed_while_read
from sciharness.tables.columns import Columns, resolve
from sciharness.tables.dialect import decimal_mark, sniff
from sciharness.tables.findings import Findings
from sciharness.tables.identity import same_rows
from sciharness.tables.records import Dialect
from sciharness.tables.scan import Scan, scan
from sciharness.tables.source import Source
from sciharness.tables.split import FINAL, VERIFICATION, VISIBLE, split_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_FINAL_ROWS = 5
MIN_ROWS = 2
"""Least number of visible rows, and of verification rows where they are asked for."""

_MISREAD = ("ragged", "quote", "unknown", "part", "unnamed", "duplicate", "header", "classes")
WITHOUT_SPLIT = Holdout(mode="none")


@frozen(eq=False)
class Examined:
    """A table that was read once; ``sides`` has one entry per kept row.

    ``rows_repeated`` counts rows that equal an earlier one; ``sha256`` and
    ``size`` are those of the file.
    """

    dialect: Dialect
    columns: Columns
    scan: Scan
    sides: NDArray[np.uint8]
    rows_repeated: int
    sha256: str
    size: int

    def count(self, side: int) -> int:
        """Return how many rows are on one side."""
        return int((self.sides == side).sum())

    @property
    def table(self) -> Table:
        """How the table's files are to be read; classes are those of visible rows."""
        return self.columns.table(self.dialect, self.scan.features, self.visible_classes)

    @property
    def visible_classes(self) -> tuple[str, ...]:
        """Classes that occur in visible rows."""
        import numpy as np

        if self.scan.target is None or not self.scan.classes:
            return ()
        present = np.unique(self.scan.target[self.sides == VISIBLE])
        return tuple(self.scan.classes[code] for code in present.tolist())

    @property
    def rows_dropped(self) -> int:
        """How many rows ``missing: drop`` left out."""
        return len(self.scan.kept) - self.scan.rows

    def facts(self) -> dict[str, Any]:  # Any: JSON values
        """Return facts about the table; of the target only what visible rows tell."""
        facts: dict[str, Any] = {  # Any: JSON values
            "format": self.dialect.format,
            "delimiter": self.dialect.delimiter,
            "decimal": self.dialect.decimal,
            "columns": len(self.dialect.columns),
            "rows": len(self.scan.kept),
            "rows_dropped": self.rows_dropped,
            "rows_repeated": self.rows_repeated,
        }
        visible = self.sides == VISIBLE
        if self.scan.target is not None and visible.any():
            facts |= self._target_facts(visible)
        return facts

    def _target_facts(self, visible: NDArray[np.bool_]) -> dict[str, Any]:  # Any: JSON values
        import numpy as np

        assert self.scan.target is not None
        target = self.scan.target[visible]
        if not self.scan.classes:
            return baseline(target, ())
        present, codes = np.unique(target, return_inverse=True)
        return baseline(codes, [self.scan.classes[code] for code in present.tolist()])

    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know though it is no fault."""
        texts = []
        if self.rows_dropped:
            several = self.rows_dropped > 1
            left_out = "rows are left out" if several else "row is left out"
            where = "them" if several else "it"
            texts.append(f"{self.rows_dropped} {left_out}: a feature is missing in {where}")
        if self.rows_repeated:
            repeated = "rows repeat" if self.rows_repeated > 1 else "row repeats"
            repeated = f"{self.rows_repeated} {repeated} an earlier row"
            texts.append(f"{repeated}; equal rows stay on one side of the split")
        unseen = len(self.scan.classes) - len(self.visible_classes)
        if unseen and self.scan.classes:
            texts.append(
                f"{unseen} class{'es occur' if unseen > 1 else ' occurs'} in no visible row"
            )
        return tuple(texts)


def examine(
    source: Source,
    spec: ContractInput,
    holdout: Holdout,
    findings: Findings,
    *,
    known: Dialect | None = None,
    arrays: bool = False,
    least: int = MIN_ROWS,
) -> Examined | None:
    """Return the table's rows and split; all problems are noted in ``findings``.

    ``None`` when there is nothing that could be read. With problems noted, the
    result is not to be used for more than its columns. ``known`` is the dialect
    of the table that this one is a part of: a part may not show it. ``arrays``
    says that all columns are wanted, see ``scan``. ``least`` is the least number of
    visible rows; below ``MIN_ROWS`` the target may be constant.

    Raises:
        DataError: the file cannot be read, changed, or has a record without end.
    """
    import numpy as np

    findings.place_of = source.place_of
    head = _head(source, spec, holdout, findings, known or source.known)
    if head is None:
        return None
    header, dialect, columns = head
    rows = scan(source, dialect, columns, findings, arrays=arrays)
    if rows.header != header:
        raise changed_while_read(source.name)
    misread = findings.has(*_MISREAD)
    # Rows with faults look equal where both hold no number; their count still matters.
    equal = same_rows(rows.keys) if rows.keys is not None and not findings.count else None
    block = 0 if source.grid is None else source.grid.block
    sides = np.zeros(rows.rows, np.uint8) if misread else split_rows(rows, equal, holdout, block)
    repeated = 0 if equal is None else rows.rows - int(equal.max()) - 1
    identity = source.identity(rows.sha256, rows.size)
    examined = Examined(dialect, columns, rows, sides, repeated, *identity)
    if not misread:
        _check_rows(examined, holdout, findings, least)
        if least >= MIN_ROWS:
            _check_target(examined, findings)
    return examined


def _head(
    source: Source,
    spec: ContractInput,
    holdout: Holdout,
    findings: Findings,
    known: Dialect | None,
) -> tuple[bytes, Dialect, Columns] | None:
    """Return the header's bytes, how the table is written, and what its columns are."""
    with source.stream() as stream:
        sniffed = sniff(stream, findings, None if known is None else known.delimiter)
    if sniffed is None:
        return None
    dialect, header = sniffed
    columns = resolve(dialect.columns, spec, holdout.group, findings)
    if known is not None:
        return header, evolve(dialect, decimal=known.decimal, format=source.format), columns
    with source.stream() as stream:
        decimal = decimal_mark(stream, dialect, columns.numbers, findings)
    return header, evolve(dialect, decimal=decimal, format=source.format), columns


def _check_rows(examined: Examined, holdout: Holdout, findings: Findings, least: int) -> None:
    rows = examined.scan.rows
    splits = holdout.mode not in ("none", "generated") and examined.columns.target is not None
    counts = {
        "final": (examined.count(FINAL), MIN_FINAL_ROWS if splits else 0),
        "visible": (examined.count(VISIBLE), least),
        "verification": (examined.count(VERIFICATION), MIN_ROWS if holdout.verification else 0),
    }
    for part, (count, needed) in counts.items():
        if count < needed:
            findings.add(
                "rows",
                f"{count} {part} rows of {rows}" if splits else f"{rows} rows",
                f"at least {needed}",
                _rows_hint(examined, holdout, part) if splits else "",
                field="holdout" if splits else "",
            )


def _rows_hint(examined: Examined, holdout: Holdout, part: str) -> str:
    if examined.scan.rows < 2 * MIN_FINAL_ROWS:
        return "The table is too small to be split."
    if holdout.mode == "group":
        return "Groups that share equal rows stay together; group by a column with more values."
    if part == "final":
        return "Raise holdout.fraction; equal rows are never split."
    return "Lower holdout.fraction or holdout.verification."


def _check_target(examined: Examined, findings: Findings) -> None:
    target = examined.scan.target
    name = examined.columns.names[examined.columns.target or 0]
    if target is None or findings.has("number", "text column", name=name):
        return
    by_class = examined.columns.task != "regression"
    expected = "at least two classes" if by_class else "values that differ"
    visible = target[examined.sides == VISIBLE]
    if len(target) and not (target != target[0]).any():
        findings.add("constant", f"one value in all {len(target)} rows", expected, name=name)
    elif len(visible) and not (visible != visible[0]).any():
        findings.add(
            "constant",
            f"one value in all {len(visible)} visible rows",
            expected,
            "Choose another split in holdout.",
            name=name,
        )
