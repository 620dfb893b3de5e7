"""What steps made for the report: their pictures, and parts with words and tables of their own.

Any artifact whose name ends in ``.svg`` or ``.png`` is shown. An artifact of
type ``report_part`` is JSON of the schema ``report-part-v1``: ``title``,
``text`` (a list), ``facts`` (an object), ``tables`` (each with ``caption``,
``header`` and ``rows``) and ``figures`` (each with ``name`` and ``caption``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import unescape
from types import MappingProxyType

from attrs import field, frozen

from sciharness import Input
from sciharness_reporting.document import Picture
from sciharness_reporting.record import Json, mapping, objects, read_json, texts
from sciharness_reporting.text import clean, label

PART_TYPE = "report_part"
MOST_PICTURES = 40
_LARGEST_PICTURE = 3_000_000
_LARGEST_PART = 2_000_000
_MEDIA = MappingProxyType({".svg": "image/svg+xml", ".png": "image/png"})
_PNG = b"\x89PNG\r\n\x1a\n"
_HEAD = 20_000  # a title stands at the start of an SVG


@frozen
class PartTable:
    """A table of a part; cells are texts or numbers as they were given."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]


@frozen
class Part:
    """What one step tells: words, facts, tables, and its pictures with their captions."""

    step: str
    title: str = ""
    text: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(factory=dict)
    tables: tuple[PartTable, ...] = ()
    pictures: tuple[Picture, ...] = ()


def read_parts(
    inputs: Mapping[str, Input], steps: Sequence[str] = (), without: Collection[str] = ()
) -> tuple[tuple[Part, ...], str]:
    """Return what steps made to be shown, and what had to be left out and why.

    ``steps`` gives their order, ``without`` those that are passed over: earlier
    reports of the run.
    """
    found: dict[str, dict[str, Input]] = {}
    for name, given in sorted(inputs.items()):
        step, dot, file = name.partition(".")
        if step in without:
            continue
        if dot and (given.type == PART_TYPE or _ending(file) in _MEDIA):
            found.setdefault(step, {})[file] = given
    parts: list[Part] = []
    left: list[str] = []
    for step, files in sorted(found.items(), key=lambda one: _place(one[0], steps)):
        parts.append(_part(step, files, left))
    shown = tuple(part for part in parts if part != Part(part.step))
    return shown, f"Not shown: {'; '.join(left)}." if left else ""


def _place(step: str, steps: Sequence[str]) -> tuple[int, str]:
    return (steps.index(step) if step in steps else len(steps), step)


def _ending(file: str) -> str:
    return file[-4:].lower()


def _part(step: str, files: Mapping[str, Input], left: list[str]) -> Part:
    told = [
        _told(f"{step}.{file}", given, left)
        for file, given in files.items()
        if given.type == PART_TYPE
    ]
    plain = [one for one in told if one]
    captions = {
        label(one.get("name"), 200): clean(one.get("caption"), 2000)
        for part in plain
        for one in objects(part.get("figures"))
    }
    order = [*captions, *(file for file in files if file not in captions)]
    pictures = [
        _picture(step, file, files[file], captions.get(file, ""), left)
        for file in order
        if file in files and files[file].type != PART_TYPE
    ]
    return Part(
        step=label(step),
        title=next((label(one.get("title"), 120) for one in plain if one.get("title")), ""),
        text=tuple(clean(line, 4000) for one in plain for line in texts(one.get("text"))),
        facts={
            label(key): clean(_shown(value), 1000)
            for one in plain
            for key, value in mapping(one.get("facts")).items()
        },
        tables=tuple(table for one in plain for table in _tables(one)),
        pictures=tuple(one for one in pictures if one is not None),
    )


def _told(name: str, given: Input, left: list[str]) -> Mapping[str, Json]:
    small = given.path.stat().st_size <= _LARGEST_PART
    plain = mapping(read_json(given.path)) if small else {}
    if plain.get("schema") == "report-part-v1":
        return plain
    left.append(f"{label(name, 120)} is no report-part-v1 of at most 2 MB")
    return {}


def _shown(value: Json) -> Json:
    if isinstance(value, list):
        return ", ".join(clean(one) for one in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _tables(part: Mapping[str, Json]) -> Iterator[PartTable]:
    for one in objects(part.get("tables")):
        header = texts(one.get("header"))
        rows = one.get("rows")
        known = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
        fit = tuple(tuple(row) for row in known if len(row) == len(header))
        if header and fit:
            yield PartTable(label(one.get("caption"), 300), header, fit)


def _picture(step: str, file: str, given: Input, caption: str, left: list[str]) -> Picture | None:
    name = label(f"{step}.{file}", 120)
    if given.path.stat().st_size > _LARGEST_PICTURE:
        left.append(f"{name} is larger than 3 MB")
        return None
    content = given.path.read_bytes()
    is_png = content.startswith(_PNG)
    if not is_png and b"<svg" not in content[:_HEAD]:
        left.append(f"{name} is no SVG and no PNG")
        return None
    title, words = ("", "") if is_png else (_said(content, b"title"), _said(content, b"desc"))
    alt = words or title or caption or f"{file} of step {step}"
    return Picture(
        f"{step}.{file}",
        content,
        _MEDIA[".png" if is_png else ".svg"],
        label(alt, 400),
        caption or title or label(file, 120),
    )


def _said(content: bytes, name: bytes) -> str:
    """Return the text of the first ``title`` or ``desc`` of an SVG."""
    found = re.search(rb"<(?:dc:)?%s\b[^>]*>([^<]{1,600})<" % name, content[:_HEAD])
    return clean(" ".join(unescape(found[1].decode("utf-8", "replace")).split())) if found else ""
