"""Durable files: copying with the hash taken in the same pass, syncing, replacing."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from sciharness.errors import DataError

# Stays in the processor's cache between read, hash and write; larger writes
# make the kernel look for larger pages, which costs more than it saves.
CHUNK = 64 * 1024


@frozen
class Blob:
    """Immutable bytes: their SHA-256 in hex and their number."""

    sha256: str
    size: int


def copy_hashed(source: int, sink: int | None, limit: int | None = None) -> Blob:
    """Copy descriptor ``source`` to ``sink`` in one pass and return what was copied.

    Without a sink the bytes are only hashed.

    Raises:
        DataError: there are more than ``limit`` bytes.
    """
    digest, size = sha256(), 0
    buffer = memoryview(bytearray(CHUNK))
    while count := os.readv(source, [buffer]):
        size += count
        if limit is not None and size > limit:
            raise DataError(f"is larger than the limit of {limit} bytes")
        part = buffer[:count]
        digest.update(part)
        if sink is not None:
            write_all(sink, part)
    return Blob(digest.hexdigest(), size)


def set_aside(sink: int, size: int) -> None:
    """Take ``size`` bytes of disk for an empty file, so that a full disk is seen at once."""
    # Where the file system cannot do it, writing finds out.
    if size > CHUNK and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(sink, 0, size)
        except OSError as error:
            if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}:
                raise


def write_all(sink: int, data: bytes | memoryview) -> None:
    """Write all of ``data``; a short write is continued."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(sink, rest) :]


def hash_file(path: Path) -> Blob:
    """Return digest and size of a regular file; links are not followed."""
    with opened(path) as source:
        return copy_hashed(source, None)


@contextmanager
def opened(path: Path, *, follow: bool = False) -> Iterator[int]:
    """Open a regular file for reading.

    Raises:
        OSError: it cannot be opened.
        DataError: it is a folder, a pipe or another special file.
    """
    # Without O_NONBLOCK the open of a named pipe waits for a writer for ever.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    source = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise DataError("is no regular file", where=path.name)
        yield source
    finally:
        os.close(source)


@contextmanager
def fresh_file(folder: Path, mode: int = 0o600) -> Iterator[tuple[int, Path]]:
    """Give a new file of a random name to write to; it is removed unless renamed away."""
    path = folder / secrets.token_hex(16)
    sink = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        yield sink, path
    finally:
        os.close(sink)
        with suppress(FileNotFoundError):
            os.unlink(path)


def replace_file(path: Path, data: bytes, staging: Path) -> None:
    """Put ``data`` in the place of ``path``, durably and all at once, by way of ``staging``."""
    with fresh_file(staging) as (sink, fresh):
        write_all(sink, data)
        os.fsync(sink)
        os.replace(fresh, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def files_in(folder: Path) -> Iterator[Path]:
    """Return every non-folder beneath ``folder``, in sorted order."""
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if entry.is_dir(follow_symlinks=False):
            yield from files_in(Path(entry.path))
        else:
            yield Path(entry.path)
