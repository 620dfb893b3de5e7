"""Errors of the storage beneath a home: full disks, failing devices, locked files."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sciharness.errors import HarnessError, IntegrityError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_OF_DISKS = _FULL | {errno.EIO, errno.EROFS}


class StorageError(HarnessError):
    """The disk or the file system did not do what was asked; nothing was acknowledged."""

    kind = "internal"
    exit_code = 1


class DiskFullError(StorageError):
    """There is no room left; ``Home.free_reserve`` gives enough for a last event."""


@contextmanager
def storing(what: str) -> Iterator[None]:
    """Turn errors of the operating system into ours, naming ``what``."""
    try:
        yield
    except OSError as error:
        raise _from_os(what, error) from error


def disk_fault(what: str, error: OSError) -> StorageError | None:
    """Return our error for one of the operating system that a disk is to blame for."""
    return _from_os(what, error) if error.errno in _OF_DISKS else None


@contextmanager
def disk_faults(what: str) -> Iterator[None]:
    """Turn those errors of the operating system into ours that a disk is to blame for."""
    try:
        yield
    except OSError as error:
        fault = disk_fault(what, error)
        if fault is None:
            raise
        raise fault from error


@contextmanager
def in_database() -> Iterator[None]:
    """Turn errors of SQLite into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _from_sqlite("harness.db", error) from error


def _from_os(what: str, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return DiskFullError(reason, where=what, hint="Make room on the disk, then resume.")
    return StorageError(reason, where=what, hint="Check the disk that holds the home.")


def _from_sqlite(what: str, error: sqlite3.Error) -> HarnessError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return DiskFullError(str(error), where=what, hint="Make room on the disk, then resume.")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return IntegrityError(str(error), where=what, hint="Restore harness.db from a backup.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StorageError(str(error), where=what, hint="Another program holds harness.db.")
    return StorageError(str(error), where=what, hint="Check the disk that holds the home.")
