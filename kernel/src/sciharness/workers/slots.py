"""Slots: the folders of one worker, and how inputs get in and artifacts get out.

A confined worker cannot be granted anything later, so it gets two folders for
its life: ``inputs``, read only, where the kernel puts a hard link of each
input before an action (a copy across file systems), and ``work``, its own.
Artifacts are moved out before they are looked at, so that nothing can be
swapped between the check and the use.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attrs import define, evolve, field

from sciharness.plugin import Input
from sciharness.workers.failures import ActionFailed

_CHECKPOINTS = "checkpoints"


@define
class Slot:
    """The folders of one worker and what has been put into them."""

    folder: Path
    actions: int = 0
    _placed: dict[tuple[str, int, int, int], Path] = field(factory=dict)

    @classmethod
    def made(cls, root: Path) -> Slot:
        """Return a new slot below ``root``."""
        root.mkdir(parents=True, exist_ok=True)
        slot = cls(Path(tempfile.mkdtemp(prefix="worker-", dir=root)))
        slot.work.mkdir()
        slot.inputs.mkdir()
        return slot

    @property
    def work(self) -> Path:
        """The folder the worker may write."""
        return self.folder / "work"

    @property
    def inputs(self) -> Path:
        """The folder the worker may read."""
        return self.folder / "inputs"

    def begin(self, workspace: Path) -> Path:
        """Return a fresh folder for one action; its name ties it to the action's workspace."""
        self.actions += 1
        folder = self.work / f"{self.actions}-{_tie(workspace)}"
        folder.mkdir()
        return folder

    def placed(self, inputs: Mapping[str, Input]) -> dict[str, Input]:
        """Return the inputs as the worker reads them, each linked or copied into the slot.

        Raises:
            ActionFailed: reason ``request``: a folder input holds a link or a special file.
        """
        return {name: evolve(one, path=self._place(one)) for name, one in inputs.items()}

    def _place(self, given: Input) -> Path:
        found = os.stat(given.path)
        key = (str(given.path), found.st_ino, found.st_size, found.st_mtime_ns)
        if key not in self._placed or stat.S_ISDIR(found.st_mode):
            target = self.inputs / str(len(self._placed))
            target.mkdir()
            name = os.path.basename(str(given.meta.get("filename", given.path.name)))
            _link_tree(given.path, target / name, given.name)
            self._placed[(*key[:3], key[3])] = target / name
        return self._placed[key]

    def remove(self) -> None:
        """Remove the slot with everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def take_outputs(folder: Path, workspace: Path) -> Path:
    """Move what an action wrote out of the worker's reach and return its new place.

    Raises:
        ActionFailed: reason ``bad_artifact``: the folder is a link, or cannot be moved.
    """
    target = workspace / "outputs"
    _clear(target)
    try:
        _move(folder / "outputs", target)
    except OSError as error:
        raise ActionFailed(f"artifacts cannot be taken: {error}", reason="bad_artifact") from error
    if not stat.S_ISDIR(os.lstat(target).st_mode):
        target.unlink()
        raise ActionFailed("the folder of artifacts is no folder", reason="bad_artifact")
    target.chmod(0o755)
    return target


def keep_checkpoint(root: Path, folder: Path) -> None:
    """Keep the checkpoint of an unfinished action for its next attempt, if it left one.

    It lies below ``root``, out of the workers' reach, also after a kill -9 of
    the kernel (see :func:`recover`).
    """
    source = folder / "checkpoint"
    with contextlib.suppress(OSError):  # it may have been made unreadable: then it is lost
        _keep(source, root / _CHECKPOINTS / folder.name.rpartition("-")[2])


def _keep(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear(target)
        _move(source, target)


def restore_checkpoint(root: Path, workspace: Path, folder: Path) -> Path | None:
    """Move an earlier attempt's checkpoint into the action's folder and return where it is."""
    source = root / _CHECKPOINTS / _tie(workspace)
    if not source.is_dir():
        return None
    _move(source, folder / "restored")
    return folder / "restored"


def recover(root: Path) -> None:
    """Keep what the workers of a killed kernel left as checkpoints; remove their slots."""
    for slot in sorted(root.glob("worker-*")):
        for folder in sorted((slot / "work").glob("*-*"), key=lambda one: one.stat().st_mtime_ns):
            keep_checkpoint(root, folder)
        shutil.rmtree(slot, ignore_errors=True)


def _tie(workspace: Path) -> str:
    return hashlib.sha256(str(workspace).encode()).hexdigest()[:16]


def _link_tree(source: Path, target: Path, name: str) -> None:
    mode = os.stat(source).st_mode
    if stat.S_ISREG(mode):
        _link_file(source, target)
        return
    if not stat.S_ISDIR(mode):
        raise ActionFailed(f"input {name}: {source.name} is a special file", reason="request")
    target.mkdir()
    for entry in os.scandir(source):
        if entry.is_symlink():
            raise ActionFailed(f"input {name}: {entry.name} is a link", reason="request")
        _link_tree(Path(entry.path), target / entry.name, name)


def _link_file(source: Path, target: Path) -> None:
    try:
        os.link(os.path.realpath(source), target)
    except OSError:  # another file system, too many links, or not our file
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def _move(source: Path, target: Path) -> None:
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copytree(source, target, symlinks=True)


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
