"""The description of a table as a short Markdown page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]  # Any: JSON values

SHOWN_COLUMNS = 200
SHOWN_PAIRS = 30
SHOWN_NAMES = 20


def page(description: Json) -> str:
    """Return the page."""
    return "\n".join(_lines(description)) + "\n"


def _lines(description: Json) -> Iterator[str]:
    rows, columns = description["rows"], description["columns"]
    yield "# The table"
    yield ""
    yield f"{rows} rows, {len(columns)} columns."
    yield ""
    yield from (f"- {finding}" for finding in description["findings"])
    if target := description["target"]:
        yield from _target(target)
    yield from _columns(columns)
    yield from _pairs(description["pairs"])


def _target(target: Json) -> Iterator[str]:
    yield ""
    yield f"## Target: {cell(target['name'])}"
    yield ""
    if classes := target.get("classes"):
        yield "| class | rows | share |"
        yield "|---|---|---|"
        for one in classes[:SHOWN_NAMES]:
            yield f"| {cell(one['class'])} | {one['count']} | {100 * one['share']:.3g} % |"
        if len(classes) > SHOWN_NAMES:
            yield f"| and {len(classes) - SHOWN_NAMES} more | | |"
        return
    yield "| feature | Pearson | Spearman |"
    yield "|---|---|---|"
    for one in target["correlations"][:SHOWN_NAMES]:
        yield f"| {cell(one['feature'])} | {_number(one['pearson'])} | {_number(one['spearman'])} |"


def _columns(columns: list[Json]) -> Iterator[str]:
    yield ""
    yield "## Columns"
    yield ""
    yield "| column | part | kind | missing | distinct | min | median | max | most frequent |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in columns[:SHOWN_COLUMNS]:
        often = one["most_frequent"]
        median = one.get("quantiles", {}).get("0.5")
        fields = [
            cell(one["name"]), one["part"], one["kind"], one["missing"], one["distinct"],
            _number(one.get("min")), _number(median), _number(one.get("max")),
            f"{_value(often['value'])} ({100 * often['share']:.3g} %)",
        ]  # fmt: skip
        yield "| " + " | ".join(map(str, fields)) + " |"
    if len(columns) > SHOWN_COLUMNS:
        yield f"| and {len(columns) - SHOWN_COLUMNS} more | | | | | | | | |"


def _pairs(pairs: list[Json]) -> Iterator[str]:
    if not pairs:
        return
    yield ""
    yield "## Columns that go together"
    yield ""
    yield "| first | second | Pearson | Spearman |"
    yield "|---|---|---|---|"
    for one in pairs[:SHOWN_PAIRS]:
        numbers = f"{_number(one['pearson'])} | {_number(one['spearman'])}"
        yield f"| {cell(one['first'])} | {cell(one['second'])} | {numbers} |"
    if len(pairs) > SHOWN_PAIRS:
        yield f"| and {len(pairs) - SHOWN_PAIRS} more | | | |"


def cell(text: str) -> str:
    """Return a text as it may stand in a cell of a table, no markup of its own."""
    for mark in "\\`*_[]<>|#!":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _value(value: str | float | None) -> str:
    return cell(value) if isinstance(value, str) else _number(value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
