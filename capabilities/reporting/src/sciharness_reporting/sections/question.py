"""The question, and the data it is asked of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from sciharness_reporting.document import (
    Block,
    Bullets,
    Code,
    Facts,
    Line,
    Paragraph,
    Section,
    Spark,
    section,
    table,
)
from sciharness_reporting.record import Json, Sealed, mapping, objects, texts, whole
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, count, label, number
from sciharness_reporting.visible import Column, Visible, histogram

_MOST_CLASSES = 50
_DELIMITERS = MappingProxyType({",": "comma", ";": "semicolon", "\t": "tab", " ": "blank"})


def question(story: Story) -> Section | None:
    """Return the questions of the contract, the rows, and a summary of each column."""
    questions = Bullets(story.run.questions) if story.run.questions else None
    given = {label(one.get("name")): one for one in objects(story.run.value("inputs"))}
    rows = [
        Facts((*_rows(sealed), *_found(given.get(sealed.input, {})))) for sealed in story.run.sealed
    ]
    notes = [Paragraph(gap, "warn") for gap in story.gaps]
    summary = _columns(story.visible) if story.visible is not None else None
    classes = _classes(story.visible) if story.visible is not None else None
    title = "Question and data" if questions else "Data"
    return section("data", title, questions, *rows, *notes, summary, classes)


def _rows(sealed: Sealed) -> Iterator[tuple[str, Line]]:
    yield "Input", Code(sealed.input)
    yield "Target", (Code(sealed.target), f" ({sealed.reason})" if sealed.reason else "")
    if sealed.rows_train:
        yield "Visible rows", f"{sealed.rows_train:,}, for the search and for validation"
    if sealed.rows_verification:
        yield "Verification rows", f"{sealed.rows_verification:,}, shown to no search"
    yield "Sealed rows", f"{sealed.rows_final:,}, labels kept away until the end"
    if sealed.split:
        yield "Split", sealed.split


def _found(given: Mapping[str, Json]) -> Iterator[tuple[str, Line]]:
    """Yield how a table was read, what was left out, and columns that are no features."""
    yield from _reading(mapping(mapping(given.get("sealed")).get("facts")))
    yield from _other_columns(mapping(given.get("table")))


def _reading(facts: Mapping[str, Json]) -> Iterator[tuple[str, Line]]:
    delimiter, decimal = facts.get("delimiter"), label(facts.get("decimal"))
    if facts.get("format") == "text" and isinstance(delimiter, str) and decimal:
        name = _DELIMITERS.get(delimiter, label(delimiter))
        yield "Read as", (f"text with delimiter {name}, decimal mark ", Code(decimal))
    elif label(facts.get("format")):
        yield "Read as", label(facts.get("format"))
    if dropped := whole(facts.get("rows_dropped")):
        yield "Left out", f"{count(dropped, 'row')} in which a feature is missing"
    if repeated := whole(facts.get("rows_repeated")):
        yield "Repeated", f"{count(repeated, 'row')}; equal rows stay on one side of the split"


def _other_columns(record: Mapping[str, Json]) -> Iterator[tuple[str, Line]]:
    if ignored := [label(name) for name in texts(record.get("ignore"))]:
        yield "Ignored columns", ", ".join(ignored)
    for role in ("weights", "sigma", "group"):
        if name := label(record.get(role)):
            yield f"{role.capitalize()} column", Code(name)


def _columns(visible: Visible) -> Block | None:
    columns = [*([visible.target] if visible.target else []), *visible.features]
    roles = ["target"] * (visible.target is not None) + ["feature"] * len(visible.features)
    rows = [_row(column, role) for column, role in zip(columns, roles, strict=True)]
    if visible.target is not None and visible.classes:  # its values are positions of classes
        many = count(len(visible.classes), "class")
        rows[0] = (Code(label(visible.target.name)), "", "target", *[DASH] * 4, many)
    return table(
        f"Columns of the {count(visible.rows, 'visible row')}"
        if visible.rows
        else "Columns of the visible rows",
        ("Column", "Unit", "Role", "Least", "Mean", "Largest", "Deviation", "Shape"),
        rows,
        numeric=("Least", "Mean", "Largest", "Deviation"),
    )


def _classes(visible: Visible) -> Block | None:
    """Return how many visible rows there are of each class."""
    import numpy as np

    if visible.target is None or not visible.classes:
        return None
    codes = visible.target.values.astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(visible.classes))[:_MOST_CLASSES]
    rows: list[tuple[Line, ...]] = [
        (Code(label(name)), f"{many:,}", f"{100 * many / max(1, len(codes)):.1f} %")
        for name, many in zip(visible.classes, counts.tolist(), strict=False)
    ]
    more = f" (the first {_MOST_CLASSES})" if len(visible.classes) > _MOST_CLASSES else ""
    caption = f"Classes of {label(visible.target.name)} in the visible rows{more}"
    return table(caption, ("Class", "Rows", "Share"), rows, numeric=("Rows", "Share"))


def _row(column: Column, role: str) -> tuple[Line, ...]:
    import numpy as np

    known = column.values[np.isfinite(column.values)]
    with np.errstate(over="ignore", invalid="ignore"):
        figures = (known.min(), known.mean(), known.max(), known.std()) if known.size else ()
    words = [number(float(figure)) for figure in figures] or [DASH] * 4
    return (
        Code(label(column.name)),
        label(column.unit, 30),
        role,
        *words,
        Spark(histogram(column.values)),
    )
