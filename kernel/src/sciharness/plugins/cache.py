"""Descriptors kept in the home under the implementation digest."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from sciharness import __version__
from sciharness.descriptors import Descriptor
from sciharness.errors import PluginError
from sciharness.hooks import HOOK_API
from sciharness.workers.descriptor import descriptor_from_plain, descriptor_to_plain
from sciharness_catalog.distributions import search_path
from sciharness_catalog.verify import VerifiedPackage


def load(folder: Path, package: VerifiedPackage) -> Descriptor | None:
    """Return the kept descriptor of exactly these bytes, ``None`` if there is none to trust.

    One written by another version of the kernel, a damaged one and one that
    was put under a wrong name count as none.
    """
    try:
        kept = json.loads(_place(folder, package).read_bytes())
        if kept["written_by"] != _writer():
            return None
        descriptor = descriptor_from_plain(kept["descriptor"])
    except (OSError, ValueError, KeyError, TypeError, PluginError):
        return None
    said = (descriptor.plugin_id, descriptor.version, descriptor.digest)
    return descriptor if said == (package.plugin_id, package.version, package.digest) else None


def offered(folder: Path, plugin_id: str, digest: str, kind: str) -> tuple[str, ...]:
    """Return the names of one kind that a plugin offered when it was described.

    Unlike :func:`load` it takes what any version of the kernel has written:
    the answer only says what has to be asked for.
    """
    try:
        kept = json.loads((folder / f"{digest}-{plugin_id}.json").read_bytes())
        found = kept["descriptor"]["operations"]
        return tuple(f"{plugin_id}.{one['operation']}" for one in found if one["kind"] == kind)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def save(folder: Path, package: VerifiedPackage, descriptor: Descriptor) -> None:
    """Keep a descriptor; the file is there whole or not at all."""
    kept = {"written_by": _writer(), "descriptor": descriptor_to_plain(descriptor)}
    _write(_place(folder, package), kept)
    _fault_place(folder, package).unlink(missing_ok=True)


def load_fault(folder: Path, package: VerifiedPackage) -> str:
    """Return why exactly these bytes did not load when last tried; empty if that may be over.

    It may be as soon as something was installed or removed.
    """
    try:
        kept = json.loads(_fault_place(folder, package).read_bytes())
        known = (kept["written_by"], kept["surroundings"]) == (_writer(), _surroundings())
        return str(kept["reason"]) if known else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def save_fault(folder: Path, package: VerifiedPackage, reason: str) -> None:
    """Keep why a plugin did not load, so that a list does not start it each time."""
    kept = {"written_by": _writer(), "surroundings": _surroundings(), "reason": reason}
    _write(_fault_place(folder, package), kept)


def _write(place: Path, kept: dict[str, Any]) -> None:  # Any: JSON values
    folder = place.parent
    folder.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(kept, file, allow_nan=False)
    os.replace(fresh, place)


def _fault_place(folder: Path, package: VerifiedPackage) -> Path:
    return folder / f"{package.digest}-{package.plugin_id}.fault"


def _surroundings() -> list[list[str | int]]:
    """Return the folders that packages lie in, and when something was put there or taken."""
    found: list[list[str | int]] = []
    for folder in search_path():
        with suppress(OSError):
            found.append([str(folder), folder.stat().st_mtime_ns])
    return found


def _place(folder: Path, package: VerifiedPackage) -> Path:
    return folder / f"{package.digest}-{package.plugin_id}.json"


def _writer() -> list[str | int]:
    return [__version__, HOOK_API]
