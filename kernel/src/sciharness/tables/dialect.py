"""Find out how a table is written: delimiter, header, decimal mark."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from sciharness.tables.blocks import Block, Stream, blocks, skip_header, unquote
from sciharness.tables.characters import bad_utf8, other_file
from sciharness.tables.findings import Findings
from sciharness.tables.marks import find_marks
from sciharness.tables.names import column_name
from sciharness.tables.numerals import number_pattern
from sciharness.tables.records import Dialect

HEAD_BYTES = 1 << 20
SAMPLED_RECORDS = 100
_GROUPED = re.compile(rb"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")


def sniff(
    stream: Stream, findings: Findings, delimiter: str | None = None
) -> tuple[Dialect, bytes] | None:
    """Return dialect and header of a table from its first megabyte; the decimal mark is open.

    Of the delimiters tab, semicolon and comma the first one wins that splits
    header and all sampled records alike; a bar counts only when the header has
    none of the three. A known ``delimiter`` is not guessed. ``None`` when there
    is no header to read.
    """
    head = _read_head(stream)
    if not head:
        findings.add("file", "an empty file", "a header and rows")
        return None
    other = other_file(head)
    if other is not None:
        findings.add("file", other[0], "a table as UTF-8 text", other[1])
        return None
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    text = head[mark:]
    if not text.endswith(b"\n"):
        whole = len(head) < HEAD_BYTES
        text = text + b"\n" if whole else text[: text.rfind(b"\n") + 1]
    delimiter = delimiter or _delimiter(text)
    fields, end = _first_record(text, delimiter)
    if fields is None:
        findings.add("file", "no line end in the first megabyte", "a header line", line=1)
        return None
    names = _names(fields, delimiter, findings)
    encoding = "utf-8-sig" if mark else "utf-8"
    header = head[: mark + end]
    return Dialect(names, len(header), delimiter, encoding=encoding), header


def _read_head(stream: Stream) -> bytes:
    head = b""
    while len(head) < HEAD_BYTES and (piece := stream.read(HEAD_BYTES - len(head))):
        head += piece
    return head


def _delimiter(text: bytes) -> str:
    scores: list[tuple[bool, int, int, str]] = []
    for rank, delimiter in enumerate("\t;,|"):
        counts = _field_counts(text, delimiter)
        if not counts or counts[0] < 2 or (delimiter == "|" and scores):
            continue
        rows = counts[1:]
        alike = rows.count(counts[0])
        scores.append((alike == len(rows), alike, -rank, delimiter))
    if not scores:
        return ","
    even = [score for score in scores if score[0]]
    return max(even, key=lambda score: score[2])[3] if even else max(scores)[3]


def _field_counts(text: bytes, delimiter: str) -> list[int]:
    """Return the numbers of fields of the first records, blank ones left out."""
    sample = text
    for size in (1 << 14, 1 << 17):  # most tables need no more for a hundred records
        marks = find_marks(text[: text.rfind(b"\n", 0, size) + 1], delimiter)
        if int(marks.ends_record.sum()) > SAMPLED_RECORDS:
            sample = text[: marks.cut]
            break
    marks = find_marks(sample, delimiter)
    counts, fields, start = [], 0, 0
    for place, ends in zip(marks.places.tolist(), marks.ends_record.tolist(), strict=True):
        fields += 1
        if ends:
            if sample[start:place].strip():
                counts.append(fields)
            fields, start = 0, place + 1
            if len(counts) > SAMPLED_RECORDS:
                break
    return counts


def _first_record(text: bytes, delimiter: str) -> tuple[list[bytes] | None, int]:
    marks = find_marks(text, delimiter)
    if not marks.cut:
        return None, 0
    last = int(marks.ends_record.argmax())
    fields, start = [], 0
    for place in marks.places[: last + 1].tolist():
        fields.append(text[start:place])
        start = place + 1
    return fields, start


def _names(fields: Sequence[bytes], delimiter: str, findings: Findings) -> tuple[str, ...]:
    names = tuple(_name(field, place, findings) for place, field in enumerate(fields, 1))
    number = number_pattern(".").fullmatch
    shown = [name for name in names if name]
    if shown and all(number(name.encode()) for name in shown):
        findings.add(
            "header",
            "numbers in the first line",
            "column names",
            "Put a line with the names of the columns before the rows.",
            line=1,
        )
        return names
    for place, name in enumerate(names, 1):
        if not name:
            findings.add("unnamed", "no name", "a column name", line=1, column=place)
    for name, count in Counter(names).items():
        if count > 1 and name:
            places = [place for place, other in enumerate(names, 1) if other == name]
            findings.add(
                "duplicate",
                f"the name {name!r} in columns {', '.join(map(str, places))}",
                "each column name once",
                line=1,
                column=places[1],
            )
    return names


def _name(field: bytes, place: int, findings: Findings) -> str:
    if bad_utf8(field):
        findings.add(
            "bytes",
            "bytes that are not UTF-8 in a column name",
            "UTF-8 text",
            "Save the file as UTF-8.",
            line=1,
            column=place,
        )
    name = column_name(unquote(field.strip()).decode("utf-8", "replace"))
    if any(unicodedata.category(mark) == "Cc" for mark in name):
        findings.add(
            "control", "a control character in a column name", "text", line=1, column=place
        )
    return name


def decimal_mark(
    stream: Stream, dialect: Dialect, columns: Sequence[int], findings: Findings
) -> str:
    """Return the decimal mark of a table's number columns, or note that it cannot be told.

    A comma is one only where commas do not separate fields, and only if some
    field cannot be read with the comma as a thousands separator.
    """
    if dialect.delimiter == ",":
        return "."
    aside = Findings(findings.file)  # the same faults are noted when the rows are read
    doubtful: tuple[Block, int, int] | None = None
    header = skip_header(stream, dialect.header, findings.file)
    for number, block in enumerate(blocks(stream, header, dialect, aside)):
        if number == 0:
            mark = _first_evidence(block, columns)
            if mark:
                return mark
        for column in sorted(_columns_with_commas(block).intersection(columns)):
            mark, row = _evidence(block.texts(column))
            if mark:
                return mark
            if row is not None and doubtful is None:
                doubtful = (block, row, column)
    if doubtful is None:
        return "."
    block, row, column = doubtful
    text = block.text(row, column)
    findings.add(
        "decimal",
        f"{findings.quoted(text)}, which can be read with a decimal comma or with thousands",
        "an unambiguous decimal mark",
        "Write the numbers with a decimal point and without thousands separators.",
        line=block.line_of(row),
        column=column + 1,
        name=dialect.columns[column],
    )
    return ","


def _first_evidence(block: Block, columns: Sequence[int]) -> str:
    for column in columns:
        mark, _ = _evidence(block.texts(column, slice(SAMPLED_RECORDS)))
        if mark:
            return mark
    return ""


def _columns_with_commas(block: Block) -> set[int]:
    import numpy as np

    if b"," not in block.data:
        return set()
    commas = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord(","))
    fields = np.searchsorted(block.marks.ravel(), commas)
    return set(np.unique(fields % block.marks.shape[1]).tolist())


def _evidence(cells: Sequence[bytes]) -> tuple[str, int | None]:
    """Return the mark that a column proves, or the first row that leaves doubt."""
    doubtful = None
    comma, point = number_pattern(",").fullmatch, number_pattern(".").fullmatch
    for row, cell in enumerate(cells):
        if b"," in cell:
            if _GROUPED.fullmatch(cell):
                doubtful = row if doubtful is None else doubtful
            elif comma(cell):
                return ",", None
        elif b"." in cell and point(cell):
            return ".", None
    return "", doubtful
