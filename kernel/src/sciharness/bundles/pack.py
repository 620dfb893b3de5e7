"""A folder as one archive: the same files give the same bytes, whenever and wherever."""

from __future__ import annotations

import os
import stat
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from sciharness.bundles.tree import files_beneath, opened_file, opened_folder
from sciharness.contract.inputs import folder_digest
from sciharness.errors import DataError

CHUNK = 1 << 20


@frozen
class Packed:
    """What was packed: the digest of the folder as inputs have it, bytes of content, files."""

    sha256: str
    size: int
    files: int


def pack_folder(folder: Path, sink: BinaryIO) -> Packed:
    """Write the regular files of ``folder`` as an uncompressed tar to ``sink``.

    Members stand in the order of the bytes of their paths, without owner or
    time; of the modes only the owner's executable bit is kept. Folders without
    files are left out.

    Raises:
        DataError: the folder holds a link or a special file, or a file changed
            while it was read.
    """
    lines = []
    with opened_folder(folder) as root:
        for path in sorted(files_beneath(root), key=str.encode):
            lines.append((path, *_add(root, path, sink)))
    sink.write(b"\0" * (2 * tarfile.BLOCKSIZE))
    return Packed(folder_digest(lines), sum(size for _, _, size in lines), len(lines))


def member_header(path: str, size: int, *, executable: bool) -> bytes:
    """Return the header of a member, the only one that it may have."""
    info = tarfile.TarInfo(path)
    info.size = size
    info.mode = 0o755 if executable else 0o644
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def padding(size: int) -> bytes:
    """Return what follows the content of a member."""
    return b"\0" * (-size % tarfile.BLOCKSIZE)


def _add(root: int, path: str, sink: BinaryIO) -> tuple[str, int]:
    """Write one member and return digest and size of its content."""
    with opened_file(root, path) as file:
        before = os.fstat(file)
        executable = bool(before.st_mode & stat.S_IXUSR)
        sink.write(member_header(path, before.st_size, executable=executable))
        digest, size = sha256(), 0
        while chunk := os.read(file, CHUNK):
            size += len(chunk)
            if size > before.st_size:
                break
            digest.update(chunk)
            sink.write(chunk)
        after = os.fstat(file)
    if size != before.st_size or after.st_mtime_ns != before.st_mtime_ns:
        raise DataError(
            f"{path} changed while it was being read", hint="Wait until nothing writes to it."
        )
    sink.write(padding(size))
    return digest.hexdigest(), size
