"""Programs that the kernel starts, and the commands that they become."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from attrs import frozen

from sciharness.roles import Launch, Program
from sciharness.workers.failures import ActionFailed

Limit = TypeVar("Limit", int, float)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# They change what runs, not how.
_KEPT = ("PYTHON", "LD_", "DYLD_")


@frozen
class Command:
    """A program as it is started, and the CPU seconds that asking how has cost."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    wall_seconds: float | None
    memory_bytes: int | None
    cpu_seconds: float = 0.0


Starter = Callable[[Program], Command]


def as_it_is(program: Program) -> Command:
    """Return the command of a program unchanged."""
    return Command(program.argv, program.environment, program.wall_seconds, program.memory_bytes)


def wrapped(program: Program, launch: Launch) -> Command:
    """Return the command that an executor's answer makes of a program.

    Raises:
        ActionFailed: it would loosen a limit or change more than how the
            program is started.
    """
    for name in launch.environment:
        taken = name in program.environment
        if taken or name.startswith(_KEPT) or not _NAME.fullmatch(name):
            raise _refused(f"the variable {name!r} is not its to set")
    if any(not word or "\0" in word for word in launch.prefix):
        raise _refused("an empty word in front of the command")
    return Command(
        (*launch.prefix, *program.argv),
        {**program.environment, **launch.environment},
        _tightened("wall_seconds", program.wall_seconds, launch.wall_seconds),
        _tightened("memory_bytes", program.memory_bytes, launch.memory_bytes),
    )


def _tightened(name: str, limit: Limit | None, wanted: Limit | None) -> Limit | None:
    if wanted is None:
        return limit
    if not 0 < wanted <= (math.inf if limit is None else limit):
        raise _refused(f"{name} of {wanted:g}, where {limit} may only be tightened")
    return wanted


def _refused(message: str) -> ActionFailed:
    return ActionFailed(f"the executor asks for too much: {message}", reason="nonsense")
