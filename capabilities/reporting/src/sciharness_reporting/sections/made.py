"""What the steps show: their own words, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sciharness_reporting.document import (
    Block,
    Facts,
    Figures,
    Line,
    Paragraph,
    Picture,
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
_MOST_BYTES = 20_000_000  # of pictures in one page


def made(story: Story) -> Section | None:
    """Return what capabilities made to be shown, step by step."""
    blocks: list[Block] = []
    every = [picture for part in story.parts for picture in part.pictures]
    shown = _fitting(every)
    for part in story.parts:
        blocks += _part(part, [one for one in part.pictures if one in shown])
    if len(shown) < len(every):
        said = f"{len(shown)} of {len(every)} pictures are shown; the export holds all of them."
        blocks.append(Paragraph(said, "note"))
    return section("made", "What the steps show", *blocks)


def _fitting(pictures: Sequence[Picture]) -> list[Picture]:
    """Return the pictures that the page has room for, from the first on."""
    shown: list[Picture] = []
    size = 0
    for picture in pictures[:MOST_PICTURES]:
        size += len(picture.content)
        if size > _MOST_BYTES:
            break
        shown.append(picture)
    return shown


def _part(part: Part, pictures: Sequence[Picture]) -> Iterator[Block]:
    named = f"Step {part.step}: {part.title}" if part.title else f"Step {part.step}"
    yield Paragraph((Strong(named),))
    yield from (Paragraph(line) for line in part.text)
    if part.facts:
        yield Facts(tuple(part.facts.items()))
    if pictures:
        yield Figures(tuple(pictures))
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
