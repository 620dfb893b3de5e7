"""An archive as a folder again, checked byte by byte on the way."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sciharness.bundles.limits import check_path
from sciharness.bundles.pack import CHUNK, member_header, padding
from sciharness.bundles.tree import new_file, opened_folder
from sciharness.errors import DataError, IntegrityError


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a bundle into the new folder ``folder``, to be read only.

    Only what ``pack_folder`` writes is accepted: plain files, each once and in
    order. Nothing that is there is followed or replaced.

    Raises:
        IntegrityError: a byte of the structure is not as it has to be.
        DataError: ``folder`` is there already, or cannot be written.
    """
    try:
        folder.mkdir(mode=0o755)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", where=folder.name) from error
    place, last = 0, b""
    with archive.open("rb") as source, opened_folder(folder) as root:
        for member in _members(source):
            name = member.name.encode()
            if member.offset != place or name <= last:
                raise _unsound(f"{member.name!r} is not in its place")
            _check_header(source, member)
            place = _write(source, member, root)
            last = name
        end = bytes(2 * tarfile.BLOCKSIZE)
        if os.pread(source.fileno(), len(end) + 1, place) != end:
            raise _unsound("it does not end after its last file")


def _members(source: BinaryIO) -> Iterator[tarfile.TarInfo]:
    try:
        with tarfile.open(fileobj=source, mode="r:", encoding="utf-8", errors="strict") as reader:
            yield from reader
    except (tarfile.TarError, ValueError, EOFError, RecursionError) as error:
        raise _unsound(str(error)) from error


def _check_header(source: BinaryIO, member: tarfile.TarInfo) -> None:
    try:
        check_path(member.name, portable=False)
        due = member_header(member.name, member.size, executable=_executable(member))
    except (DataError, ValueError) as error:
        raise _unsound(str(error)) from error
    length = member.offset_data - member.offset
    if os.pread(source.fileno(), length, member.offset) != due:
        raise _unsound(f"{member.name!r} is not a plain file as bundles have them")


def _write(source: BinaryIO, member: tarfile.TarInfo, root: int) -> int:
    """Write one file and return where the next member starts."""
    place, stop = member.offset_data, member.offset_data + member.size
    with new_file(root, member.name, executable=_executable(member)) as file:
        while place < stop:
            chunk = os.pread(source.fileno(), min(stop - place, CHUNK), place)
            if not chunk:
                raise _unsound("it ends too early")
            place += os.write(file, chunk)
    filler = padding(member.size)
    if os.pread(source.fileno(), len(filler), stop) != filler:
        raise _unsound(f"{member.name!r} is not padded with zeros")
    return stop + len(filler)


def _executable(member: tarfile.TarInfo) -> bool:
    return bool(member.mode & 0o100)


def _unsound(reason: str) -> IntegrityError:
    return IntegrityError(f"no sound directory bundle: {reason}", where="bundle")
