"""Refusals: a distinct error for each way in which a package is not the one that may load."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_catalog.approvals import Approval
from sciharness_catalog.decisions import Decision
from sciharness_catalog.errors import (
    DigestDiffersError,
    HarnessError,
    NotAdmittedError,
    WrongVersionError,
)
from sciharness_catalog.verify import VerifiedPackage


def refusal(
    package: VerifiedPackage, newest: Decision | None, known: Mapping[str, Approval]
) -> HarnessError:
    """Return the error for a verified package that neither a decision nor an approval admits."""
    plugin_id, where = package.plugin_id, f"{package.plugin_id} {package.version}"
    hint = f"Run `harness plugin admit {plugin_id}` to admit it."
    if newest is not None and newest.action == "revoke":
        return NotAdmittedError("was revoked", where=where, hint=hint)
    ours = known.get(package.distribution)
    if newest is not None:
        return differs(package, newest.version, newest.digest, "admitted")
    if ours is not None and plugin_id in ours.plugins:
        return differs(package, ours.version, ours.digest, "approved")
    return NotAdmittedError("is installed but not admitted", where=where, hint=hint)


def differs(package: VerifiedPackage, version: str, digest: str, said: str) -> HarnessError:
    """Return the error for a package that is not the version or digest that was ``said``."""
    where = f"{package.plugin_id or package.distribution} {package.version}"
    if version != package.version:
        return WrongVersionError(
            f"wrong version: {said} {version}, installed {package.version}",
            where=where,
            hint=f"Install {package.distribution}=={version}, or decide on the new version anew.",
        )
    changed = ", ".join(package.changed[:3]) + ("" if len(package.changed) < 4 else ", ...")
    admit = f"If the change is yours, run `harness plugin admit {package.plugin_id}`."
    return DigestDiffersError(
        f"digest differs: {said} {digest[:12]}…, installed {package.digest[:12]}…"
        + (f" ({changed} changed since installation)" if changed else ""),
        where=where,
        hint=admit if package.plugin_id else f"Install {package.distribution}=={version} again.",
    )
