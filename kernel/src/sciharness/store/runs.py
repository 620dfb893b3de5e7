"""Runs of a home: their IDs, the row that sums each one up, and who works on it."""

from __future__ import annotations

import secrets
from typing import Any

from attrs import frozen

from sciharness.errors import UsageError
from sciharness.store.home import Home, Transaction
from sciharness.store.owners import Owner, is_alive

TERMINAL = frozenset({"succeeded", "failed", "budget_exhausted", "cancelled"})
STATUSES = TERMINAL | {"created", "running", "paused", "waiting_for_input", "interrupted"}
DELIVERIES = frozenset({"none", "pending", "succeeded", "failed"})

_COLUMNS = "run_id, status, title, delivery, contract, created, count, head, owner"


@frozen
class Run:
    """The row of one run, as its last event left it.

    ``status`` is ``interrupted`` where the row says running but no living
    process owns the run; ``recorded`` is what the row says. ``head`` is hex.
    """

    run_id: str
    status: str
    recorded: str
    title: str
    delivery: str
    contract: str
    created: str
    count: int
    head: str
    owner: Owner | None

    @property
    def is_owned(self) -> bool:
        """Whether a living process works on the run."""
        return self.owner is not None and is_alive(self.owner)

    def to_dict(self) -> dict[str, str]:
        """Return the entry of ``list --json``."""
        return {
            "run_id": self.run_id,
            "title": self.title,
            "status": self.status,
            "delivery": self.delivery,
            "created": self.created,
        }


class Runs:
    """The runs of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def new_run_id(self, tx: Transaction | None = None) -> str:
        """Return an unused ID such as ``00017-3fa9c2``: it sorts by age.

        Asked for within the transaction that creates the run, its number is
        that of no other run.
        """
        connection = tx.connection if tx is not None else self._home.connection()
        query = "SELECT max(CAST(run_id AS INTEGER)) FROM runs"
        newest = connection.execute(query).fetchone()[0] or 0
        return f"{newest + 1:05d}-{secrets.token_hex(3)}"

    def get(self, run_id: str, tx: Transaction | None = None) -> Run:
        """Return the run of exactly this ID.

        Raises:
            UsageError: there is none.
        """
        row = self._row(run_id, tx)
        if row is None:
            raise UsageError("there is no such run", where=run_id, hint="See `harness list`.")
        return _run(row)

    def count(self, run_id: str) -> int:
        """Return the number of events of a run; cheap enough to ask several times a second."""
        query = "SELECT count FROM runs WHERE run_id = ?"
        row = self._home.connection().execute(query, (run_id,)).fetchone()
        return int(row[0]) if row else 0

    def find(self, prefix: str) -> Run:
        """Return the run whose ID starts with ``prefix`` or has it as its number.

        Raises:
            UsageError: none does, or several do; the message names them.
        """
        runs = self.listing() if prefix else []
        found = [run for run in runs if run.run_id.startswith(prefix)]
        numbered = [run for run in runs if _has_number(run.run_id, prefix)]
        # A plain number names that run, even where it starts other IDs.
        candidates = numbered or found
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise UsageError(
                "no run has an ID that starts so", where=prefix, hint="See `harness list`."
            )
        names = ", ".join(run.run_id for run in candidates[:5])
        more = "" if len(candidates) <= 5 else f" and {len(candidates) - 5} more"
        raise UsageError(
            f"several runs fit: {names}{more}", where=prefix, hint="Give more of the ID."
        )

    def listing(self, contract: str | None = None) -> list[Run]:
        """Return all runs, oldest first; with ``contract`` only those of that digest."""
        query = f"SELECT {_COLUMNS} FROM runs"
        connection = self._home.connection()
        if contract is None:
            rows = connection.execute(f"{query} ORDER BY run_id").fetchall()
        else:
            rows = connection.execute(
                f"{query} WHERE contract = ? ORDER BY run_id", (contract,)
            ).fetchall()
        return [_run(row) for row in rows]

    def claim(self, run_id: str, tx: Transaction | None = None) -> Owner:
        """Make this process the owner of the run; a dead owner gives way.

        Raises:
            UsageError: another living process works on the run.
        """
        me = Owner.current()
        with self._home.writing(tx) as open_tx:
            run = self.get(run_id, open_tx)
            if run.owner is not None and run.owner != me and is_alive(run.owner):
                raise UsageError(
                    f"process {run.owner.pid} works on this run",
                    where=run_id,
                    hint=f"Watch it with `harness events {run_id} --follow`, or stop it with"
                    f" `harness pause {run_id}`.",
                )
            open_tx.execute("UPDATE runs SET owner = ? WHERE run_id = ?", (me.to_text(), run_id))
        return me

    def release(self, run_id: str, tx: Transaction | None = None) -> None:
        """Give up the run if this process owns it."""
        with self._home.writing(tx) as open_tx:
            open_tx.execute(
                "UPDATE runs SET owner = NULL WHERE run_id = ? AND owner = ?",
                (run_id, Owner.current().to_text()),
            )

    def _row(self, run_id: str, tx: Transaction | None) -> tuple[Any, ...] | None:  # Any: columns
        connection = tx.connection if tx is not None else self._home.connection()
        query = f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?"
        row: tuple[Any, ...] | None = connection.execute(query, (run_id,)).fetchone()
        return row


def _has_number(run_id: str, text: str) -> bool:
    number = run_id.partition("-")[0]
    return text.isdecimal() and number.isdecimal() and int(number) == int(text)


def _run(row: tuple[Any, ...]) -> Run:  # Any: columns of the table
    run_id, recorded, title, delivery, contract, created, count, head, owner_text = row
    owner = Owner.parse(owner_text) if owner_text else None
    status = recorded
    if recorded == "running" and (owner is None or not is_alive(owner)):
        status = "interrupted"
    return Run(
        run_id, status, recorded, title, delivery, contract, created, count, head.hex(), owner
    )
