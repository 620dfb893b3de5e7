"""What the steps show: their own words, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator

from sciharness_reporting.document import (
    Block,
    Facts,
    Figures,
    Line,
    Paragraph,
    Section,
    Strong,
    section,
    table,
)
from sciharness_reporting.parts import MOST_PICTURES, Part, PartTable
from sciharness_reporting.record import Json
from sciharness_reporting.story import Story
from sciharness_reporting.text import clean, number, real

_MOST_ROWS = 60


def made(story: Story) -> Section | None:
    """Return what capabilities made to be shown, step by step."""
    blocks: list[Block] = []
    pictures = 0
    for part in story.parts:
        room = max(0, MOST_PICTURES - pictures)
        blocks += _part(part, room)
        pictures += len(part.pictures)
    if pictures > MOST_PICTURES:
        said = f"{MOST_PICTURES} of {pictures} pictures are shown; the export holds all of them."
        blocks.append(Paragraph(said, "note"))
    return section("made", "What the steps show", *blocks)


def _part(part: Part, room: int) -> Iterator[Block]:
    named = f"Step {part.step}: {part.title}" if part.title else f"Step {part.step}"
    yield Paragraph((Strong(named),))
    yield from (Paragraph(line) for line in part.text)
    if part.facts:
        yield Facts(tuple(part.facts.items()))
    if part.pictures[:room]:
        yield Figures(part.pictures[:room])
    for one in part.tables:
        yield from _table(one)


def _table(one: PartTable) -> Iterator[Block]:
    shown = one.rows[:_MOST_ROWS]
    more = f" ({len(shown)} of {len(one.rows):,} rows)" if len(one.rows) > len(shown) else ""
    numeric = [
        name
        for place, name in enumerate(one.header)
        if all(real(row[place]) is not None or row[place] is None for row in shown)
    ]
    found = table(one.caption + more, one.header, [_cells(row) for row in shown], numeric=numeric)
    if found is not None:
        yield found


def _cells(row: tuple[Json, ...]) -> tuple[Line, ...]:
    return tuple(_cell(one) for one in row)


def _cell(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, 5) if value is None or real(value) is not None else clean(value, 400)
