"""The home: one folder with the database, the objects, the vault and the workspaces."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from sciharness.errors import IntegrityError, UsageError
from sciharness.store import head
from sciharness.store._connection import connect
from sciharness.store._files import sync_folder
from sciharness.store._reserve import RESERVE_BYTES, free_reserve, make_reserve
from sciharness.store._schema import SCHEMA, create_schema
from sciharness.store._transactions import Transaction, end, locked, transaction
from sciharness.store.clock import Clock, time_text, utc_now
from sciharness.store.errors import in_database, storing

__all__ = ["RESERVE_BYTES", "Home", "Transaction", "locate"]

_FOLDERS = ("objects", "vault", "plugins", "workspaces", "exports", "tmp")
_FILES = ("harness.db", "harness.db-wal", "harness.db-shm", "harness.db-journal")
_OWN = frozenset((*_FOLDERS, *_FILES, "catalog.head", "lock", "reserve"))


def locate(path: Path | None, environ: Mapping[str, str]) -> Path:
    """Return where the home lies: ``path``, else ``HARNESS_HOME``, else the user's data folder."""
    if path is not None:
        return Path(path).absolute()
    if environ.get("HARNESS_HOME"):
        return Path(environ["HARNESS_HOME"]).absolute()
    # Imported here: most calls name the home or set the variable.
    from platformdirs import user_data_path

    return user_data_path("sciharness", appauthor=False)


class Home:
    """An open home. Use :meth:`open`; close it, or use it in a ``with`` statement.

    ``objects``, ``vault``, ``plugins``, ``workspaces``, ``exports`` and
    ``temporary`` are its folders. Connections are per thread.
    """

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self.path = path
        self.database = path / "harness.db"
        self.objects = path / "objects"
        self.vault = path / "vault"
        self.plugins = path / "plugins"
        self.workspaces = path / "workspaces"
        self.exports = path / "exports"
        self.temporary = path / "tmp"
        self.reserve = path / "reserve"
        self.catalog_head = path / "catalog.head"
        self.lock = path / "lock"
        self._clock = clock
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        clock: Clock = utc_now,
        environ: Mapping[str, str] = os.environ,
    ) -> Home:
        """Open the home, creating it where there is none.

        Raises:
            UsageError: the place cannot be written, holds other files, or was
                written by a newer version.
            IntegrityError: the database is damaged.
        """
        home = cls(locate(path, environ), clock)
        if not home.database.exists():
            home._create()
        elif not os.access(home.path, os.W_OK):
            raise home._refusal("cannot be written")
        with in_database():
            home._check_schema()
        home._tidy()
        return home

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the home may be opened again."""
        connections, self._connections = self._connections, []
        self._local = threading.local()
        if connections:
            # The last close of all copies the log into the database: not beside a writer.
            with locked(self.lock):
                for connection in connections:
                    connection.close()

    def now(self) -> str:
        """Return the time of the home's clock as it is written into events."""
        return time_text(self._clock())

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection, for reading; write inside :meth:`writing`."""
        known: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if known is None:
            with in_database():
                known = connect(self.database)
            self._local.connection = known
            self._connections.append(known)
        return known

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the database until the block ends."""
        connection = self.connection()
        if connection.in_transaction:
            yield connection
            return
        with in_database():
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                end(connection, "COMMIT")

    @contextmanager
    def writing(self, tx: Transaction | None = None) -> Iterator[Transaction]:
        """Give one write transaction: durable when the block has ended, undone if it raised.

        With ``tx`` the block joins that transaction instead. Keep the block
        short: other processes wait.

        Raises:
            DiskFullError: there was no room; nothing was written.
            StorageError: the device failed; nothing was acknowledged.
        """
        if tx is not None:
            yield tx
            return
        if getattr(self._local, "writing", False):
            raise RuntimeError("a transaction is open in this thread: pass it on as tx")
        with in_database(), locked(self.lock):
            self._local.writing = True
            try:
                with transaction(self.connection()) as own:
                    yield own
                if own.head is not None:
                    head.publish(self.catalog_head, own.head, self.temporary)
            finally:
                self._local.writing = False

    def ensure_tables(self, name: str, create: Callable[[sqlite3.Connection], object]) -> None:
        """Let another layer create its tables, once per home; ``name`` carries their version."""
        key = f"tables:{name}"
        query = "SELECT 1 FROM meta WHERE key = ?"
        if self.connection().execute(query, (key,)).fetchone() is None:
            with self.writing() as tx:
                create(tx.connection)
                tx.execute("INSERT OR IGNORE INTO meta VALUES (?, '1')", (key,))

    def check_head(self, tx: Transaction | None = None) -> None:
        """Refuse a database that is older than ``catalog.head`` beside it.

        Raises:
            IntegrityError: it was set back, or the file is missing.
        """
        head.check(tx.connection if tx is not None else self.connection(), self.catalog_head)

    def accept_head(self) -> None:
        """Take the database as it is for the newest state, after a backup was put back.

        Raises:
            IntegrityError: its own chain does not hold.
        """
        with self.writing() as tx:
            end_of_chain = head.verify(tx.connection)
            head.publish(self.catalog_head, end_of_chain, self.temporary)
            self.check_head(tx)

    def free_reserve(self) -> bool:
        """Give up the reserve so that a last event fits on a full disk; say whether it was there.

        The next opening of the home with room on the disk makes it anew.
        """
        return free_reserve(self.reserve)

    def _create(self) -> None:
        try:
            self._claim_folder()
            self._make_folders()
            with in_database(), locked(self.lock):
                if not self.database.exists() and not self.catalog_head.exists():
                    head.start(self.catalog_head, self.temporary)
                connection = connect(self.database)
                with transaction(connection):
                    create_schema(connection)
                connection.close()
                self.database.chmod(0o600)
            sync_folder(self.path)
        except OSError as error:
            raise self._refusal(f"cannot be written: {error.strerror}") from error

    def _claim_folder(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        others = sorted({entry.name for entry in os.scandir(self.path)} - _OWN)
        if others:
            raise UsageError(
                f"holds other files ({', '.join(others[:3])}) and is no home",
                where=str(self.path),
                hint="Choose an empty or new folder with --home or HARNESS_HOME.",
            )

    def _make_folders(self) -> None:
        for name in _FOLDERS:
            (self.path / name).mkdir(exist_ok=True, mode=0o700)

    def _check_schema(self) -> None:
        try:
            query = "SELECT value FROM meta WHERE key = 'schema'"
            row = self.connection().execute(query).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            self._create()
            return
        if row is None or not str(row[0]).isdecimal():
            raise IntegrityError("has no schema version", where="harness.db")
        if int(row[0]) > SCHEMA:
            raise UsageError(
                f"was written by a newer version (schema {row[0]}, this one knows {SCHEMA})",
                where=str(self.path),
                hint="Update sciharness, or choose another home.",
            )

    def _tidy(self) -> None:
        # A copied home may have lost its modes and its empty folders.
        with storing("home"):
            self._make_folders()
            for place in (self.path, self.vault):
                if place.stat().st_mode & 0o077:
                    place.chmod(0o700)
        make_reserve(self.reserve, self.temporary)

    def _refusal(self, reason: str) -> UsageError:
        return UsageError(
            reason,
            where=str(self.path),
            hint="Choose a writable folder with --home or HARNESS_HOME.",
        )
