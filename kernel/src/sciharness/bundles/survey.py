"""A folder surveyed before anything is read: its files, their sizes, and every rule they break."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen

from sciharness.bundles.limits import FolderLimits, RuleError, check_path, check_twins
from sciharness.bundles.tree import beneath, opened_folder
from sciharness.errors import DataError


@frozen
class Member:
    """One regular file of a folder; ``stamp`` changes whenever the file does."""

    path: str
    size: int
    executable: bool
    stamp: tuple[int, ...] = field(eq=True, repr=False)


@frozen
class Survey:
    """The regular files of a folder in the order of the bytes of their paths."""

    members: tuple[Member, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(member.size for member in self.members)


def survey(folder: Path, limits: FolderLimits | None = None) -> Survey:
    """Return what a folder holds; with ``limits`` it has to keep the rules of a chosen folder.

    Raises:
        DataError: it cannot be read; a ``RuleError`` names the rule it breaks.
    """
    with opened_folder(folder) as root:
        return survey_opened(root, limits)


def survey_opened(root: int, limits: FolderLimits | None = None) -> Survey:
    """Return what an open folder holds; as :func:`survey`."""
    members: list[Member] = []
    size = 0
    try:
        for member in _walk(root, "", portable=limits is not None):
            members.append(member)
            size += member.size
            if limits is not None:
                _check(len(members), size, limits)
    except OSError as error:
        raise _unreadable(error) from error
    members.sort(key=lambda member: member.path.encode())
    if limits is not None:
        check_twins(member.path for member in members)
    return Survey(tuple(members))


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """Return numbers that change whenever a file, its mode or its place is changed."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _check(files: int, size: int, limits: FolderLimits) -> None:
    if files > limits.files:
        raise RuleError("files", f"it holds more than {limits.files} files")
    if size > limits.content_bytes:
        raise RuleError("bytes", f"it holds more than {limits.content_bytes} bytes")


def _unreadable(error: OSError) -> DataError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        return RuleError("changed", "the folder changed while it was being read")
    return DataError(f"a folder in it cannot be read: {error.strerror}")


def _walk(folder: int, prefix: str, *, portable: bool) -> Iterator[Member]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = prefix + entry.name
        check_path(path, portable=portable)
        status = entry.stat(follow_symlinks=False)
        mode = status.st_mode
        if stat.S_ISREG(mode):
            yield Member(path, status.st_size, bool(mode & stat.S_IXUSR), stamp_of(status))
        elif stat.S_ISDIR(mode):
            with beneath(folder, entry.name) as inner:
                yield from _walk(inner, f"{path}/", portable=portable)
        elif stat.S_ISLNK(mode):
            raise RuleError(
                "link",
                f"{path} is a link; folders hold regular files only",
                "Put the file itself in its place.",
            )
        else:
            raise RuleError("special file", f"{path} is no regular file", "Take it out.")
