"""What the header readers share: a bounded window on a file, the record they fill, their fault."""

from __future__ import annotations

import struct
from collections.abc import Callable

from attrs import frozen

from sciharness.profiles._text import shown

FIRST_BYTES = 4096
TABLE_BYTES = 65536
_PATH_BYTES = 4096


class HeaderFault(Exception):
    """A rule that a header breaks."""


@frozen
class Header:
    """What the header of a native program says.

    ``kind`` is ``executable``, ``library``, ``object``, ``core`` or ``other``;
    ``interpreter`` is the loader that it asks for. ``refused`` is the rule that
    the header breaks; the other fields are then empty. A universal program has
    one header for each of its ``slices``.
    """

    format: str
    bits: int = 0
    endianness: str = ""
    machine: str = ""
    kind: str = ""
    interpreter: str = ""
    refused: str = ""
    slices: tuple[Header, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the header as it stands in a profile."""
        facts: dict[str, object] = {"format": self.format}
        if self.refused:
            return {**facts, "refused": self.refused}
        if self.slices:
            return {**facts, "kind": self.kind, "slices": [one.to_dict() for one in self.slices]}
        facts |= {"bits": self.bits, "endianness": self.endianness, "machine": self.machine}
        facts |= {"kind": self.kind, "interpreter": self.interpreter or None}
        return facts


@frozen
class Window:
    """A file, or a part of one, that is read at given places; ``size`` is all there is."""

    read: Callable[[int, int], bytes]
    size: int
    start: int = 0

    def peek(self, count: int) -> bytes:
        """Return the first bytes, fewer where there are no more."""
        return self.read(self.start, min(count, self.size))

    def take(self, at: int, count: int, what: str) -> bytes:
        """Return exactly ``count`` bytes of a table.

        Raises:
            HeaderFault: they lie outside, or are more than is ever read.
        """
        if count > TABLE_BYTES:
            raise HeaderFault(f"{what} of {count} bytes, more than {TABLE_BYTES}")
        if at < 0 or at + count > self.size:
            raise HeaderFault(f"{what} lies outside of the file")
        found = self.read(self.start + at, count)
        if len(found) != count:
            raise HeaderFault(f"{what} is cut off")
        return found

    def unpack(self, layout: str, at: int, what: str) -> tuple[int, ...]:
        """Return the integers at a place."""
        return struct.unpack(layout, self.take(at, struct.calcsize(layout), what))

    def part(self, at: int, size: int, what: str) -> Window:
        """Return a window on a part."""
        if at < 0 or size < 0 or at + size > self.size:
            raise HeaderFault(f"{what} lies outside of the file")
        return Window(self.read, size, self.start + at)


def path_text(raw: bytes, what: str) -> str:
    """Return a path that a header names, shown safely.

    Raises:
        HeaderFault: it has no end, or is longer than a path can be.
    """
    text, end, _ = raw.partition(b"\0")
    if not end or len(text) > _PATH_BYTES:
        raise HeaderFault(f"{what} has no end")
    return shown(text.decode("utf-8", "replace"))
