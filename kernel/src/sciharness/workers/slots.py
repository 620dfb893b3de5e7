"""Slots: the folders of one worker, and how inputs get in and artifacts get out.

A confined worker cannot be granted anything later, so it gets two folders for
its life: ``inputs``, read only, where the kernel puts a hard link of each
input for the time of an action (a copy across file systems), and ``work``, its
own. Since a worker can put links anywhere in ``work``, the kernel follows none
there; and it moves artifacts out before it looks at them, so that nothing is
swapped between the check and the use.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import define, evolve, frozen

from sciharness.plugin import Input
from sciharness.workers.failures import ActionFailed

_CHECKPOINTS = "checkpoints"


@frozen
class ActionFolders:
    """Where one action works, and where its inputs lie."""

    work: Path
    inputs: Path


@define
class Slot:
    """The folders of one worker."""

    folder: Path
    actions: int = 0

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

    def begin(self, workspace: Path) -> ActionFolders:
        """Return fresh folders for one action, named after the action's workspace."""
        self.actions += 1
        name = f"{self.actions}-{_tie(workspace)}"
        folders = ActionFolders(self.work / name, self.inputs / name)
        folders.work.mkdir()
        return folders

    def end(self, folders: ActionFolders) -> None:
        """Remove what one action saw and left."""
        for folder in (folders.work, folders.inputs):
            shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Remove the slot with everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def place(inputs: Mapping[str, Input], folder: Path) -> dict[str, Input]:
    """Return the inputs as the worker reads them, each linked or copied below ``folder``.

    Raises:
        ActionFailed: reason ``request``: a folder input holds a link or a special file.
    """
    placed: dict[str, Input] = {}
    for name, given in inputs.items():
        target = folder / str(len(placed))
        target.mkdir(parents=True)
        target /= os.path.basename(str(given.meta.get("filename", given.path.name)))
        _link_tree(given.path, target, given.name)
        placed[name] = evolve(given, path=target)
    return placed


def take_outputs(work: Path, workspace: Path) -> Path:
    """Move what an action wrote out of the worker's reach and return its new place.

    Raises:
        ActionFailed: reason ``bad_artifact``: there is no such folder, or it is a link.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    target = workspace / "outputs"
    _clear(target)
    try:
        _move_out(work, "outputs", target)
    except FileNotFoundError:
        target.mkdir()
    except OSError as error:
        raise ActionFailed(f"artifacts cannot be taken: {error}", reason="bad_artifact") from error
    if not stat.S_ISDIR(os.lstat(target).st_mode):
        target.unlink()
        raise ActionFailed("the folder of artifacts is no folder", reason="bad_artifact")
    target.chmod(0o755)
    return target


def keep_checkpoint(root: Path, work: Path) -> None:
    """Keep the checkpoint of an unfinished action for its next attempt, if it left one.

    It lies below ``root``, out of the workers' reach, also after a kill -9 of
    the kernel (see :func:`recover`).
    """
    target = root / _CHECKPOINTS / work.name.rpartition("-")[2]
    with contextlib.suppress(OSError):  # none, or made unreadable: then it is lost
        target.parent.mkdir(parents=True, exist_ok=True)
        _move_out(work, "checkpoint", target.with_suffix(".new"))
        _clear(target)
        target.with_suffix(".new").rename(target)


def restore_checkpoint(root: Path, workspace: Path, work: Path) -> Path | None:
    """Move an earlier attempt's checkpoint into the action's folder and return where it is."""
    source = root / _CHECKPOINTS / _tie(workspace)
    if source.is_symlink() or not source.is_dir():
        return None
    with _held(work) as held:
        os.rename(source, _below(work, "restored", held), dst_dir_fd=held)
    return work / "restored"


def recover(root: Path) -> None:
    """Keep what the workers of a killed kernel left as checkpoints; remove their slots."""
    for slot in sorted(root.glob("worker-*")):
        if (slot / "work").is_dir():
            left = [entry for entry in os.scandir(slot / "work") if "-" in entry.name]
            for entry in sorted(left, key=lambda entry: int(entry.name.partition("-")[0] or 0)):
                keep_checkpoint(root, Path(entry.path))
        shutil.rmtree(slot, ignore_errors=True)


def _tie(workspace: Path) -> str:
    return hashlib.sha256(str(workspace).encode()).hexdigest()[:16]


@contextlib.contextmanager
def _held(work: Path) -> Iterator[int | None]:
    """Give a descriptor of an action's folder, which may have been swapped for a link."""
    if os.rename not in os.supports_dir_fd:
        yield None  # Windows; nothing is confined there
        return
    held = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield held
    finally:
        os.close(held)


def _below(work: Path, name: str, held: int | None) -> Path:
    return work / name if held is None else Path(name)


def _move_out(work: Path, name: str, target: Path) -> None:
    with _held(work) as held:
        os.rename(_below(work, name, held), target, src_dir_fd=held)


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


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
