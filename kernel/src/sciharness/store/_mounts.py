"""What kind of file system a path lies on."""

from __future__ import annotations

import os
from pathlib import Path

_NETWORK = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs",
        "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs",
    }
)  # fmt: skip


def filesystem_of(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """Return the file system type beneath ``path``, or an empty text where it is unknown."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    place, best, found = os.path.realpath(path), "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = _unescape(before.split(" ")[4])
        # A later line covers an earlier one on the same point.
        if len(point) >= len(best) and _lies_beneath(place, point):
            best, found = point, after.split(" ")[0]
    return found


def is_network_place(path: Path) -> bool:
    """Whether ``path`` lies on a file system that other machines may write as well."""
    return filesystem_of(path) in _NETWORK


def _lies_beneath(place: str, point: str) -> bool:
    return point == "/" or place == point or place.startswith(point + "/")


def _unescape(text: str) -> str:
    for code, mark in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, mark)
    return text
