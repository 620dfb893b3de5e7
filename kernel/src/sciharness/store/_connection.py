"""Connections to ``harness.db`` with the settings that make a commit durable."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sciharness.store._mounts import is_network_place
from sciharness.store.errors import DiskFullError

_LEAST_ROOM = 64 * 1024

_SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
    # INSERT OR REPLACE must not get past the triggers that refuse DELETE.
    "PRAGMA recursive_triggers=ON",
    f"PRAGMA journal_size_limit={64 * 1024 * 1024}",
)


def connect(database: Path) -> sqlite3.Connection:
    """Return a connection in autocommit mode; transactions are begun by hand."""
    # Connections are kept per thread; only closing happens from another one.
    connection = sqlite3.connect(
        database, timeout=10.0, isolation_level=None, check_same_thread=False
    )
    try:
        # WAL needs memory shared between processes, which network mounts do not give.
        journal = "TRUNCATE" if is_network_place(database) else "WAL"
        connection.execute(f"PRAGMA journal_mode={journal}").fetchone()
        for setting in _SETTINGS:
            connection.execute(setting).fetchone()
    except sqlite3.Error as error:
        connection.close()
        room = os.statvfs(database.parent)
        if room.f_bavail * room.f_frsize < _LEAST_ROOM:
            # SQLite calls it an I/O error when there is no room for its shared memory.
            raise DiskFullError(
                "no room is left on the disk",
                where="harness.db",
                hint="Make room on the disk that holds the home.",
            ) from error
        raise
    except BaseException:
        connection.close()
        raise
    return connection
