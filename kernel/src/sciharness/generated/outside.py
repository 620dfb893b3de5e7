"""How many predicted rows lie outside the range a predictor was made for."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

_CHUNK = 8_000_000


def outside_note(output: Path) -> list[str]:
    """Return a note about rows with ``in_domain`` 0 in an OUTPUT file, none without such rows."""
    with output.open("rb") as stream:
        header = stream.readline().decode("utf-8", "replace").rstrip("\n").split(",")
    if "in_domain" not in header:
        return []
    rows, outside = _counts(output, header)
    if not outside:
        return []
    verb = "rows lies" if outside == 1 else "rows lie"
    return [f"{outside:,} of {rows:,} {verb} outside the training range (in_domain 0)"]


def _counts(output: Path, header: list[str]) -> tuple[int, int]:
    """Return how many rows there are, and how many are outside."""
    plain = header[-1] == "in_domain"
    rows = outside = 0
    tail = b""
    for chunk in _chunks(output):
        if b'"' in chunk or not plain:
            return _counted_by_csv(output)
        rows += chunk.count(b"\n")
        # A row's end may be cut: what could belong to the next chunk's first end is kept.
        outside += (tail + chunk).count(b",0\n")
        tail = chunk[-2:] if not chunk.endswith(b",0\n") else b""
    return rows - 1, outside


def _chunks(output: Path) -> Iterator[bytes]:
    with output.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _counted_by_csv(output: Path) -> tuple[int, int]:
    with output.open(encoding="utf-8", newline="") as stream:
        marks = [row["in_domain"] for row in csv.DictReader(stream)]
    return len(marks), marks.count("0")
