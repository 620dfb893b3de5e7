"""Delimited tables: how they are written and what their columns are; no cell is shown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice

from sciharness.profiles._text import shown
from sciharness.profiles.records import MOST_NAMES, Profile
from sciharness.tables.dialect import sniff
from sciharness.tables.findings import Findings
from sciharness.tables.names import SAMPLE_ID, unit_of

TYPED_ROWS = 2000
_FIELD_BYTES = 1 << 20
_NUMBER_LENGTH = 64  # no number is written longer, and the patterns take long over longer texts

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)", re.I)
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
_RANKS = ("empty", "integer", "number", "text")


def profile_table(kind: str, data: bytes) -> Profile | None:
    """Return the profile of a table, ``None`` if it cannot be read as one."""
    findings = Findings("table")
    sniffed = sniff(io.BytesIO(data), findings)
    if sniffed is None:
        return None
    dialect = sniffed[0]
    try:
        text = data[dialect.header :].decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"no UTF-8 at byte {dialect.header + error.start}"
        return Profile(kind, warnings=(f"{found}: save it as UTF-8 before it is used",))
    warnings = [problem.found for problem in findings.problems()[:20]]
    width = len(dialect.columns)
    ranks, gaps, rows, ragged, comma = _columns(text, dialect.delimiter, width)
    if ragged:
        warnings.append(f"{ragged} rows have another number of fields than the header's {width}")
    names = dialect.columns
    columns = [
        {"name": shown(name), "type": _RANKS[rank], "unit": _unit(name), "missing": missing}
        for name, rank, missing in islice(zip(names, ranks, gaps, strict=True), MOST_NAMES)
    ]
    others = [name for name in names if name != SAMPLE_ID]
    facts = {
        "rows": rows,
        "columns": columns,
        "column_count": width,
        "delimiter": dialect.delimiter,
        "decimal": "," if comma else ".",
        "encoding": dialect.encoding,
        "types_from_rows": min(rows, TYPED_ROWS),
        "default_target": shown(others[-1]) if others else None,
    }
    return Profile(
        kind,
        roles=("labelled_table", "table", "particles", "other"),
        facts=facts,
        warnings=tuple(shown(text) for text in warnings),
    )


def _columns(text: str, delimiter: str, width: int) -> tuple[list[int], list[int], int, int, bool]:
    """Return type ranks, gaps, row count, ragged rows and whether decimals have a comma."""
    ranks, gaps = [0] * width, [0] * width
    rows = ragged = 0
    comma = False
    for row in _rows(text, delimiter):
        if not row:
            continue
        rows += 1
        if len(row) != width:
            ragged += 1
        if rows > TYPED_ROWS:
            continue
        for place, cell in enumerate(row[:width]):
            rank = _rank(cell.strip())
            gaps[place] += rank == 0
            ranks[place] = max(ranks[place], rank)
            comma = comma or (rank == 2 and "," in cell)
    return ranks, gaps, rows, ragged, comma


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(_FIELD_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield [""]  # counts as a row with another number of fields


def _rank(cell: str) -> int:
    if len(cell) > _NUMBER_LENGTH:
        return 3
    if cell.lower() in _MISSING:
        return 0
    if _INTEGER.fullmatch(cell):
        return 1
    return 2 if _NUMBER.fullmatch(cell) else 3


def _unit(name: str) -> str | None:
    unit = unit_of(name)
    return None if unit is None else shown(unit, 40)
