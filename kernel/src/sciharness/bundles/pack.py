"""A folder as one archive: the same files give the same bytes, whenever and wherever."""

from __future__ import annotations

import os
import tarfile
import time
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from sciharness.bundles.limits import FolderLimits, RuleError
from sciharness.bundles.survey import Member, stamp_of, survey_opened
from sciharness.bundles.tree import opened_file, opened_folder
from sciharness.contract.inputs import folder_digest

CHUNK = 1 << 20
# The clock of file times may stand still for so long: a change within it leaves no trace.
_STILL_SECONDS = 0.02


@frozen
class Packed:
    """What was packed: the digest of the folder as inputs have it, bytes of content, files."""

    sha256: str
    size: int
    files: int


def pack_folder(folder: Path, sink: BinaryIO, limits: FolderLimits | None = None) -> Packed:
    """Write the regular files of ``folder`` as an uncompressed tar to ``sink``.

    Members stand in the order of the bytes of their paths, without owner or
    time; of the modes only the owner's executable bit is kept. Folders without
    files are left out. With ``limits`` the rules of a chosen folder hold.

    Raises:
        RuleError: the folder breaks a rule, or something in it changed while it
            was read.
    """
    lines = []
    with opened_folder(folder) as root:
        found = survey_opened(root, limits)
        _let_time_pass(found.members)
        for member in found.members:
            lines.append((member.path, _add(root, member, sink), member.size))
        if survey_opened(root, limits) != found:
            raise _changed("the folder")
    sink.write(b"\0" * (2 * tarfile.BLOCKSIZE))
    return Packed(folder_digest(lines), found.size, len(lines))


def member_header(path: str, size: int, *, executable: bool) -> bytes:
    """Return the header of a member, the only one that it may have."""
    info = tarfile.TarInfo(path)
    info.size = size
    info.mode = 0o755 if executable else 0o644
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def padding(size: int) -> bytes:
    """Return what follows the content of a member."""
    return b"\0" * (-size % tarfile.BLOCKSIZE)


def _add(root: int, member: Member, sink: BinaryIO) -> str:
    """Write one member and return the digest of its content."""
    with opened_file(root, member.path) as file:
        if stamp_of(os.fstat(file)) != member.stamp:
            raise _changed(member.path)
        sink.write(member_header(member.path, member.size, executable=member.executable))
        digest, size = sha256(), 0
        while chunk := os.read(file, CHUNK):
            size += len(chunk)
            if size > member.size:
                break
            digest.update(chunk)
            sink.write(chunk)
        if size != member.size or stamp_of(os.fstat(file)) != member.stamp:
            raise _changed(member.path)
    sink.write(padding(size))
    return digest.hexdigest()


def _let_time_pass(members: tuple[Member, ...]) -> None:
    """Wait until a change from now on gets another time than the last one before it."""
    newest = max((member.stamp[-1] for member in members), default=0) / 1e9
    wait = newest + _STILL_SECONDS - time.time()
    if 0 < wait <= _STILL_SECONDS:
        time.sleep(wait)


def _changed(what: str) -> RuleError:
    return RuleError(
        "changed", f"{what} changed while it was being read", "Wait until nothing writes to it."
    )
