"""Admission: which exact plugins this installation lets load, and how far it trusts them.

Ours are approved by files that come with the catalog; others by a person,
whose decisions are rows of the chained table. The newest decision on a plugin
ID counts. All functions take an open connection and leave transactions to
their caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from sciharness_catalog.approvals import Approval, approvals, distribution_of
from sciharness_catalog.chain import check_head, create_tables, head
from sciharness_catalog.decisions import (
    Decision,
    Origin,
    decisions,
    newest_on,
    record,
    standing_on,
)
from sciharness_catalog.distributions import InstalledPlugin
from sciharness_catalog.errors import HarnessError, IntegrityError, NotAdmittedError
from sciharness_catalog.refusals import refusal
from sciharness_catalog.verify import VerifiedPackage, read_verified

__all__ = [
    "Admission",
    "Decision",
    "Origin",
    "admission",
    "admit",
    "check_head",
    "create_tables",
    "decisions",
    "head",
    "newest_on",
    "revoke",
    "standing_on",
]

State = Literal["admitted", "installed", "refused"]


@frozen
class Admission:
    """Whether an installed plugin may load, with the bytes' digest and the trust it has here.

    ``state`` is ``admitted``, ``installed`` (nobody decided yet) or
    ``refused``; then ``error`` is the exception that leasing raises, ``reason``
    its message. ``digest`` is empty when the files could not be verified.
    """

    plugin_id: str
    distribution: str
    version: str
    origin: Origin
    state: State
    digest: str = ""
    trusted_metrics: bool = False
    trusted_labels: bool = False
    error: HarnessError | None = field(default=None, eq=False, repr=False)

    @property
    def reason(self) -> str | None:
        """Why it may not load, ``None`` when it may."""
        return None if self.error is None else str(self.error)


def admit(
    conn: sqlite3.Connection,
    package: VerifiedPackage,
    *,
    origin: Origin = "third_party",
    trust_metrics: bool = False,
    trust_labels: bool = False,
    attestation: str = "",
    replaces: bool = False,
    at: str = "",
    known: Mapping[str, Approval] | None = None,
) -> Admission:
    """Record that exactly these bytes may load; repeating the newest decision adds no row.

    A package that matches a first-party approval is recorded as such. With
    ``replaces`` an earlier decision on this version of a generated plugin
    binds nothing, since what it was about is not installed.

    Raises:
        IntegrityError: the ID is reserved for another distribution or for us,
            trust is asked for a generated plugin, or a generated plugin of
            this ID and version was admitted with other bytes or attestation.
    """
    known = approvals() if known is None else known
    _check_owner(package.plugin_id, package.distribution, known)
    approval = _approval(package, known)
    decision = Decision(
        "admit",
        package.plugin_id,
        package.distribution,
        package.version,
        package.digest,
        origin if approval is None else "first_party",
        trust_metrics,
        trust_labels,
        attestation,
        at,
    )
    earlier = [one for one in decisions(conn) if one.plugin_id == package.plugin_id]
    _check_generated(decision, [] if replaces else earlier)
    if not earlier or not earlier[-1].says_the_same_as(decision):
        record(conn, decision)
    return _judge(package, decision, approval, known)


def revoke(
    conn: sqlite3.Connection,
    plugin_id: str,
    *,
    at: str = "",
    known: Mapping[str, Approval] | None = None,
) -> None:
    """Record that the plugin ID may no longer load, ours included, until admitted again.

    Raises:
        NotAdmittedError: there is nothing to revoke.
    """
    newest = newest_on(conn, plugin_id)
    known = approvals() if known is None else known
    if newest is None and distribution_of(plugin_id, known) is None:
        raise NotAdmittedError("was never admitted", where=plugin_id)
    if newest is None or newest.action == "admit":
        record(conn, Decision("revoke", plugin_id, at=at))


def admission(
    conn: sqlite3.Connection,
    plugin: InstalledPlugin,
    package: VerifiedPackage | None = None,
    *,
    known: Mapping[str, Approval] | None = None,
) -> Admission:
    """Return what this installation says about an installed plugin; nothing is imported.

    The files are read and hashed unless their verified ``package`` is given.
    Whatever keeps the plugin from loading is told in the answer, not raised.

    Raises:
        IntegrityError: the chain of decisions itself is broken.
    """
    known = approvals() if known is None else known
    newest = newest_on(conn, plugin.plugin_id)
    try:
        package = package or read_verified(plugin)
        newest = standing_on(conn, package) or newest
        _check_owner(plugin.plugin_id, package.distribution, known)
    except HarnessError as error:
        origin = _origin(plugin.plugin_id, plugin.distribution, newest, known)
        return Admission(
            plugin.plugin_id, plugin.distribution, plugin.version, origin, "refused", error=error
        )
    return _judge(package, newest, _approval(package, known), known)


def _judge(
    package: VerifiedPackage,
    newest: Decision | None,
    approval: Approval | None,
    known: Mapping[str, Approval],
) -> Admission:
    """Weigh a verified package against the newest decision and a fitting approval."""
    if newest is not None and newest.action == "revoke":
        approval = None
    decision = newest if newest is not None and newest.admits(package) else None
    origin = _origin(package.plugin_id, package.distribution, newest, known)
    granted = [one for one in (approval, decision) if one is not None]
    error = None if granted else refusal(package, newest, known)
    return Admission(
        package.plugin_id,
        package.distribution,
        package.version,
        origin if approval is None else "first_party",
        _state(error, newest),
        package.digest,
        any(one.trusted_metrics for one in granted),
        any(one.trusted_labels for one in granted),
        error,
    )


def _state(error: HarnessError | None, newest: Decision | None) -> State:
    if error is None:
        return "admitted"
    return "installed" if isinstance(error, NotAdmittedError) and newest is None else "refused"


def _check_owner(plugin_id: str, distribution: str, known: Mapping[str, Approval]) -> None:
    owner = distribution_of(plugin_id, known)
    if owner is not None and owner != distribution:
        raise IntegrityError(f"the ID belongs to {owner}, not to {distribution}", where=plugin_id)
    if owner is None and plugin_id.startswith("runtime."):
        raise IntegrityError(
            "IDs under `runtime.` are kept for first-party plugins", where=plugin_id
        )


def _check_generated(decision: Decision, earlier: list[Decision]) -> None:
    if decision.origin == "generated" and (decision.trusted_metrics or decision.trusted_labels):
        raise IntegrityError("a generated plugin is never trusted", where=decision.plugin_id)
    for one in earlier:
        if one.action != "admit" or one.version != decision.version:
            continue
        same = one.digest == decision.digest and one.attestation == decision.attestation
        if "generated" in (one.origin, decision.origin) and not same:
            raise IntegrityError(
                f"version {one.version} was admitted with other bytes or another attestation",
                where=decision.plugin_id,
                hint="Publish it under a new version.",
            )


def _approval(package: VerifiedPackage, known: Mapping[str, Approval]) -> Approval | None:
    """Return the approval of exactly this package under this plugin ID."""
    found = known.get(package.distribution)
    if found is None or package.plugin_id not in found.plugins:
        return None
    fits = (found.version, found.digest) == (package.version, package.digest)
    return found if fits else None


def _origin(
    plugin_id: str, distribution: str, newest: Decision | None, known: Mapping[str, Approval]
) -> Origin:
    if newest is not None and newest.action == "admit":
        return newest.origin
    ours = known.get(distribution)
    return "first_party" if ours is not None and plugin_id in ours.plugins else "third_party"
