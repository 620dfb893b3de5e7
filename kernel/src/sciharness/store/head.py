"""``catalog.head``: number and hash of all that this home has committed itself to.

Ends of runs, looks at sealed labels and admissions form one hash chain in the
table ``heads``. Its end is also kept in a file beside the database, so that a
database from yesterday, put back today, is noticed. The file is written after
the commit: after a crash it may lie behind, never ahead.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from sciharness.errors import IntegrityError
from sciharness.store._files import replace_file

GENESIS = bytes(32)
_LABEL = b"head-v1"


@frozen
class CatalogHead:
    """Number of entries and hash of the last one, in hex."""

    count: int
    hash: str


def extend(connection: sqlite3.Connection, subject: str, digest: str) -> CatalogHead:
    """Append an entry; the caller holds a write transaction."""
    before = _last(connection)
    link = _link(before[0] + 1, before[1], subject, digest)
    connection.execute(
        "INSERT INTO heads VALUES (?, ?, ?, ?)", (before[0] + 1, subject, digest, link)
    )
    return CatalogHead(before[0] + 1, link.hex())


def publish(path: Path, head: CatalogHead, staging: Path) -> None:
    """Write the file beside the database."""
    # The commit is done and stays done: a file that lies behind is a legal
    # state, which the next entry mends.
    with suppress(OSError):
        replace_file(path, _line(head), staging)


def start(path: Path, staging: Path) -> None:
    """Write the file of a new home, before its database exists."""
    replace_file(path, _line(CatalogHead(0, GENESIS.hex())), staging)


def check(connection: sqlite3.Connection, path: Path) -> CatalogHead:
    """Return the end of the chain after comparing it with the file.

    Raises:
        IntegrityError: the database is older than the file, or its chain is another one.
    """
    # In this order: others may commit and publish in between.
    published = _read(path)
    count, last = _last(connection)
    if published.count > count:
        raise _refusal(
            f"names {published.count} entries, the database has {count}:"
            " it was set back to an older state"
        )
    if _hash_at(connection, published.count) != published.hash:
        raise _refusal(f"entry {published.count} is another one in the database")
    return CatalogHead(count, last.hex())


def verify(connection: sqlite3.Connection) -> CatalogHead:
    """Return the end of the chain after recomputing every link.

    Raises:
        IntegrityError: an entry is missing or was changed.
    """
    count, before = 0, GENESIS
    rows = connection.execute("SELECT seq, subject, digest, hash FROM heads ORDER BY seq")
    for seq, subject, digest, stored in rows:
        count += 1
        before = _link(count, before, subject, digest)
        if seq != count or before != stored:
            raise IntegrityError(
                f"entry {count} of the catalog chain does not follow", where="harness.db"
            )
    return CatalogHead(count, before.hex())


def _last(connection: sqlite3.Connection) -> tuple[int, bytes]:
    row = connection.execute("SELECT seq, hash FROM heads ORDER BY seq DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, GENESIS)


def _hash_at(connection: sqlite3.Connection, count: int) -> str:
    if count == 0:
        return GENESIS.hex()
    row = connection.execute("SELECT hash FROM heads WHERE seq = ?", (count,)).fetchone()
    return row[0].hex() if row else ""


def _link(seq: int, before: bytes, subject: str, digest: str) -> bytes:
    parts = (_LABEL, seq.to_bytes(8, "big"), before, subject.encode(), digest.encode())
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


def _line(head: CatalogHead) -> bytes:
    return f"{head.count} {head.hash}\n".encode()


def _read(path: Path) -> CatalogHead:
    try:
        count, _, hash = path.read_text("ascii").strip().partition(" ")
        return CatalogHead(int(count), hash)
    except FileNotFoundError as error:
        raise _refusal("is missing") from error
    except (OSError, ValueError) as error:
        raise _refusal("cannot be read") from error


def _refusal(reason: str) -> IntegrityError:
    return IntegrityError(
        reason,
        where="catalog.head",
        hint="Put back the whole home of one moment; or, if this older state is meant,"
        " accept it with `harness doctor --accept-catalog`.",
    )
