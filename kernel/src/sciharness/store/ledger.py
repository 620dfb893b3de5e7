"""The holdout ledger: every look at sealed final labels, over all runs of a home."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from attrs import evolve, frozen

from sciharness.errors import IntegrityError
from sciharness.store.home import Home, Transaction
from sciharness_catalog.canonical import canonical_json

_COLUMNS = "id, subject, target, look, predictor, split, run_id, overridden"


@frozen
class LedgerKey:
    """What is looked at: digest of the input bytes and target, whatever the split rule.

    For generated final data ``subject`` is a digest of input bytes and request
    without seed.
    """

    subject: str
    target: str


@frozen
class Look:
    """One distinct predictor that was shown the final labels; ``look`` counts from 1.

    ``overridden`` looks went beyond ``max_queries`` because a person said so.
    """

    id: int
    subject: str
    target: str
    look: int
    predictor: str
    split: str
    run_id: str
    overridden: bool


def predictor_digest(
    model: str, inference: str, arguments: Mapping[str, Any], final_inputs: str
) -> str:
    """Return what makes two predictors the same one (ruling Y-07).

    ``model``, ``inference`` and ``final_inputs`` are SHA-256 digests in hex,
    ``arguments`` the declared ones, as JSON values.
    """
    value: dict[str, Any] = {  # Any: JSON values
        "arguments": dict(arguments),
        "final_inputs": final_inputs,
        "inference": inference,
        "model": model,
    }
    return sha256(b"predictor-v1\n" + canonical_json(value)).hexdigest()


class Ledger:
    """The looks of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def looks(self, key: LedgerKey, tx: Transaction | None = None) -> list[Look]:
        """Return all looks at this target of this input, oldest first."""
        query = f"SELECT {_COLUMNS} FROM looks WHERE subject = ? AND target = ? ORDER BY look"
        connection = tx.connection if tx is not None else self._home.connection()
        rows = connection.execute(query, (key.subject, key.target)).fetchall()
        return [evolve(Look(*row), overridden=bool(row[-1])) for row in rows]

    def replay(
        self, key: LedgerKey, predictor: str, evaluation: str = "", tx: Transaction | None = None
    ) -> tuple[Look, Any] | None:  # Any: the JSON value that was settled
        """Return look and stored result of this very predictor, or ``None`` if there is none.

        ``evaluation`` is the digest of evaluator pin and request.
        """
        query = (
            "SELECT result FROM look_results JOIN looks ON looks.id = look_id"
            " WHERE subject = ? AND target = ? AND predictor = ? AND evaluation = ?"
        )
        connection = tx.connection if tx is not None else self._home.connection()
        values = (key.subject, key.target, predictor, evaluation)
        row = connection.execute(query, values).fetchone()
        look = _of(self.looks(key, tx), predictor)
        return (look, json.loads(row[0])) if row and look else None

    def spend(
        self,
        key: LedgerKey,
        predictor: str,
        *,
        run_id: str,
        split: str,
        max_queries: int = 1,
        override: bool = False,
        tx: Transaction | None = None,
    ) -> Look:
        """Record a look before the labels are shown, and return it.

        A predictor that has looked already, in this or any run, gets its
        earlier look back and is not charged again. ``override`` admits one
        look beyond ``max_queries``.

        Raises:
            IntegrityError: the final labels are spent; the message names the
                runs. Or the database was set back, and with it this ledger.
        """
        with self._home.writing(tx) as open_tx:
            # Without looks of its own in this transaction the file must fit.
            if open_tx.head is None:
                self._home.check_head(open_tx)
            earlier = self.looks(key, open_tx)
            known = _of(earlier, predictor)
            if known is not None:
                return known
            if len(earlier) >= max_queries and not override:
                raise _spent(key, earlier, max_queries)
            return _record(open_tx, key, predictor, run_id, split, earlier, max_queries)

    def settle(
        self,
        look: Look,
        result: Any,  # Any: a JSON value
        evaluation: str = "",
        tx: Transaction | None = None,
    ) -> None:
        """Store the result of a look, for replay; the first result of an evaluation stays."""
        stored = canonical_json(result)
        with self._home.writing(tx) as open_tx:
            open_tx.execute(
                "INSERT OR IGNORE INTO look_results VALUES (?, ?, ?)",
                (look.id, evaluation, stored),
            )


def _of(looks: list[Look], predictor: str) -> Look | None:
    return next((look for look in looks if look.predictor == predictor), None)


def _record(
    tx: Transaction,
    key: LedgerKey,
    predictor: str,
    run_id: str,
    split: str,
    earlier: list[Look],
    max_queries: int,
) -> Look:
    number = len(earlier) + 1
    overridden = number > max_queries
    values = (key.subject, key.target, number, predictor, split, run_id, int(overridden))
    cursor = tx.execute(
        "INSERT INTO looks (subject, target, look, predictor, split, run_id, overridden)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        values,
    )
    tx.record_head(f"look {number} at {key.target} of {key.subject}", predictor)
    return Look(int(cursor.lastrowid or 0), *values[:6], overridden)


def _spent(key: LedgerKey, earlier: list[Look], max_queries: int) -> IntegrityError:
    runs = ", ".join(dict.fromkeys(look.run_id for look in earlier))
    allowed = "1 distinct predictor" if max_queries == 1 else f"{max_queries} distinct predictors"
    return IntegrityError(
        f"the final labels were shown to {len(earlier)} already (run {runs}); allowed: {allowed}",
        where=f"holdout of {key.target} (input {key.subject[:12]})",
        hint=(
            "The same predictor replays its result at no cost; --spend-holdout looks once more"
            " and is printed in the report."
        ),
    )
