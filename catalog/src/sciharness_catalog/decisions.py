"""Decisions of this installation on single plugins: the rows of the chained table."""

from __future__ import annotations

import json
import sqlite3
from typing import Literal

from attrs import asdict, evolve, frozen

from sciharness_catalog import chain
from sciharness_catalog.canonical import canonical_json
from sciharness_catalog.verify import VerifiedPackage

Origin = Literal["first_party", "third_party", "generated"]


@frozen
class Decision:
    """One row: a plugin's exact digest admitted, or its ID revoked.

    ``attestation`` is the SHA-256 of a generated package's attestation,
    ``at`` the time as text where the caller gave one.
    """

    action: Literal["admit", "revoke"]
    plugin_id: str
    distribution: str = ""
    version: str = ""
    digest: str = ""
    origin: Origin = "third_party"
    trusted_metrics: bool = False
    trusted_labels: bool = False
    attestation: str = ""
    at: str = ""

    def admits(self, package: VerifiedPackage) -> bool:
        """Whether this decision lets exactly this package load."""
        wanted = ("admit", package.distribution, package.version, package.digest)
        return (self.action, self.distribution, self.version, self.digest) == wanted

    def says_the_same_as(self, other: Decision) -> bool:
        """Whether the two decide alike, whenever they were made."""
        return evolve(self, at="") == evolve(other, at="")


def decisions(conn: sqlite3.Connection) -> list[Decision]:
    """Return every decision, oldest first, after the chain was checked.

    Raises:
        IntegrityError: naming the first row that breaks the chain.
    """
    return [Decision(**json.loads(body)) for body in chain.read(conn)[0]]


def newest_on(conn: sqlite3.Connection, plugin_id: str) -> Decision | None:
    """Return the newest decision on a plugin ID, ``None`` if there is none.

    Raises:
        IntegrityError: as :func:`decisions`.
    """
    about = [one for one in decisions(conn) if one.plugin_id == plugin_id]
    return about[-1] if about else None


def standing_on(conn: sqlite3.Connection, package: VerifiedPackage) -> Decision | None:
    """Return the decision by which one of several versions of a generated plugin may load.

    Versions of a generated plugin lie side by side: admitting one leaves the
    others admitted, until the ID is revoked.

    Raises:
        IntegrityError: as :func:`decisions`.
    """
    for one in reversed(decisions(conn)):
        if one.plugin_id != package.plugin_id:
            continue
        if one.action == "revoke" or one.origin != "generated":
            return None
        if one.admits(package):
            return one
    return None


def record(conn: sqlite3.Connection, decision: Decision) -> chain.Head:
    """Append a decision and return the new head.

    Raises:
        IntegrityError: as :func:`decisions`.
    """
    return chain.append(conn, canonical_json(asdict(decision)))
