"""The vault: sealed files under random names, such as final labels."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from sciharness.errors import DataError, IntegrityError
from sciharness.store._files import Blob, copy_hashed, hash_file, opened, sync_folder, write_all
from sciharness.store.errors import storing
from sciharness.store.home import Home, Transaction
from sciharness_catalog.canonical import canonical_json

_SEAL = "seal.json"


class Vault:
    """Sealed files of one home; nothing of it is ever exported."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def seal(self, files: Mapping[str, Path]) -> str:
        """Copy ``files`` under a new random key, durably, and return the key.

        Raises:
            DataError: a name is no plain file name, or a file cannot be read.
        """
        key = secrets.token_hex(16)
        staging = self._home.temporary / key
        with storing("vault"):
            staging.mkdir(mode=0o700)
            try:
                blobs = {name: _copy_in(path, staging, name) for name, path in files.items()}
                _write(staging / _SEAL, _statement(blobs))
                sync_folder(staging)
                os.rename(staging, self._home.vault / key)
            except BaseException:
                shutil.rmtree(staging, ignore_errors=True)
                raise
            sync_folder(self._home.vault)
        return key

    def path(self, key: str, name: str) -> Path:
        """Return a sealed file after comparing it with its seal.

        Raises:
            IntegrityError: it is missing or was changed.
        """
        folder = self._folder(key)
        try:
            sealed = (folder / _SEAL).read_bytes()
            found = {entry: hash_file(folder / entry) for entry in _names(folder)}
        except (OSError, DataError) as error:
            raise _broken("sealed files are missing") from error
        if sealed != _statement(found):
            raise _broken("sealed files were changed")
        if name not in found:
            raise _broken(f"there is no sealed file {name}")
        return folder / name

    def bind(self, run_id: str, slot: str, key: str, tx: Transaction | None = None) -> None:
        """Remember which key belongs to a run, so that no event has to hold it."""
        with self._home.writing(tx) as open_tx:
            open_tx.execute("INSERT OR REPLACE INTO vault VALUES (?, ?, ?)", (run_id, slot, key))

    def key_of(self, run_id: str, slot: str) -> str | None:
        """Return the key that was bound to ``slot`` of the run, or ``None``."""
        query = "SELECT key FROM vault WHERE run_id = ? AND slot = ?"
        row = self._home.connection().execute(query, (run_id, slot)).fetchone()
        return str(row[0]) if row else None

    def sealed_digests(self, run_id: str) -> frozenset[str]:
        """Return the digests of all files that are sealed for a run."""
        query = "SELECT key FROM vault WHERE run_id = ?"
        digests: set[str] = set()
        for (key,) in self._home.connection().execute(query, (run_id,)).fetchall():
            sealed = json.loads((self._folder(key) / _SEAL).read_bytes())
            digests.update(entry["sha256"] for entry in sealed.values())
        return frozenset(digests)

    def _folder(self, key: str) -> Path:
        if len(key) != 32 or set(key) - set("0123456789abcdef"):
            raise ValueError("a vault key is 32 lower-case hex digits")
        return self._home.vault / key


def _copy_in(path: Path, folder: Path, name: str) -> Blob:
    if name in {"", ".", "..", _SEAL} or any(mark in name for mark in "/\\\0"):
        raise DataError(f"a sealed file has a plain name, got {name!r}")
    try:
        with opened(path) as source:
            sink = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
            try:
                blob = copy_hashed(source, sink)
                os.fsync(sink)
            finally:
                os.close(sink)
    except FileNotFoundError as error:
        raise DataError("there is no such file to seal", where=path.name) from error
    return blob


def _write(path: Path, content: bytes) -> None:
    sink = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
    try:
        write_all(sink, content)
        os.fsync(sink)
    finally:
        os.close(sink)


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in os.scandir(folder) if entry.name != _SEAL)


def _statement(blobs: Mapping[str, Blob]) -> bytes:
    return canonical_json(
        {name: {"sha256": blob.sha256, "size": blob.size} for name, blob in blobs.items()}
    )


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(
        reason, where="vault", hint="Restore the home from a backup, or start a fresh run."
    )
