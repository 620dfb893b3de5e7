"""Descriptions changed in place: nothing else in the manifest moves by a byte."""

from __future__ import annotations

import difflib
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from sciharness.contextdata._faults import MANIFEST, Faults, place, printable
from sciharness.contextdata._json import decode, parse_manifest, read_bytes
from sciharness.contextdata._write import replace_file
from sciharness.errors import DataError
from sciharness.problems import Problem

_SPACE = re.compile(r"[ \t\n\r]*")


@frozen
class _Place:
    """A description in the text of a manifest, or where one goes, between ``lead`` and ``tail``."""

    section: str
    start: int
    end: int
    description: str = ""
    lead: str = ""
    tail: str = ""


def describe(
    path: str | os.PathLike[str], texts: Mapping[str, str] | None = None, *, dry_run: bool = False
) -> dict[str, str]:
    """Set the descriptions of axes and variables, and return those of all as they are then.

    ``texts`` maps names to descriptions; white space around them is stripped.
    The manifest is replaced in one step, so that a reader sees all changes or
    none; writers wait for each other. Without ``texts`` or with ``dry_run``
    nothing is written. Arrays are not looked at, nor other fields.

    Raises:
        ContextManifestError: the manifest cannot be read or has no such structure.
        DataError: a name is not there, or is that of an axis and of a variable;
            a text cannot be written as UTF-8; the directory cannot be written.
    """
    where = os.path.realpath(path)
    faults = Faults()
    try:
        folder = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        faults.file(where, "", "a readable directory", str(error.strerror))
        raise faults.error(where) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        old = _manifest_text(folder, where)
        new = _changed(old, texts or {}, where)
        if new != old and not dry_run:
            replace_file(Path(where, MANIFEST).resolve(), new.encode("utf-8"))
    finally:
        os.close(folder)
    return {name: places[0].description for name, places in _places(new, where).items()}


def _manifest_text(folder: int, where: str) -> str:
    """Return the text of a manifest in which positions can be trusted."""
    faults = Faults()
    raw = read_bytes(folder, faults)
    text = None if raw is None else decode(raw, faults)
    if text is not None:
        parse_manifest(text, faults)
    if text is None or faults.problems:
        raise faults.error(where)
    return text


def _changed(text: str, texts: Mapping[str, str], where: str) -> str:
    """Return the manifest with other descriptions, or refuse all changes together."""
    places = _places(text, where)
    problems = [
        Problem("data", MANIFEST, path=printable(name), expected=expected, found=found)
        for name, wanted in texts.items()
        for expected, found in _objections(name, wanted, places)
    ]
    if problems:
        lines = "".join(f"\n- {problem}" for problem in problems)
        raise DataError(f"no description changed:{lines}", where=where, problems=problems)
    edits = [(places[name][0], wanted.strip()) for name, wanted in texts.items()]
    for at, wanted in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
        value = json.dumps(wanted, ensure_ascii=False)
        text = text[: at.start] + at.lead + value + at.tail + text[at.end :]
    return text


def _objections(
    name: str, wanted: str, places: Mapping[str, list[_Place]]
) -> Iterator[tuple[str, str]]:
    """Yield what was expected and found where a description cannot be set."""
    found = places.get(name, [])
    if not found:
        near = difflib.get_close_matches(name, places, 1)
        hint = f"no such name, but {near[0]!r}" if near else "no such name"
        yield "the name of an axis or a variable", hint
    if len(found) > 1:
        yield "one entry of this name", "an axis and a variable"
    if any("\ud800" <= mark <= "\udfff" for mark in wanted):
        yield "text that UTF-8 can hold", "half a surrogate pair"


def _places(text: str, where: str) -> dict[str, list[_Place]]:
    """Return the places of the descriptions of all entries, by name."""
    places: dict[str, list[_Place]] = {}
    for section, start, _ in _members(text, _past_space(text, 0)):
        if section not in {"axes", "variables"}:
            continue
        _require_object(text, start, section, where)
        for name, entry, _ in _members(text, start):
            _require_object(text, entry, place(section, name), where)
            places.setdefault(name, []).append(_place(text, section, entry))
    return places


def _place(text: str, section: str, entry: int) -> _Place:
    members = list(_members(text, entry))
    for field, start, end in members:
        if field == "description":
            value = json.loads(text[start:end])
            return _Place(section, start, end, value.strip() if isinstance(value, str) else "")
    tail = ", " if members else ""
    return _Place(section, entry + 1, entry + 1, "", '"description": ', tail)


def _require_object(text: str, start: int, path: str, where: str) -> None:
    if text[start] != "{":
        faults = Faults()
        faults.manifest(path, "an object", "something else")
        raise faults.error(where)


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield key, start and end of the value of each member of the object at ``start``."""
    decoder = json.JSONDecoder()
    at = _past_space(text, start + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        begin = _past_space(text, _past_space(text, at) + 1)  # past the colon
        _, end = decoder.raw_decode(text, begin)
        yield key, begin, end
        at = _past_space(text, end)
        if text[at] == ",":
            at = _past_space(text, at + 1)


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
