"""A ZIP file that a person made, scanned strictly: what is in it, and what makes it unfit.

It stays what it is; the flaws only decide whether it may be taken for the
folder of a solver. Nothing is unpacked here but, within bounds, project
metadata that could name a plugin.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from sciharness.bundles.limits import FolderLimits, RuleError, check_path, check_twins
from sciharness.bundles.manifests import MANIFEST_BYTES, manifest_in
from sciharness.bundles.tree import new_file, opened_folder
from sciharness.bundles.zip_records import (
    ZIP64,
    Bytes,
    Entry,
    ZipFault,
    content_start,
    descriptor_size,
    local_end,
    read_entries,
)
from sciharness.errors import DataError

STORED, DEFLATED = 0, 8
RATIO, RATIO_FROM = 200, 2**20
MOST_ENTRIES = 4096  # of files and folders; more are not looked at

_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8 = 0x800
_CHUNK = 1 << 16
_ZIP64_EXTRA, _UNICODE_PATH = 0x0001, 0x7075


@frozen
class Flaw:
    """Why an archive cannot become a solver's folder; ``rule`` is the rule's short name."""

    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} (rule: {self.rule})"


@frozen
class ZipMember:
    """One file of an archive; ``entry`` is what the directory says of it."""

    path: str
    entry: Entry

    @property
    def executable(self) -> bool:
        """Whether its owner may execute it, where the archive keeps modes."""
        return bool(self.entry.mode & stat.S_IXUSR)


@frozen
class ZipScan:
    """What a scan found; with a ``structure`` flaw the members may be only some of them."""

    members: tuple[ZipMember, ...]
    flaws: tuple[Flaw, ...]

    @property
    def size(self) -> int:
        """Bytes of all files as the directory says."""
        return sum(member.entry.size for member in self.members)


def scan_zip(file: int) -> ZipScan:
    """Return members and flaws of an open ZIP file; nothing is raised for a flawed one."""
    source = _source(file)
    try:
        entries, directory = read_entries(source)
    except ZipFault as fault:
        return ZipScan((), (Flaw("structure", str(fault)),))
    flaws: dict[str, Flaw] = {}  # the first of each rule says enough
    members = []
    if len(entries) > MOST_ENTRIES:
        return ZipScan((), (Flaw("files", f"it holds {len(entries)} entries"),))
    for entry in entries:
        path = _path_of(entry, flaws)
        _check_entry(entry, path, flaws)
        if path and not path.endswith("/"):
            members.append(ZipMember(path, entry))
    _check_together(members, entries, flaws)
    try:
        _check_layout(source, entries, directory)
    except ZipFault as fault:
        _note(flaws, "structure", str(fault))
    if not {"structure", "encrypted", "duplicate"} & flaws.keys():
        _check_manifest(source, members, flaws)
    return ZipScan(tuple(members), tuple(flaws.values()))


def unpack_zip(archive: Path, folder: Path) -> None:
    """Write the files of a flawless archive into the new folder ``folder``.

    Raises:
        RuleError: it has a flaw, or a member is not what the directory says.
        DataError: ``folder`` is there already, or cannot be written.
    """
    with archive.open("rb") as stream:
        file = stream.fileno()
        found = scan_zip(file)
        if found.flaws:
            raise RuleError(found.flaws[0].rule, found.flaws[0].message)
        try:
            folder.mkdir(mode=0o755)
        except OSError as error:
            raise DataError(f"cannot be made: {error.strerror}", where=folder.name) from error
        source = _source(file)
        with opened_folder(folder) as root:
            for member in found.members:
                with new_file(root, member.path, executable=member.executable) as target:
                    for chunk in content(source, member.entry):
                        _write(target, chunk)


def content(source: Bytes, entry: Entry) -> Iterator[bytes]:
    """Yield the content of a member, never more than the directory says.

    Raises:
        RuleError: it is something else.
    """
    at = content_start(source, entry)
    stop = at + entry.packed
    size = crc = 0
    inflate = zlib.decompressobj(-15) if entry.method == DEFLATED else None
    try:
        while at < stop or (inflate is not None and inflate.unconsumed_tail):
            raw = inflate.unconsumed_tail if inflate is not None else b""
            if not raw:
                raw = source.take(at, min(_CHUNK, stop - at))
                at += len(raw)
            chunk = raw if inflate is None else inflate.decompress(raw, _CHUNK)
            size += len(chunk)
            if size > entry.size:
                raise RuleError("expansion", "a member holds more than the directory says")
            crc = zlib.crc32(chunk, crc)
            yield chunk
            if inflate is not None and inflate.eof:
                break
    except (zlib.error, ZipFault) as error:
        raise RuleError("structure", f"a member cannot be inflated: {error}") from error
    whole = inflate is None or (inflate.eof and not inflate.unused_data and at == stop)
    if size != entry.size or crc != entry.crc or not whole:
        raise RuleError("structure", "a member is not what the directory says")


def _source(file: int) -> Bytes:
    return Bytes(lambda at, count: os.pread(file, count, at), os.fstat(file).st_size)


def _note(flaws: dict[str, Flaw], rule: str, message: str) -> None:
    flaws.setdefault(rule, Flaw(rule, message))


def _path_of(entry: Entry, flaws: dict[str, Flaw]) -> str:
    """Return the path of an entry, ``""`` if its name can be read in several ways."""
    try:
        path = entry.raw.decode("utf-8" if entry.flags & _UTF8 or entry.raw.isascii() else "cp437")
    except UnicodeDecodeError:
        _note(flaws, "utf-8", f"the name {entry.raw[:80]!r} is no UTF-8 as it says")
        return ""
    try:
        check_path(path.removesuffix("/"))
    except RuleError as fault:
        _note(flaws, fault.rule, fault.message.rpartition(" (rule: ")[0])
    return path


def _check_entry(entry: Entry, path: str, flaws: dict[str, Flaw]) -> None:
    name = f"{path[:80]!a}"
    kind = stat.S_IFMT(entry.mode)
    if entry.flags & _ENCRYPTED:
        _note(flaws, "encrypted", f"{name} is encrypted")
    if kind == stat.S_IFLNK:
        _note(flaws, "link", f"{name} is a link")
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        _note(flaws, "special file", f"{name} is no regular file")
    if entry.method not in (STORED, DEFLATED):
        _note(flaws, "method", f"{name} is packed by method {entry.method}, not stored or deflated")
    elif entry.method == STORED and entry.packed != entry.size:
        _note(flaws, "structure", f"{name} is stored with two sizes")
    if entry.size > RATIO_FROM and entry.size > RATIO * entry.packed:
        _note(flaws, "expansion", f"{name} expands over {RATIO} to 1")
    if path.endswith("/") and (entry.size or kind == stat.S_IFREG):
        _note(flaws, "structure", f"{name} is a folder with content")
    if kind == stat.S_IFDIR and not path.endswith("/"):
        _note(flaws, "structure", f"{name} is a file marked as a folder")
    for extra in _extras(entry.extra):
        if extra in (_ZIP64_EXTRA, _UNICODE_PATH):
            _note(flaws, "structure", f"{name} has fields that readers take in several ways")


def _extras(raw: bytes) -> Iterator[int]:
    at = 0
    while at + 4 <= len(raw):
        yield int.from_bytes(raw[at : at + 2], "little")
        at += 4 + int.from_bytes(raw[at + 2 : at + 4], "little")


def _check_together(members: list[ZipMember], entries: list[Entry], flaws: dict[str, Flaw]) -> None:
    limits = FolderLimits()
    size = sum(entry.size for entry in entries)
    if size > limits.content_bytes:
        _note(flaws, "expansion", f"it expands to {size} bytes, over {limits.content_bytes}")
    if len(members) > limits.files:
        _note(flaws, "files", f"it holds {len(members)} files, at most {limits.files}")
    raws = [entry.raw for entry in entries]
    if len(set(raws)) != len(raws):
        twice = Counter(raws).most_common(1)[0][0]
        _note(flaws, "duplicate", f"{twice[:80]!r} is there twice")
    if {"depth", "path", "path length"} & flaws.keys():
        return  # such paths may be so long that comparing them takes long
    paths = [member.path for member in members]
    folders = {path[:at] for path in paths for at, mark in enumerate(path) if mark == "/"}
    both = folders.intersection(paths)
    if both:
        _note(flaws, "duplicate", f"{min(both)[:80]!a} is a file and a folder")
    try:
        check_twins(dict.fromkeys(paths))
    except RuleError as fault:
        _note(flaws, fault.rule, fault.message.rpartition(" (rule: ")[0])


def _check_layout(source: Bytes, entries: list[Entry], directory: int) -> None:
    """Confirm that the entries follow one another without gap or overlap.

    Raises:
        ZipFault: they do not.
    """
    at = 0
    for entry in sorted(entries, key=lambda one: one.offset):
        if entry.offset != at:
            raise ZipFault("entries that overlap, or bytes between them")
        if ZIP64 in (entry.packed, entry.size):
            raise ZipFault("ZIP64 sizes, which no archive of this size needs")
        at, described = local_end(source, entry)
        if described:
            at += descriptor_size(source, entry, at)
        if at > directory:
            raise ZipFault("an entry reaches into the directory")
    if at != directory:
        raise ZipFault("bytes that belong to no entry")


def _check_manifest(source: Bytes, members: list[ZipMember], flaws: dict[str, Flaw]) -> None:
    known = {member.path: member.entry for member in members}

    def read(path: str) -> bytes:
        found = b""
        for chunk in content(source, known[path]):
            found += chunk
            if len(found) >= MANIFEST_BYTES:
                break
        return found

    try:
        path = manifest_in(known, read)
    except RuleError as fault:
        _note(flaws, fault.rule, fault.message.rpartition(" (rule: ")[0])
        return
    if path:
        _note(flaws, "manifest", f"{path[:80]!a} belongs to a package of this system")


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
