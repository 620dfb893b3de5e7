"""Folders walked, read and written by descriptors, so that no link is ever followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sciharness.contract.inputs import MAX_DEPTH, MAX_PATH_BYTES
from sciharness.errors import DataError


@contextmanager
def opened_folder(path: Path) -> Iterator[int]:
    """Give a descriptor of a folder; the path to it may be a link.

    Raises:
        DataError: there is no such folder.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path.name) from error
    try:
        yield folder
    finally:
        os.close(folder)


def files_beneath(folder: int, prefix: str = "") -> Iterator[str]:
    """Yield the relative paths of all regular files, with slashes.

    Raises:
        DataError: something is a link or special, too deep, or its name is no UTF-8.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = prefix + entry.name
        check_path(path)
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            yield path
        elif stat.S_ISDIR(mode):
            with _beneath(folder, entry.name) as inner:
                yield from files_beneath(inner, f"{path}/")
        else:
            raise DataError(f"{path} is a link or no regular file")


def check_path(path: str) -> None:
    """Confirm that a path is relative, plain and within bounds.

    Raises:
        DataError: it is not.
    """
    parts = path.split("/")
    try:
        length = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        raise DataError(f"{path!a} is a name that is no UTF-8") from None
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise DataError(f"{path!a} is no plain relative path")
    if len(parts) > MAX_DEPTH or length > MAX_PATH_BYTES:
        raise DataError(f"{path[:80]} lies deeper than {MAX_DEPTH} or is too long")


@contextmanager
def opened_file(folder: int, path: str) -> Iterator[int]:
    """Give a descriptor of a regular file beneath ``folder`` for reading.

    Raises:
        DataError: it is a link or no regular file, or a folder above it is a link.
    """
    # Without O_NONBLOCK the open of a named pipe waits for a writer for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with _parent(folder, path) as (parent, name):
            file = os.open(name, flags, dir_fd=parent)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise DataError(f"{path} is no regular file")
        yield file
    finally:
        os.close(file)


@contextmanager
def new_file(folder: int, path: str, *, executable: bool) -> Iterator[int]:
    """Give a descriptor of a new file beneath ``folder`` for writing; it may only be read later.

    Folders above it are made. Nothing that is there is replaced or followed.

    Raises:
        DataError: something is in the way.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with _parent(folder, path, make=True) as (parent, name):
            file = os.open(name, flags, 0o555 if executable else 0o444, dir_fd=parent)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from error
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _parent(folder: int, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Give the folder that holds a file, reached part by part, and the file's name."""
    *above, name = path.split("/")
    held = os.dup(folder)
    try:
        for part in above:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=held)
            with _beneath(held, part) as inner:
                os.close(held)
                held = os.dup(inner)
        yield held, name
    finally:
        os.close(held)


@contextmanager
def _beneath(folder: int, name: str) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    inner = os.open(name, flags, dir_fd=folder)
    try:
        yield inner
    finally:
        os.close(inner)
