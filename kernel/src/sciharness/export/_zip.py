"""ZIPs with one possible spelling: stored members, fixed fields, nothing in between.

The reader walks the file from its first byte and accepts only what the writer
writes, so every other reader sees the same members.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from attrs import frozen

from sciharness.store._files import CHUNK

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_UTF8 = 0x800
_VERSION = 20
_UNIX = 3 << 8 | _VERSION
_DATE = 1 << 5 | 1  # 1980-01-01, the first day a ZIP knows
_MODE = (stat.S_IFREG | 0o644) << 16

MAX_BYTES = 2**32 - 1
MAX_MEMBERS = 2**16 - 1


class ZipError(ValueError):
    """The file is not a ZIP as it is written here, or too much for one."""


@frozen
class Member:
    """One member: where its bytes start in the file, how many, and their CRC-32."""

    name: str
    offset: int
    size: int
    crc: int

    @property
    def start(self) -> int:
        """Offset of the first content byte."""
        return self.offset + _LOCAL.size + len(self.name.encode())


class ZipWriter:
    """Writes members one after the other to a new seekable file."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._members: list[Member] = []

    def add(self, name: str, chunks: Iterable[bytes | memoryview]) -> None:
        """Write one member.

        Raises:
            ZipError: the file would pass 4 GiB.
        """
        offset, size, crc = self._sink.tell(), 0, 0
        self._sink.write(_local(Member(name, offset, 0, 0)))
        for chunk in chunks:
            size += len(chunk)
            crc = zlib.crc32(chunk, crc)
            self._sink.write(chunk)
        end = self._sink.tell()
        if end > MAX_BYTES or len(self._members) >= MAX_MEMBERS:
            raise ZipError("holds more than a plain ZIP can (4 GiB, 65,534 files)")
        member = Member(name, offset, size, crc)
        self._sink.seek(offset)
        self._sink.write(_local(member))
        self._sink.seek(end)
        self._members.append(member)

    def finish(self) -> None:
        """Write the directory; nothing may be added afterwards."""
        self._sink.write(_directory(self._members, self._sink.tell()))


def read_members(source: BinaryIO) -> list[Member]:
    """Return the members of a ZIP, in order, after walking all of it.

    Content is not read here. No two members share a name.

    Raises:
        ZipError: a single byte of its structure is not as it has to be.
    """
    size = source.seek(0, os.SEEK_END)
    members: list[Member] = []
    offset = 0
    while member := _next_member(source, offset, size):
        members.append(member)
        offset = member.start + member.size
    if len({member.name for member in members}) != len(members):
        raise ZipError("holds a name twice")
    expected = _directory(members, offset)
    source.seek(offset)
    if size - offset != len(expected) or source.read(len(expected)) != expected:
        raise ZipError("has a directory that does not fit its members")
    return members


def read_content(source: BinaryIO, member: Member) -> Iterator[bytes]:
    """Return the bytes of a member in pieces.

    Raises:
        ZipError: they do not have the stated checksum.
    """
    source.seek(member.start)
    left, crc = member.size, 0
    while left:
        chunk = source.read(min(left, CHUNK))
        if not chunk:
            raise ZipError("ends too early")
        left -= len(chunk)
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if crc != member.crc:
        raise ZipError(f"{member.name} does not have its checksum")


def _next_member(source: BinaryIO, offset: int, size: int) -> Member | None:
    source.seek(offset)
    head = source.read(_LOCAL.size)
    if len(head) < _LOCAL.size or not head.startswith(b"PK\3\4"):
        return None
    fields = _LOCAL.unpack(head)
    name = source.read(fields[9])
    try:
        member = Member(name.decode("utf-8"), offset, fields[8], fields[6])
    except UnicodeDecodeError as error:
        raise ZipError("holds a name that is no UTF-8") from error
    if head + name != _local(member) or member.start + member.size > size:
        raise ZipError(f"has a member at byte {offset} that is not written as an export's is")
    return member


def _local(member: Member) -> bytes:
    name = member.name.encode()
    fields = (_VERSION, _UTF8, 0, 0, _DATE, member.crc, member.size, member.size, len(name), 0)
    return _LOCAL.pack(b"PK\3\4", *fields) + name


def _directory(members: list[Member], start: int) -> bytes:
    entries = b"".join(_central(member) for member in members)
    count = len(members)
    if count > MAX_MEMBERS or start + len(entries) > MAX_BYTES:
        raise ZipError("holds more than a plain ZIP can (4 GiB, 65,534 files)")
    return entries + _END.pack(b"PK\5\6", 0, 0, count, count, len(entries), start, 0)


def _central(member: Member) -> bytes:
    name = member.name.encode()
    sizes = (member.crc, member.size, member.size, len(name), 0, 0, 0, 0)
    fields = (_UNIX, _VERSION, _UTF8, 0, 0, _DATE, *sizes, _MODE, member.offset)
    return _CENTRAL.pack(b"PK\1\2", *fields) + name
