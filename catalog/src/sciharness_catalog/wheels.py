"""Wheels read once into memory, strictly, for their digest."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from pathlib import Path

from attrs import field, frozen

from sciharness_catalog.digest import implementation_digest
from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.metadata import Metadata, parse_metadata
from sciharness_catalog.paths import MAX_BYTES, check_file_set, is_payload
from sciharness_catalog.record import parse_record

# what zipfile raises on damaged bytes; a list of members before the start is a ValueError
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError,
)  # fmt: skip


@frozen
class Wheel:
    """A wheel's metadata and the bytes of its import packages, with their digest.

    ``members`` are all of its files, those outside the import packages too.
    """

    metadata: Metadata
    digest: str
    files: dict[str, bytes]
    members: dict[str, bytes] = field(factory=dict, repr=False)


def read_wheel(path: Path) -> Wheel:
    """Return what a wheel would install, read once from ``path``.

    Raises:
        IntegrityError: the archive is damaged or too large, a member is a
            link, has an unsafe name or is there twice, or ``RECORD`` and the
            members differ.
    """
    return parse_wheel(path.read_bytes(), where=path.name)


def parse_wheel(content: bytes, *, where: str) -> Wheel:
    """Return what the wheel in ``content`` would install; errors as for :func:`read_wheel`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, where)
    except _UNREADABLE as error:
        raise IntegrityError(f"not a readable wheel: {error}", where=where) from error
    info = _dist_info(members, where)
    _check_record(members, info, where)
    metadata = parse_metadata(
        _need(members, f"{info}/METADATA", where),
        members.get(f"{info}/entry_points.txt"),
        where=where,
    )
    files = _payload(members, where)
    return Wheel(metadata, implementation_digest(files, metadata), files, members)


def digest_of_wheel(path: Path) -> str:
    """Return the impl-v1 digest of a wheel; errors as for :func:`read_wheel`."""
    return read_wheel(path).digest


def _members(archive: zipfile.ZipFile, where: str) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
        raise IntegrityError(f"more than {MAX_BYTES} bytes when unpacked", where=where)
    for entry in archive.infolist():
        name = entry.orig_filename
        if not name or "\0" in name:  # zipfile ends a name at a NUL, others may not
            raise IntegrityError(
                f"{name!r} is empty or has a character that no file name may have", where=where
            )
        if name in members:
            raise IntegrityError(f"{name!r} is there twice", where=where)
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise IntegrityError(f"{name!r} is a link or a special file", where=where)
        if not name.endswith("/"):
            members[name] = archive.read(entry)
    check_file_set(members, where=where)
    return members


def _dist_info(members: dict[str, bytes], where: str) -> str:
    found = {name.split("/")[0] for name in members if name.split("/")[0].endswith(".dist-info")}
    if len(found) != 1:
        raise IntegrityError(f"expected one .dist-info folder, found {len(found)}", where=where)
    return found.pop()


def _need(members: dict[str, bytes], name: str, where: str) -> bytes:
    if name not in members:
        raise IntegrityError(f"{name} is missing", where=where)
    return members[name]


def _check_record(members: dict[str, bytes], info: str, where: str) -> None:
    listed = set(parse_record(_need(members, f"{info}/RECORD", where), where=f"{where}/RECORD"))
    signatures = {f"{info}/RECORD.jws", f"{info}/RECORD.p7s"}
    for name in sorted(listed ^ set(members) - signatures):
        said = "listed in RECORD but missing" if name in listed else "not listed in RECORD"
        raise IntegrityError(f"{name!r} is {said}", where=where)


def _payload(members: dict[str, bytes], where: str) -> dict[str, bytes]:
    payload: dict[str, bytes] = {}
    for name, data in members.items():
        top, _, rest = name.partition("/")
        if top.endswith(".data"):
            scheme, _, name = rest.partition("/")
            if scheme not in ("purelib", "platlib"):
                continue
        if name in payload:
            raise IntegrityError(f"{name!r} is there twice", where=where)
        if is_payload(name):
            payload[name] = data
    if not payload:
        raise IntegrityError("no import package in it", where=where)
    return payload
