"""Folders walked, read and written by descriptors, so that no link is ever followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
            with beneath(held, part) as inner:
                os.close(held)
                held = os.dup(inner)
        yield held, name
    finally:
        os.close(held)


@contextmanager
def beneath(folder: int, name: str) -> Iterator[int]:
    """Give a descriptor of a folder within a folder; never through a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    inner = os.open(name, flags, dir_fd=folder)
    try:
        yield inner
    finally:
        os.close(inner)
