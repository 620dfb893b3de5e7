"""Write transactions of a home: one at a time over all processes, durable or undone."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciharness.failpoints import reach
from sciharness.store import head
from sciharness.store.errors import storing


class Transaction:
    """An open write transaction of a home; everything done with it is committed at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.head: head.CatalogHead | None = None

    def execute(self, sql: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """Run one statement inside the transaction."""
        return self.connection.execute(sql, values)

    def record_head(self, subject: str, digest: str) -> None:
        """Bind ``digest`` into ``catalog.head``, so that a rolled-back database is noticed."""
        self.head = head.extend(self.connection, subject, digest)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[Transaction]:
    """Give a transaction that is committed at the end of the block, undone if it raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield Transaction(connection)
        reach("commit.ready")
        connection.execute("COMMIT")
        reach("commit.done")
    except BaseException:
        end(connection, "ROLLBACK")
        raise


def end(connection: sqlite3.Connection, how: str) -> None:
    """End a transaction if one is open: on a full disk SQLite has rolled back already."""
    if connection.in_transaction:
        connection.execute(how)


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Hold the file or folder ``place`` for this block; others wait, threads of one process too."""
    flags = os.O_RDONLY if place.is_dir() else os.O_RDWR | os.O_CREAT
    with storing("lock"):
        handle = os.open(place, flags | os.O_CLOEXEC, 0o600)
    try:
        with storing("lock"):
            # flock belongs to the open file, so it also keeps threads apart.
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
