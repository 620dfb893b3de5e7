"""Table files as streams of text bytes, with the digest of what was read."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from sciharness.contract.inputs import input_facts
from sciharness.errors import DataError
from sciharness.tables.blocks import Stream
from sciharness.tables.grid import CONTEXT_DATA, Grid, GridStream
from sciharness.tables.records import Dialect

PARQUET_MAGIC = b"PAR1"
BYTES_A_CELL = 12


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
    """A table file or directory; ``name`` stands for it in messages.

    ``format`` is text, parquet or context_data; a directory has a ``grid`` as
    soon as its columns are known.
    """

    path: Path
    name: str
    format: str
    grid: Grid | None = None

    @property
    def known(self) -> Dialect | None:
        """How the text is written, where that need not be found out."""
        return None if self.grid is None else self.grid.dialect

    @property
    def expected_bytes(self) -> int:
        """About how long the text is.

        Raises:
            DataError: the file is gone.
        """
        if self.grid is not None:
            return self.grid.rows * len(self.grid.columns) * BYTES_A_CELL
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise _unreadable(self.name, error) from error

    def place_of(self, row: int) -> str:
        """Return how messages call data row ``row``, counted from 1; empty for lines of text."""
        if self.format == "text":
            return ""
        return f"data row {row}" if self.grid is None else self.grid.place_of(row)

    @contextmanager
    def stream(self) -> Iterator[Stream]:
        """Open the table as text; what is no text comes as strict CSV.

        Raises:
            DataError: the file cannot be opened.
        """
        if self.grid is not None:
            yield GridStream(self.path, self.name, self.grid)
            return
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
        return (sha256, size) if self.format == "text" else digest_of(self.path, self.name)


def open_source(path: Path, name: str = "") -> Source:
    """Return the table at ``path``; ``name`` is how messages call it, by default its file name.

    Raises:
        DataError: there is no such regular file or directory, or it cannot be read.
    """
    name = name or path.name
    try:
        if path.is_dir():
            return Source(path, name, CONTEXT_DATA)
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError("no regular file", where=name, hint="Name a CSV, TSV or Parquet file.")
        with path.open("rb") as file:
            head = file.read(len(PARQUET_MAGIC))
    except OSError as error:
        raise _unreadable(name, error) from error
    return Source(path, name, "parquet" if head == PARQUET_MAGIC else "text")


def digest_of(path: Path, name: str) -> tuple[str, int]:
    """Return SHA-256 (hex) and length of the bytes of a file, or of all files of a directory.

    Raises:
        DataError: the file cannot be read, or the directory holds a link.
    """
    if path.is_dir():
        facts = input_facts(name, path)
        return facts.sha256, facts.bytes
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return digest, file.tell()
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> DataError:
    reason = error.strerror or type(error).__name__
    return DataError(f"cannot be read: {reason}", where=name, hint="Check the path.")
