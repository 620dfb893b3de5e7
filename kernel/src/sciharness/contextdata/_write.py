"""Files and directories that appear whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sciharness.contextdata._faults import MANIFEST
from sciharness.contextdata._json import Json
from sciharness.contextdata._survey import require_sound
from sciharness.errors import DataError


def replace_file(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of the file ``path`` in one step; its mode stays.

    Raises:
        DataError: the folder of the file cannot be written.
    """
    try:
        mode = path.stat().st_mode
        with new_file(path, replace=True) as file:
            file.write_bytes(content)
            file.chmod(mode & 0o7777)
    except OSError as error:
        reason = f"cannot be replaced: {error.strerror}"
        raise DataError(reason, where=str(path), hint="Is the folder writable?") from None


@contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a temporary file beside ``path`` and, when all went well, move it there.

    Raises:
        DataError: something is there already and not to be replaced.
    """
    if not replace:
        _refuse_existing(path)
    temporary = _beside(path)
    temporary.touch(exist_ok=False)
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``; a sound context.data in it is moved there.

    Raises:
        ContextManifestError: what was put into the folder breaks the rules.
        DataError: something is there already.
    """
    _refuse_existing(path)
    temporary = _beside(path)
    temporary.mkdir()
    try:
        yield temporary
        require_sound(temporary, path)
        for file in temporary.iterdir():
            _sync(file)
        os.rename(temporary, path)
        _sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_manifest(folder: Path, manifest: Mapping[str, Json]) -> None:
    """Write ``manifest`` into ``folder`` as readable JSON."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise DataError("is there already", where=str(path), hint="Name another or remove it.")


def _sync(path: Path) -> None:
    with suppress(OSError):  # some file systems sync no folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:80]}-{secrets.token_hex(8)}")
