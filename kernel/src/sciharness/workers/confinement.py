"""Confinement: what a worker or child may still reach, applied as its first statement."""

from __future__ import annotations

import os

from sciharness.workers import landlock, seccomp
from sciharness.workers.allowed import base_rules

FULL, FILES_ONLY, NONE = "landlock+seccomp", "landlock", "none"


class ConfinementError(Exception):
    """A process could not be confined as this machine promised."""


def probe() -> str:
    """Return what this machine can do: ``landlock+seccomp``, ``landlock`` or ``none``.

    ``landlock`` leaves sockets open. Nothing is applied to the caller.
    """
    if landlock.abi() < 1:
        return NONE
    return FULL if seccomp.available() else FILES_ONLY


def confine(
    *,
    read: tuple[str, ...] = (),
    write: tuple[str, ...] = (),
    execute: tuple[str, ...] = (),
    sockets: bool = False,
    hidden: tuple[str, ...] = (),
) -> str:
    """Confine this process and all it will start, for good; return the level reached.

    To the allow-list of the interpreter come ``read`` (files or folders),
    ``write`` (folders, readable too) and ``execute`` (readable too).
    ``hidden`` files and folders are then tried: one that still opens lies
    beneath, or above, something granted.

    Raises:
        ConfinementError: threads run already, the kernel refused what
            :func:`probe` promised, or a hidden folder is still readable.
    """
    level = probe()
    if level == NONE:
        return NONE
    _check_single_threaded()
    rules = base_rules(read, hidden)
    rules += [(path, landlock.RUN) for path in execute]
    rules += [(path, landlock.CHANGE) for path in write]
    try:
        landlock.restrict(rules, sockets=sockets)
        if level == FULL:
            seccomp.restrict(sockets=sockets)
    except OSError as error:
        raise ConfinementError(f"cannot confine: {error}") from error
    for path in hidden:
        _check_hidden(path)
    return level


def _check_single_threaded() -> None:
    # Landlock binds the calling thread only; one started before would stay free.
    try:
        alone = len(os.listdir("/proc/self/task")) == 1
    except PermissionError:  # a child of a confined process: its own entry is hidden from it
        alone = landlock.is_single_threaded()
    if not alone:
        raise ConfinementError("cannot confine: other threads run already")


def _check_hidden(path: str) -> None:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return
    raise ConfinementError(f"{path} can be read: it lies beneath a granted folder")
