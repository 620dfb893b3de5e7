"""An append-only, hash-chained table of catalog decisions in a database the kernel owns.

Every row's hash covers its number, its bytes and the hash before it. The
kernel keeps the :class:`Head` in a file beside the database, so that a
database put back to an older state is noticed. No function here begins or
ends a transaction.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3

from attrs import frozen

from sciharness_catalog.errors import IntegrityError

WHERE = "catalog"
_START = "0" * 64
_REFUSE = "SELECT RAISE(ABORT, 'catalog decisions are append-only')"
_STATEMENTS = (
    "CREATE TABLE IF NOT EXISTS catalog_decisions ("
    " seq INTEGER PRIMARY KEY CHECK (seq > 0),"
    " body BLOB NOT NULL CHECK (typeof(body) = 'blob'),"
    " hash TEXT NOT NULL CHECK (length(hash) = 64))",
    "CREATE TRIGGER IF NOT EXISTS catalog_decisions_stay BEFORE UPDATE ON catalog_decisions"
    f" BEGIN {_REFUSE}; END",
    "CREATE TRIGGER IF NOT EXISTS catalog_decisions_last BEFORE DELETE ON catalog_decisions"
    f" BEGIN {_REFUSE}; END",
)


@frozen
class Head:
    """How many decisions there are, and the hash of the last one.

    >>> Head.parse(str(Head())) == Head()
    True
    """

    count: int = 0
    hash: str = _START

    @classmethod
    def parse(cls, text: str) -> Head:
        """Return the head that ``str(head)`` wrote.

        Raises:
            IntegrityError: the text is no head.
        """
        found = re.fullmatch(r"(0|[1-9][0-9]{0,15}) ([0-9a-f]{64})\n?", text)
        if found is None:
            raise IntegrityError(
                f"expected `COUNT HASH`, found {text[:80]!r}", where="catalog.head"
            )
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return f"{self.count} {self.hash}"


def create_tables(conn: sqlite3.Connection) -> None:
    """Create the catalog's table and its triggers where they are missing."""
    for statement in _STATEMENTS:
        conn.execute(statement)


def append(conn: sqlite3.Connection, body: bytes) -> Head:
    """Add one row and return the new head; the caller holds the write transaction.

    Raises:
        IntegrityError: the rows before it do not form a chain.
    """
    last = head(conn)
    new = Head(last.count + 1, _link(last, body))
    conn.execute(
        "INSERT INTO catalog_decisions (seq, body, hash) VALUES (?, ?, ?)",
        (new.count, body, new.hash),
    )
    return new


def read(conn: sqlite3.Connection) -> tuple[list[bytes], list[Head]]:
    """Return all rows in order with the head after each, the empty head first.

    Raises:
        IntegrityError: naming the first row that breaks the chain.
    """
    bodies: list[bytes] = []
    heads = [Head()]
    for seq, body, noted in conn.execute(
        "SELECT seq, body, hash FROM catalog_decisions ORDER BY seq"
    ):
        last = heads[-1]
        if seq != last.count + 1 or noted != _link(last, body):
            raise IntegrityError(
                f"decision {last.count + 1} is missing or was altered", where=WHERE
            )
        bodies.append(body)
        heads.append(Head(seq, noted))
    return bodies, heads


def head(conn: sqlite3.Connection) -> Head:
    """Return the head, after the whole chain was checked.

    Raises:
        IntegrityError: naming the first row that breaks the chain.
    """
    return read(conn)[1][-1]


def check_head(conn: sqlite3.Connection, recorded: Head) -> Head:
    """Return the head of a database that holds all that ``recorded`` vouches for.

    Rows beyond it are fine: the file is written after the commit.

    Raises:
        IntegrityError: the chain is broken, shorter than recorded, or another one.
    """
    heads = read(conn)[1]
    if len(heads) <= recorded.count:
        raise IntegrityError(
            f"holds {len(heads) - 1} decisions where {recorded.count} were recorded: "
            "the database was put back to an older state",
            where=WHERE,
            hint="Restore the newer database, or admit the plugins anew in a fresh home.",
        )
    if heads[recorded.count] != recorded:
        raise IntegrityError(
            f"decision {recorded.count} is not the one that was recorded", where=WHERE
        )
    return heads[-1]


def _link(last: Head, body: bytes) -> str:
    start = f"harness-catalog-v1\n{last.count + 1} {len(body)} {last.hash}\n".encode()
    return hashlib.sha256(start + body).hexdigest()
