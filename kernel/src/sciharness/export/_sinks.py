"""Where an export is written to: a new folder or a new ZIP, complete or not there."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from sciharness.errors import DeliveryError, UsageError
from sciharness.export import _zip
from sciharness.export.manifest import MANIFEST, MAX_MANIFEST, Manifest
from sciharness.store._files import Blob, sync_folder, write_all

Chunks = Iterable[bytes | memoryview]


class Sink(Protocol):
    """Takes the files of an export."""

    def add(self, path: str, chunks: Chunks) -> Blob:
        """Write one file and return what was written."""


@contextmanager
def open_sink(out: Path, run_id: str, *, zipped: bool, replace: bool) -> Iterator[Sink]:
    """Give a sink whose files appear at ``out`` when the block ends, or not at all.

    Raises:
        UsageError: ``out`` exists and is not an export of this run that may be replaced.
    """
    if os.path.lexists(out) and not (replace and _is_export_of(out, run_id)):
        raise UsageError("exists", where=out.name, hint="Choose another place with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    try:
        with _zip_sink(staging, run_id) if zipped else _folder_sink(staging) as sink:
            yield sink
        _move(staging, out)
        sync_folder(out.parent)
    finally:
        _remove(staging)


class _FolderSink:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = {root}

    def add(self, path: str, chunks: Chunks) -> Blob:
        place = self._root / path
        for folder in reversed(place.relative_to(self._root).parents):
            (self._root / folder).mkdir(exist_ok=True)
            self._folders.add(self._root / folder)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            digest, size = sha256(), 0
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                write_all(handle, chunk)
            os.fsync(handle)
        finally:
            os.close(handle)
        return Blob(digest.hexdigest(), size)

    def sync(self) -> None:
        for folder in sorted(self._folders, reverse=True):
            sync_folder(folder)


class _ZipSink:
    def __init__(self, writer: _zip.ZipWriter, top: str) -> None:
        self._writer = writer
        self._top = top

    def add(self, path: str, chunks: Chunks) -> Blob:
        digest, size = sha256(), 0

        def counted() -> Iterator[bytes | memoryview]:
            nonlocal size
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                yield chunk

        self._writer.add(f"{self._top}/{path}", counted())
        return Blob(digest.hexdigest(), size)


@contextmanager
def _folder_sink(staging: Path) -> Iterator[Sink]:
    staging.mkdir()
    sink = _FolderSink(staging)
    yield sink
    sink.sync()


@contextmanager
def _zip_sink(staging: Path, run_id: str) -> Iterator[Sink]:
    with staging.open("xb") as file:
        writer = _zip.ZipWriter(file)
        try:
            yield _ZipSink(writer, f"sciharness-{run_id}")
            writer.finish()
        except _zip.ZipError as error:
            raise DeliveryError(
                f"the export {error}", hint="Export into a folder instead of a ZIP."
            ) from error
        file.flush()
        os.fsync(file.fileno())


def _is_export_of(out: Path, run_id: str) -> bool:
    if out.is_symlink():
        return False
    try:
        if out.is_dir():
            with (out / MANIFEST).open("rb") as file:
                return Manifest.from_bytes(file.read(MAX_MANIFEST)).run_id == run_id
        with out.open("rb") as file:
            members = _zip.read_members(file)
        return bool(members) and members[0].name.startswith(f"sciharness-{run_id}/")
    except (OSError, ValueError):
        return False


def _move(staging: Path, out: Path) -> None:
    if not out.is_dir():
        os.replace(staging, out)
        return
    # A folder in the way is put aside first: the rename of a folder replaces none.
    aside = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    os.rename(out, aside)
    os.rename(staging, out)
    shutil.rmtree(aside)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
