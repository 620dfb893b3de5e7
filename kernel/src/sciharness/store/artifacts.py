"""Artifacts: immutable bytes in the home, named by their SHA-256."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import NamedTuple

from sciharness.errors import DataError, IntegrityError
from sciharness.failpoints import reach
from sciharness.store._files import (
    Blob,
    copy_hashed,
    fresh_file,
    hash_file,
    opened,
    set_aside,
    sync_folder,
    write_all,
)
from sciharness.store._transactions import locked
from sciharness.store.errors import storing
from sciharness.store.home import Home
from sciharness_catalog.canonical import canonical_json

__all__ = ["ArtifactStore", "Blob", "artifact_id"]

# What file systems without hard links answer.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})


def artifact_id(type: str, name: str, sha256: str, action_index: int) -> str:
    """Return the ID of an artifact: the same wherever, whenever and in whichever run it is made.

    ``action_index`` is the index of the producing action, -1 for an input.
    """
    texts = {"name": name, "sha256": sha256, "type": type}
    value: dict[str, str | int] = {**texts, "action": action_index}
    return sha256_of(b"artifact-v1\n" + canonical_json(value)).hexdigest()


class ArtifactStore:
    """The objects of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def ingest(self, path: Path, *, limit: int | None = None, follow: bool = False) -> Blob:
        """Copy a regular file into the store in one pass; it is durable when this returns.

        Links are refused unless ``follow``. The digest is that of the bytes stored.

        Raises:
            DataError: there is no such regular file, it is larger than
                ``limit`` bytes, or it changed while it was read.
            StorageError: the disk failed; the store is unchanged.
        """
        try:
            with opened(path, follow=follow) as source:
                return self._store(source, limit)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"cannot be read: {reason}", where=path.name) from error
        except DataError as error:
            raise DataError(error.message, where=path.name) from error

    def ingest_bytes(self, content: bytes) -> Blob:
        """Store ``content``; it is durable when this returns."""
        blob = Blob(sha256_of(content).hexdigest(), len(content))
        with storing("objects"), fresh_file(self._home.temporary, 0o400) as (sink, fresh):
            write_all(sink, content)
            self._keep(sink, fresh, blob)
        return blob

    def path(self, sha256: str, *, verified: bool = False) -> Path:
        """Return the object's file; with ``verified`` after hashing it anew.

        Raises:
            IntegrityError: it is missing or, if looked at, not what its name says.
        """
        place = self._place(sha256)
        if not place.is_file() or place.is_symlink():
            raise _damaged(sha256, "is missing")
        if verified and not self._holds(place, sha256):
            raise _damaged(sha256, "does not have this digest any more")
        return place

    def __contains__(self, sha256: str) -> bool:
        return self._place(sha256).is_file()

    def _store(self, source: int, limit: int | None) -> Blob:
        before = _state(source)
        with storing("objects"), fresh_file(self._home.temporary, 0o400) as (sink, fresh):
            if limit is None or before.size <= limit:
                set_aside(sink, before.size)
            blob = copy_hashed(source, sink, limit)
            if _state(source) != before:
                raise DataError("changed while it was read")
            self._keep(sink, fresh, blob)
        return blob

    def _keep(self, sink: int, fresh: Path, blob: Blob) -> None:
        """Make a written file durable under its digest; an intact twin stays, others give way."""
        os.fsync(sink)
        os.fchmod(sink, 0o444)
        reach("object.written")
        place = self._place(blob.sha256)
        with suppress(FileExistsError):
            place.parent.mkdir(mode=0o700)
            sync_folder(self._home.objects)
        try:
            os.link(fresh, place)
        except FileExistsError:
            if self._renewed(place, blob.sha256):
                return
            os.replace(fresh, place)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.replace(fresh, place)
        sync_folder(place.parent)
        reach("object.linked")

    def _renewed(self, place: Path, sha256: str) -> bool:
        """Return whether the twin in the store is whole; from now on it counts as just written.

        Under the lock of the collection: what nothing named until now is
        either gone before this, or stays until an event names it.
        """
        with locked(self._home.objects), suppress(FileNotFoundError):
            if self._holds(place, sha256):
                os.utime(place)
                return True
        return False

    def _place(self, sha256: str) -> Path:
        if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
            raise ValueError(f"a SHA-256 is 64 lower-case hex digits, got {sha256!r}")
        return self._home.objects / sha256[:2] / sha256

    def _holds(self, place: Path, sha256: str) -> bool:
        try:
            return hash_file(place).sha256 == sha256
        except (OSError, DataError):
            return False


class _State(NamedTuple):
    size: int
    written: int
    changed: int


def _state(handle: int) -> _State:
    found = os.fstat(handle)
    return _State(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _damaged(sha256: str, reason: str) -> IntegrityError:
    return IntegrityError(
        reason,
        where=f"object {sha256[:12]}",
        hint="Give the same file again: storing it anew repairs the object.",
    )
