"""Installed generated plugins: where they lie, and their verified bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from sciharness.errors import HarnessError, IntegrityError, UsageError
from sciharness.store.home import Home
from sciharness_catalog import admission as catalog
from sciharness_catalog.attestation import Attestation
from sciharness_catalog.distributions import InstalledPlugin, find_plugins
from sciharness_catalog.errors import NotAdmittedError
from sciharness_catalog.verify import VerifiedPackage, read_verified

FOLDER = "generated"
BESIDE = "attestation.json"
TABLES = "sciharness-catalog-1"


def place_of(home: Home, plugin_id: str, version: str) -> Path:
    """Return the folder of an installed generated plugin."""
    return home.plugins / FOLDER / plugin_id / version


def installed_versions(home: Home) -> dict[str, list[Path]]:
    """Return the folders of installed generated plugins by ID, oldest version first."""
    from packaging.version import InvalidVersion, Version

    def rank(place: Path) -> tuple[int, Any]:  # Any: a version or its text
        try:
            return (1, Version(place.name))
        except InvalidVersion:
            return (0, place.name)

    root = home.plugins / FOLDER
    if not root.is_dir():
        return {}
    found = {
        entry.name: sorted((one for one in entry.iterdir() if one.is_dir()), key=rank)
        for entry in sorted(root.iterdir())
        if entry.is_dir()
    }
    return {name: places for name, places in found.items() if places}


def load(home: Home, plugin_id: str, version: str | None = None) -> VerifiedPackage:
    """Return the verified bytes of an installed generated plugin, the newest version by default.

    Raises:
        UsageError: it is not installed.
        IntegrityError: a byte differs from what was admitted, naming the file or digest.
    """
    places = installed_versions(home).get(plugin_id, [])
    fit = [place for place in places if version in (None, place.name)]
    if not fit:
        raise UsageError(
            "no such generated plugin is installed",
            where=plugin_id if version is None else f"{plugin_id} {version}",
            hint="Install it with `harness plugin install WHEEL`; see `harness plugin list`.",
        )
    home.ensure_tables(TABLES, catalog.create_tables)
    plugin, package = verified(fit[-1], plugin_id)
    said = catalog.admission(home.connection(), plugin, package)
    if said.error is not None:
        raise _refused(said.error)
    decision = catalog.standing_on(home.connection(), package)
    check_installed(fit[-1], plugin_id, decision.attestation if decision is not None else "")
    return package


def _refused(error: HarnessError) -> HarnessError:
    """Return why a package may not load, with what helps for one that was generated."""
    if isinstance(error, NotAdmittedError):
        hint = "`harness plugin install WHEEL --lift-revocation` admits it again."
    else:
        hint = "Remove it with `harness plugin remove ID`, then install its wheel again."
    return type(error)(error.message, where=error.where, hint=hint)


def verified(place: Path, plugin_id: str) -> tuple[InstalledPlugin, VerifiedPackage]:
    """Return the plugin of that ID in a folder and its verified bytes.

    Raises:
        IntegrityError: it is not there, or its files are not what they have to be.
    """
    for plugin in find_plugins([place]):
        if plugin.plugin_id == plugin_id:
            return plugin, read_verified(plugin)
    raise IntegrityError("is not what was installed", where=f"{plugin_id} {place.name}")


def check_installed(place: Path, plugin_id: str, attestation: str) -> None:
    """Compare every file below ``place`` with the statement whose SHA-256 was admitted.

    Raises:
        IntegrityError: naming the first file that was changed, added or removed.
    """
    said = _bytes(place / BESIDE, plugin_id)
    if hashlib.sha256(said).hexdigest() != attestation:
        raise IntegrityError(
            "is not the one it was installed with", where=_where(plugin_id, BESIDE)
        )
    stated = Attestation.parse(said, where=_where(plugin_id, BESIDE)).files
    found = _below(place)
    for name in sorted({*stated, *found} - {BESIDE}):
        if name not in found:
            raise IntegrityError("is missing", where=_where(plugin_id, name))
        if name not in stated:
            raise IntegrityError("was not installed", where=_where(plugin_id, name))
        if hashlib.sha256(_bytes(place / name, plugin_id)).hexdigest() != stated[name]:
            raise IntegrityError("was changed", where=_where(plugin_id, name))


def _below(place: Path) -> set[str]:
    return {
        Path(folder, name).relative_to(place).as_posix()
        for folder, _, names in os.walk(place)
        for name in names
    }


def _bytes(path: Path, plugin_id: str) -> bytes:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise IntegrityError("is no regular file", where=_where(plugin_id, path.name))
        return path.read_bytes()
    except OSError as fault:
        where = _where(plugin_id, path.name)
        raise IntegrityError(f"cannot be read: {fault.strerror}", where=where) from fault


def _where(plugin_id: str, name: str) -> str:
    return f"{plugin_id}: {name}"
