"""An installed package against the statement it was installed with, file by file."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from sciharness.errors import IntegrityError
from sciharness_catalog.attestation import Attestation

BESIDE = "attestation.json"


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
