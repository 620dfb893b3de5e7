"""The event log: append-only, one hash chain per run, durable when a call returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sciharness.errors import IntegrityError, UsageError
from sciharness.store.chain import (
    GENESIS,
    Body,
    ChainError,
    Event,
    Head,
    Row,
    decode_event,
    encode_record,
    hash_event,
    verify_rows,
)
from sciharness.store.errors import DiskFullError
from sciharness.store.home import Home, Transaction
from sciharness.store.owners import Owner
from sciharness.store.runs import DELIVERIES, STATUSES, TERMINAL

_PAGE = 512
_PROJECTED = {"status": STATUSES, "delivery": DELIVERIES, "title": None, "contract": None}

# With one of these a run stops; there has to be room for that event.
LAST = TERMINAL | {"interrupted", "paused"}

Projection = Mapping[str, str]


class EventLog:
    """The events of all runs of one home.

    The log does not know what events mean. What the run row shows (status,
    title, delivery, contract digest) is passed as ``projection``, stored in
    the last event of the call, and can be rebuilt from there.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def create(
        self,
        run_id: str,
        events: Sequence[tuple[str, Body]],
        *,
        projection: Projection,
        owner: Owner | None = None,
        tx: Transaction | None = None,
    ) -> list[Event]:
        """Create a run with its first events in one durable commit.

        Raises:
            UsageError: the run exists.
        """
        with self._home.writing(tx) as open_tx:
            if open_tx.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone():
                raise UsageError("this run exists", where=run_id)
            open_tx.execute(
                "INSERT INTO runs VALUES (?, 'created', '', 'none', '', ?, 0, ?, ?)",
                (run_id, self._home.now(), GENESIS, owner.to_text() if owner else None),
            )
            stored = self.append(run_id, events, projection=projection, tx=open_tx)
            open_tx.execute(
                "UPDATE runs SET created = ? WHERE run_id = ?", (stored[0].time, run_id)
            )
        return stored

    def append(
        self,
        run_id: str,
        events: Sequence[tuple[str, Body]],
        *,
        projection: Projection | None = None,
        owner: Owner | None = None,
        tx: Transaction | None = None,
    ) -> list[Event]:
        """Append events in one durable commit and return them as stored.

        With ``owner`` the append is refused if another process has taken the
        run over in the meantime. With ``tx`` they are durable when that
        transaction is; without, an event that ends or stops the run is
        written from the reserve if the disk is full.

        Raises:
            UsageError: there is no such run, or it has another owner.
            ValueError: a body is not JSON, or the projection has an unknown field.
            StorageError: the disk failed; nothing was stored.
        """
        changes = _checked(projection)
        if not events:
            raise ValueError("nothing to append")
        try:
            return self._append(run_id, events, changes, owner, tx)
        except DiskFullError:
            if tx is not None or changes.get("status") not in LAST or not self._home.free_reserve():
                raise
        return self._append(run_id, events, changes, owner, None)

    def _append(
        self,
        run_id: str,
        events: Sequence[tuple[str, Body]],
        changes: dict[str, str],
        owner: Owner | None,
        tx: Transaction | None,
    ) -> list[Event]:
        with self._home.writing(tx) as open_tx:
            count, head = _end_of(open_tx, run_id, owner)
            time = self._home.now()
            rows: list[tuple[str, int, bytes, bytes]] = []
            for index, (kind, body) in enumerate(events):
                last = index == len(events) - 1
                record = encode_record(kind, time, body, changes if last else None)
                count += 1
                head = hash_event(run_id, count, head, record)
                rows.append((run_id, count, record, head))
            open_tx.connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
            _update_row(open_tx, run_id, changes, count, head)
        return [decode_event(*row) for row in rows]

    def read(self, run_id: str, after: int = 0) -> Iterator[Event]:
        """Return the events with a sequence number above ``after``, in order.

        They are fetched in pages, so that a slow reader holds nothing up.
        """
        for seq, record, hash in self.rows(run_id, after):
            yield decode_event(run_id, seq, record, hash)

    def rows(self, run_id: str, after: int = 0) -> Iterator[Row]:
        """Return ``(seq, record bytes, hash bytes)`` of the events above ``after``, in order."""
        query = (
            "SELECT seq, record, hash FROM events WHERE run_id = ? AND seq > ?"
            f" ORDER BY seq LIMIT {_PAGE}"
        )
        connection = self._home.connection()
        while page := connection.execute(query, (run_id, after)).fetchall():
            yield from page
            after = page[-1][0]

    def verify(self, run_id: str) -> Head:
        """Return the end of the chain after recomputing it over the stored bytes.

        Raises:
            UsageError: there is no such run.
            IntegrityError: an event was changed, dropped or moved; the message
                names the first bad one.
        """
        summary = "SELECT count, head FROM runs WHERE run_id = ?"
        events = "SELECT seq, record, hash FROM events WHERE run_id = ? ORDER BY seq"
        with self._home.reading() as connection:
            row = connection.execute(summary, (run_id,)).fetchone()
            if row is None:
                raise UsageError("there is no such run", where=run_id, hint="See `harness list`.")
            try:
                count, head = verify_rows(run_id, connection.execute(events, (run_id,)))
                _compare(count, head, *row)
            except ChainError as error:
                raise broken(run_id, error) from error
        return Head(count, head.hex())

    def rebuild(self, run_id: str, tx: Transaction | None = None) -> None:
        """Write the run row anew from the events alone; the run then has no owner.

        Raises:
            IntegrityError: the events are not one unbroken chain from the first.
        """
        with self._home.writing(tx) as open_tx:
            fields = {"status": "created", "title": "", "delivery": "none", "contract": ""}
            created, rows = "", list(self.rows(run_id))
            try:
                count, head = verify_rows(run_id, rows)
            except ChainError as error:
                raise broken(run_id, error) from error
            for event in (decode_event(run_id, *row) for row in rows):
                created = created or event.time
                fields.update(event.projection)
            open_tx.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
            values = (run_id, fields["status"], fields["title"], fields["delivery"])
            open_tx.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (*values, fields["contract"], created, count, head),
            )


def broken(run_id: str, error: ChainError) -> IntegrityError:
    """Return the refusal of a chain that does not hold."""
    return IntegrityError(
        str(error),
        where=f"run {run_id}",
        hint="The record was altered or cut: do not rely on it; restore the home from a backup.",
    )


def _checked(projection: Projection | None) -> dict[str, str]:
    changes = dict(projection or {})
    for name, value in changes.items():
        if name not in _PROJECTED:
            raise ValueError(f"a run row has no field {name!r}")
        allowed = _PROJECTED[name]
        if allowed is not None and value not in allowed:
            raise ValueError(f"{value!r} is no {name} of a run")
    return changes


def _end_of(tx: Transaction, run_id: str, owner: Owner | None) -> tuple[int, bytes]:
    row = tx.execute("SELECT count, head, owner FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise UsageError("there is no such run", where=run_id, hint="See `harness list`.")
    if owner is not None and row[2] != owner.to_text():
        raise UsageError("another process has taken this run over", where=run_id)
    return row[0], row[1]


def _update_row(
    tx: Transaction, run_id: str, changes: dict[str, str], count: int, head: bytes
) -> None:
    names = [*changes, "count", "head"]
    sets = ", ".join(f"{name} = ?" for name in names)
    values = (*changes.values(), count, head, run_id)
    tx.execute(f"UPDATE runs SET {sets} WHERE run_id = ?", values)
    if changes.get("status") in TERMINAL:
        tx.record_head(f"run {run_id} {count}", head.hex())


def _compare(count: int, head: bytes, stated: int, stated_head: bytes) -> None:
    if count < stated:
        raise ChainError(count + 1, f"is missing: the run has {stated} events, {count} are left")
    if count > stated:
        raise ChainError(stated + 1, f"was added: the run has {stated} events")
    if head != stated_head:
        raise ChainError(count, "is not the one that the run ended with")
