"""Leasing: the one question the kernel asks before a worker may load a plugin."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from sciharness_catalog.admission import Admission, admission
from sciharness_catalog.approvals import Approval, approvals, distribution_of
from sciharness_catalog.dependencies import closure
from sciharness_catalog.distributions import InstalledPlugin, find_plugins, index, search_path
from sciharness_catalog.errors import NotInstalledError
from sciharness_catalog.pins import Pin
from sciharness_catalog.refusals import differs
from sciharness_catalog.verify import VerifiedPackage, read_package, read_verified


@frozen
class Lease:
    """A plugin that may load: its listing, its verified bytes and its admission."""

    plugin: InstalledPlugin
    package: VerifiedPackage
    admission: Admission


def lease(
    conn: sqlite3.Connection,
    plugin_id: str,
    *,
    pin: Pin | None = None,
    path: Sequence[Path] | None = None,
    known: Mapping[str, Approval] | None = None,
) -> Lease:
    """Return the verified bytes of an admitted plugin, of exactly the pin if one is given.

    Raises:
        NotInstalledError: no distribution claims the ID; the hint names the
            ``pip install`` where we know it.
        TwoClaimantsError, EditableError, IntegrityError: as ``read_verified``.
        WrongVersionError, DigestDiffersError: not what was pinned or admitted.
        NotAdmittedError: nobody admitted it, or it was revoked.
    """
    known = approvals() if known is None else known
    plugin = find_plugin(plugin_id, path=path, known=known)
    package = read_verified(plugin)
    if pin is not None and (pin.version, pin.digest) != (package.version, package.digest):
        raise differs(package, pin.version, pin.digest, "pinned")
    said = admission(conn, plugin, package, known=known)
    if said.error is not None:
        raise said.error
    return Lease(plugin, package, said)


def find_plugin(
    plugin_id: str,
    *,
    path: Sequence[Path] | None = None,
    known: Mapping[str, Approval] | None = None,
) -> InstalledPlugin:
    """Return the installed plugin of that ID; of two claimants the first, with its reason.

    Raises:
        NotInstalledError: no distribution claims the ID.
    """
    for plugin in find_plugins(path):
        if plugin.plugin_id == plugin_id:
            return plugin
    known = approvals() if known is None else known
    name = distribution_of(plugin_id, known)
    hint = f"Run `pip install {name}`." if name else "Install the distribution that offers it."
    raise NotInstalledError("no installed distribution offers it", where=plugin_id, hint=hint)


def load_set(
    plugin: InstalledPlugin,
    package: VerifiedPackage | None = None,
    *,
    path: Sequence[Path] | None = None,
    known: Mapping[str, Approval] | None = None,
) -> tuple[VerifiedPackage, ...]:
    """Return all that a worker loads from verified bytes: the plugin first, then ours it needs.

    Ours are the distributions in the closure of its requirements that have a
    first-party approval, such as the predictor writer. Other dependencies are
    loaded from disk as they are; only their versions are recorded.

    Raises:
        EditableError, WrongVersionError, DigestDiffersError, IntegrityError:
            one of them is not what its approval says.
    """
    known = approvals() if known is None else known
    own = package or read_verified(plugin)
    folders = index([plugin.root, *(search_path() if path is None else path)])
    needed = sorted(closure(own.distribution, folders) & known.keys())
    return (own, *(_approved(folders[name], known[name]) for name in needed))


def _approved(info: Path, approval: Approval) -> VerifiedPackage:
    package = read_package(info)
    if (approval.version, approval.digest) != (package.version, package.digest):
        raise differs(package, approval.version, approval.digest, "approved")
    return package
