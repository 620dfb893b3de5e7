"""Bytes that no table may hold: bad UTF-8, NUL and stray carriage returns."""

from __future__ import annotations

import codecs

from sciharness.tables.blocks import Block
from sciharness.tables.findings import Findings
from sciharness.tables.marks import CR

_OTHER_FILES = (
    (codecs.BOM_UTF16_LE, "UTF-16 text", "Save it as UTF-8."),
    (codecs.BOM_UTF16_BE, "UTF-16 text", "Save it as UTF-8."),
    (b"PK\x03\x04", "a ZIP or Excel file", "Save the sheet as CSV (UTF-8)."),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "Save the sheet as CSV (UTF-8)."),
    (b"\x1f\x8b", "a gzip file", "Unpack it first."),
)


def other_file(head: bytes) -> tuple[str, str] | None:
    """Return what a file is, and a hint, when its first bytes show that it is no UTF-8 text."""
    for magic, found, hint in _OTHER_FILES:
        if head.startswith(magic):
            return found, hint
    zeros = head[:4096].count(0)
    if zeros and zeros * 4 >= len(head[:4096]):
        return "UTF-16 text or binary data", "Save it as UTF-8."
    return None


def is_clean(block: Block, findings: Findings) -> bool:
    """Note bytes that no table may hold; return whether a plain parser reads numbers right.

    Vertical tabs, form feeds and a byte order mark at the start are no
    problem by themselves, but some parsers take them for blanks.
    """
    data = block.data
    before = findings.count
    if not data.isascii():
        _note_bad_utf8(block, findings)
    if 0 in data:
        _note_each(block, findings, b"\0", "a NUL byte", "text")
    if CR in data and data.count(b"\r") != data.count(b"\r\n"):
        _note_stray_returns(block, findings)
    odd = b"\v" in data or b"\f" in data or data.startswith(codecs.BOM_UTF8)
    return findings.count == before and not odd


def bad_utf8(data: bytes) -> list[int]:
    """Return the places of the first bytes that are not UTF-8, at most a hundred."""
    places: list[int] = []
    start = 0
    while len(places) < 100:
        try:
            codecs.decode(memoryview(data)[start:], "utf-8")
        except UnicodeDecodeError as error:
            places.append(start + error.start)
            start += error.end
        else:
            break
    return places


def _note_bad_utf8(block: Block, findings: Findings) -> None:
    for place in bad_utf8(block.data):
        _note(
            block,
            findings,
            place,
            f"the byte 0x{block.data[place]:02x}",
            "UTF-8 text",
            "Save the file as UTF-8.",
        )


def _note_each(
    block: Block, findings: Findings, mark: bytes, found: str, expected: str, hint: str = ""
) -> None:
    place = block.data.find(mark)
    while place >= 0:
        _note(block, findings, place, found, expected, hint)
        if findings.is_full(found, ""):
            findings.count_more(found, "", block.data.count(mark, place + 1))
            return
        place = block.data.find(mark, place + 1)


def _note_stray_returns(block: Block, findings: Findings) -> None:
    place = block.data.find(b"\r")
    while place >= 0 and not findings.is_full("a stray carriage return", ""):
        if block.data[place + 1 : place + 2] != b"\n":
            hint = "Save the file with line ends LF or CR LF."
            _note(block, findings, place, "a stray carriage return", "LF or CR LF", hint)
        place = block.data.find(b"\r", place + 1)


def _note(
    block: Block, findings: Findings, place: int, found: str, expected: str, hint: str
) -> None:
    import numpy as np

    row = int(np.searchsorted(block.starts, place, side="right")) - 1
    column = None
    if 0 <= row < block.rows and place <= block.marks[row, -1]:
        column = int(np.searchsorted(block.marks[row], place)) + 1
    line = block.line + block.data.count(b"\n", 0, place)
    sort = "bytes" if found.startswith("the byte") else found
    findings.add(sort, found, expected, hint, line=line, column=column)
