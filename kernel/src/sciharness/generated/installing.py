"""Installing generated plugins below the home, never into the user's environment."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.adapters import STATEMENTS
from sciharness.errors import IntegrityError, UsageError
from sciharness.failpoints import reach
from sciharness.generated.adapters import check_package, is_adapter
from sciharness.generated.installed import (
    BESIDE,
    TABLES,
    installed_versions,
    place_of,
    verified,
)
from sciharness.generated.packages import GeneratedPackage, card_of, read_generated
from sciharness.generated.predicting import smoke_prediction
from sciharness.reviewing import ask_reviewers
from sciharness.store._files import sync_folder
from sciharness.store.home import Home
from sciharness_catalog import admission as catalog
from sciharness_catalog.distributions import find_plugins
from sciharness_catalog.errors import NotAdmittedError


@frozen
class Installation:
    """What an installation did: the plugin, and whether it was there already."""

    plugin_id: str
    version: str
    digest: str
    attestation: str
    already: bool
    review: Mapping[str, Any]  # Any: JSON values
    statements: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the installation as ``--json`` prints it."""
        return {
            "plugin_id": self.plugin_id,
            "version": self.version,
            "digest": self.digest,
            "attestation": self.attestation,
            "already_installed": self.already,
            "origin": "generated",
            "review": dict(self.review),
            "statements": list(self.statements),
        }


def install(
    home: Home,
    wheel: Path,
    attestation: Path | None = None,
    *,
    dry_run: bool = False,
    lift_revocation: bool = False,
) -> Installation:
    """Install a published wheel after all checks, ending with one prediction.

    The same ID and version with the same attestation is a no-op. An ID that was
    revoked stays so unless ``lift_revocation`` says otherwise.

    Raises:
        DataError: a file is missing.
        IntegrityError: package, attestation or what is installed differ, or a
            reviewer refused; nothing was installed.
    """
    found = read_generated(wheel, attestation)
    said = found.statement
    adapter = is_adapter(found.wheel.files, found.package)
    if not adapter:
        card_of(found.predictor(), found.file_name)
    _check_free(found)
    home.ensure_tables(TABLES, catalog.create_tables)
    if not lift_revocation:
        _check_standing(home.connection(), said.plugin_id)
    reviews = ask_reviewers(home, found.wheel.files, _facts(found))
    reviews.check()
    if adapter:
        check_package(home, found)
    else:
        smoke_prediction(home, found.predictor())
    place = place_of(home, said.plugin_id, said.version)
    already = place.exists()
    if not dry_run:
        already = _put(home, found, place, lift_revocation=lift_revocation)
    return Installation(
        plugin_id=said.plugin_id,
        version=said.version,
        digest=found.wheel.digest,
        attestation=said.sha256,
        already=already,
        review=reviews.to_dict(),
        statements=STATEMENTS if adapter else (),
    )


def _facts(found: GeneratedPackage) -> dict[str, Any]:  # Any: JSON values
    said = found.statement
    return {
        "stage": "install",
        "id": said.plugin_id,
        "version": said.version,
        "origin": "generated",
        "implementation_digest": said.implementation_digest,
    }


def _put(home: Home, found: GeneratedPackage, place: Path, *, lift_revocation: bool) -> bool:
    """Admit the files and put them in place; return whether they were there already.

    The decision comes first: a process that ends in between leaves nothing that
    could be used or seen, and installing again goes on from there.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="install-", dir=home.temporary))
    try:
        _lay_out(found, staging / "site")
        package = verified(staging / "site", found.statement.plugin_id)[1]
        reach("install.staged")
        # One writer at a time decides; another attestation of what is installed is refused.
        with home.writing() as tx:
            is_there = place.exists()
            if is_there:
                _check_same(found, place)
            if not lift_revocation:
                _check_standing(tx.connection, found.statement.plugin_id)
            catalog.admit(
                tx.connection,
                package,
                origin="generated",
                attestation=found.statement.sha256,
                replaces=not is_there,
                at=home.now(),
            )
            tx.record_head("catalog", catalog.head(tx.connection).hash)
        reach("install.admitted")
        if _placed(staging / "site", place):
            return False
        _check_same(found, place)  # another process may have been quicker, with another package
        return True
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _placed(site: Path, place: Path) -> bool:
    """Rename the folder to its place; return whether this process did, not another one."""
    try:
        os.rename(site, place)
    except OSError:
        if not place.exists():
            raise
        return False
    sync_folder(place.parent)
    reach("install.placed")
    return True


def _lay_out(found: GeneratedPackage, site: Path) -> None:
    for name, data in found.wheel.members.items():
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    (site / BESIDE).write_bytes(found.beside)


def _check_free(found: GeneratedPackage) -> None:
    """Refuse an ID under which another distribution is installed in this Python."""
    said = found.statement
    others = {one.distribution for one in find_plugins() if one.plugin_id == said.plugin_id}
    others -= {found.wheel.metadata.name}
    if others:
        raise IntegrityError(
            f"the ID is taken by the distribution {', '.join(sorted(others))}",
            where=said.plugin_id,
            hint="Publish it under another ID.",
        )


def _check_standing(connection: sqlite3.Connection, plugin_id: str) -> None:
    """Refuse an ID that a person has revoked: installing is no word on that."""
    newest = catalog.newest_on(connection, plugin_id)
    if newest is not None and newest.action == "revoke":
        raise NotAdmittedError(
            f"was revoked{f' on {newest.at[:10]}' if newest.at else ''}",
            where=plugin_id,
            hint="If you want it back, add --lift-revocation.",
        )


def _check_same(found: GeneratedPackage, place: Path) -> None:
    installed = (place / BESIDE).read_bytes() if (place / BESIDE).is_file() else b""
    if installed != found.beside:
        raise IntegrityError(
            f"version {found.statement.version} is installed with another attestation",
            where=found.statement.plugin_id,
            hint="Publish it under a new version.",
        )


def remove(home: Home, plugin_id: str, version: str | None = None) -> list[str]:
    """Remove an installed generated plugin, all versions by default; return what was removed.

    Raises:
        UsageError: it is not installed.
    """
    places = installed_versions(home).get(plugin_id, [])
    fit = [place for place in places if version in (None, place.name)]
    if not fit:
        raise UsageError("no such generated plugin is installed", where=plugin_id)
    for place in fit:
        shutil.rmtree(place)
    return [place.name for place in fit]
