"""What an export is read from: a folder without links, or a ZIP as it is written here."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from sciharness.errors import DataError, IntegrityError
from sciharness.export import _zip
from sciharness.store._files import CHUNK, opened


class Source(Protocol):
    """Gives the files of an export."""

    def names(self) -> frozenset[str]:
        """Return the paths of all files, with slashes."""

    def read(self, name: str) -> Iterator[bytes]:
        """Return the bytes of a file in pieces."""


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open an export for reading.

    Raises:
        DataError: there is nothing there.
        IntegrityError: it holds a link or special file, or is no ZIP of ours.
    """
    if path.is_dir():
        yield _Folder(path)
    elif path.is_file():
        with path.open("rb") as file:
            yield _Zip(file)
    else:
        raise DataError("there is no export here", where=path.name)


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._names = frozenset(_walk(root, ""))

    def names(self) -> frozenset[str]:
        return self._names

    def read(self, name: str) -> Iterator[bytes]:
        with opened(self._root / name) as source:
            while chunk := os.read(source, CHUNK):
                yield chunk


class _Zip:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        try:
            members = _zip.read_members(file)
        except _zip.ZipError as error:
            raise IntegrityError(
                str(error),
                where="export",
                hint="If it was packed anew, unpack it and verify the folder.",
            ) from error
        tops = {member.name.partition("/")[0] for member in members}
        if len(tops) != 1:
            raise IntegrityError("holds other than one folder", where="export")
        self._members = {member.name.partition("/")[2]: member for member in members}

    def names(self) -> frozenset[str]:
        return frozenset(self._members)

    def read(self, name: str) -> Iterator[bytes]:
        return _zip.read_content(self._file, self._members[name])


def _walk(folder: Path, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        mode, path = entry.stat(follow_symlinks=False).st_mode, prefix + entry.name
        if stat.S_ISDIR(mode):
            yield from _walk(Path(entry.path), f"{path}/")
        elif stat.S_ISREG(mode):
            yield path
        else:
            raise IntegrityError("is a link or no regular file", where=path)
