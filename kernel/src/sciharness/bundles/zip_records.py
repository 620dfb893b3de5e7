"""The records of a ZIP file as they stand there, without any guess at what was meant."""

from __future__ import annotations

import struct
from collections.abc import Callable

from attrs import frozen

END, CENTRAL, LOCAL, DESCRIPTOR = b"PK\5\6", b"PK\1\2", b"PK\3\4", b"PK\7\x08"
ZIP64 = 0xFFFFFFFF
MOST_CENTRAL = 16 * 2**20

_END = struct.Struct("<4s4H2IH")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_TAIL = _END.size + 0xFFFF


class ZipFault(Exception):
    """The structure is not that of a ZIP file which all readers see alike."""


@frozen
class Entry:
    """One entry of the central directory; ``raw`` is its name as it is stored."""

    raw: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int
    extra: bytes


@frozen
class Bytes:
    """A file that is read at given places."""

    read: Callable[[int, int], bytes]
    size: int

    def take(self, at: int, count: int) -> bytes:
        """Return exactly ``count`` bytes.

        Raises:
            ZipFault: they lie outside.
        """
        found = self.read(at, count) if 0 <= at <= self.size - count else b""
        if len(found) != count:
            raise ZipFault("a record lies outside of the file")
        return found


def read_entries(source: Bytes) -> tuple[list[Entry], int]:
    """Return the entries of the central directory and where it starts.

    Raises:
        ZipFault: there is not exactly one, or it does not end where the file does.
    """
    end = _end_of(source)
    _, disk, start_disk, here, count, length, start, _ = _END.unpack(source.take(end, _END.size))
    if ZIP64 in (length, start) or 0xFFFF in (disk, start_disk, here, count):
        raise ZipFault("ZIP64 records, which no archive of this size needs")
    if disk or start_disk or here != count:
        raise ZipFault("parts on several disks")
    if start + length != end:
        raise ZipFault("bytes before the archive, or between its directory and its end")
    if length > MOST_CENTRAL:
        raise ZipFault(f"a directory of {length} bytes, more than {MOST_CENTRAL}")
    return _entries(source.take(start, length), count), start


def local_end(source: Bytes, entry: Entry) -> tuple[int, bool]:
    """Return where the content of an entry ends, and whether a descriptor follows it.

    Raises:
        ZipFault: its local header says something else than the directory.
    """
    fields = _LOCAL.unpack(source.take(entry.offset, _LOCAL.size))
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    if signature != LOCAL:
        raise ZipFault("an entry without a local header")
    raw = source.take(entry.offset + _LOCAL.size, name_length)
    if (packed, size) == (ZIP64, ZIP64):  # zipfile's force_zip64, which numpy.savez uses
        extra = source.take(entry.offset + _LOCAL.size + name_length, extra_length)
        size, packed = _wide_sizes(extra)
    said = (crc, packed, size)
    due = (entry.crc, entry.packed, entry.size)
    described = bool(flags & 8)
    if raw != entry.raw or (flags, method) != (entry.flags, entry.method):
        raise ZipFault("a local header that differs from the directory")
    if said != due and not (described and said == (0, 0, 0)):
        raise ZipFault("a local header with other sizes than the directory")
    end = entry.offset + _LOCAL.size + name_length + extra_length + entry.packed
    return end, described


def _wide_sizes(extra: bytes) -> tuple[int, int]:
    if len(extra) < 20 or extra[:4] != b"\x01\x00\x10\x00":
        raise ZipFault("a local header without its sizes")
    size, packed = struct.unpack_from("<2Q", extra, 4)
    return size, packed


def content_start(source: Bytes, entry: Entry) -> int:
    """Return where the content of an entry starts."""
    fields = _LOCAL.unpack(source.take(entry.offset, _LOCAL.size))
    return entry.offset + _LOCAL.size + int(fields[-2]) + int(fields[-1])


def descriptor_size(source: Bytes, entry: Entry, at: int) -> int:
    """Return the size of the descriptor that has to stand at a place.

    Raises:
        ZipFault: it says something else than the directory.
    """
    due = struct.pack("<3I", entry.crc, entry.packed, entry.size)
    for signature in (DESCRIPTOR, b""):
        length = len(signature) + len(due)
        if at + length <= source.size and source.take(at, length) == signature + due:
            return length
    raise ZipFault("a data descriptor that differs from the directory")


def _end_of(source: Bytes) -> int:
    length = min(source.size, _TAIL)
    tail = source.take(source.size - length, length)
    places = []
    at = tail.find(END)
    while at >= 0:
        places.append(at)
        at = tail.find(END, at + 1)
    fitting = [at for at in places if len(tail) - at >= _END.size]
    ends = [at for at in fitting if at + _END.size + _comment(tail, at) == len(tail)]
    if not ends:
        raise ZipFault("no end record, or bytes after it")
    if len(ends) > 1 or ends[0] != places[-1]:
        raise ZipFault("two end records")
    return source.size - length + ends[0]


def _comment(tail: bytes, at: int) -> int:
    return int.from_bytes(tail[at + 20 : at + 22], "little")


def _entries(directory: bytes, count: int) -> list[Entry]:
    entries: list[Entry] = []
    at = 0
    while at < len(directory):
        if len(directory) - at < _CENTRAL.size or directory[at : at + 4] != CENTRAL:
            raise ZipFault("bytes between the entries of the directory")
        fields = _CENTRAL.unpack_from(directory, at)
        name, extra, comment = fields[10:13]
        body = at + _CENTRAL.size
        end = body + name + extra + comment
        if end > len(directory):
            raise ZipFault("an entry that does not end inside the directory")
        entries.append(
            Entry(
                raw=directory[body : body + name],
                flags=fields[3],
                method=fields[4],
                crc=fields[7],
                packed=fields[8],
                size=fields[9],
                mode=fields[15] >> 16,
                offset=fields[16],
                extra=directory[body + name : body + name + extra],
            )
        )
        at = end
    if len(entries) != count:
        raise ZipFault(f"{len(entries)} entries, where the end record says {count}")
    return entries
