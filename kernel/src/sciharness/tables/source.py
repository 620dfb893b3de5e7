"""Table files as streams of text bytes, with the digest of what was read."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from sciharness.errors import DataError
from sciharness.tables.blocks import Stream

PARQUET_MAGIC = b"PAR1"


class Digested:
    """A stream that hashes and counts all bytes that pass."""

    def __init__(self, stream: Stream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._hash = hashlib.sha256()
        self.size = 0

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end.

        Raises:
            DataError: the file cannot be read.
        """
        try:
            piece = self._stream.read(size)
        except OSError as error:
            raise _unreadable(self._name, error) from error
        self._hash.update(piece)
        self.size += len(piece)
        return piece

    @property
    def sha256(self) -> str:
        """Digest of the bytes read so far."""
        return self._hash.hexdigest()


@frozen
class Source:
    """A table file; ``name`` stands for it in messages, ``format`` is text or parquet."""

    path: Path
    name: str
    format: str

    @contextmanager
    def stream(self) -> Iterator[Stream]:
        """Open the table as text; a Parquet file comes as strict CSV.

        Raises:
            DataError: the file cannot be opened.
        """
        if self.format == "parquet":
            from sciharness.tables.parquet import csv_stream

            with csv_stream(self.path, self.name) as stream:
                yield stream
            return
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise _unreadable(self.name, error) from error
        with file:
            yield file

    def identity(self, sha256: str, size: int) -> tuple[str, int]:
        """Return digest and length of the file; for text those of the text as it was read.

        Raises:
            DataError: the file cannot be read.
        """
        return file_digest(self.path, self.name) if self.format == "parquet" else (sha256, size)


def open_source(path: Path, name: str = "") -> Source:
    """Return the table at ``path``; ``name`` is how messages call it, by default its file name.

    Raises:
        DataError: there is no such regular file, or it cannot be read.
    """
    name = name or path.name
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError("no regular file", where=name, hint="Name a CSV, TSV or Parquet file.")
        with path.open("rb") as file:
            head = file.read(len(PARQUET_MAGIC))
    except OSError as error:
        raise _unreadable(name, error) from error
    return Source(path, name, "parquet" if head == PARQUET_MAGIC else "text")


def file_digest(path: Path, name: str) -> tuple[str, int]:
    """Return SHA-256 (hex) and length of a file's bytes.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return digest, file.tell()
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> DataError:
    reason = error.strerror or type(error).__name__
    return DataError(f"cannot be read: {reason}", where=name, hint="Check the path.")
