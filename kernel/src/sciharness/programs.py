"""Programs for plugins: start one with limits and confinement, and be sure of its end.

A capability that starts programs says ``programs=True`` in its record; its
workers may then execute files of their own workspace, and nothing else beyond
the interpreter and the system's programs. What a child of a worker is granted
here can only be less than what the worker itself may do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import evolve

from sciharness.plugin import Context
from sciharness.workers.child import (
    ChildResult,
    Failure,
    Grants,
    Limits,
    child_environment,
    run_child,
)
from sciharness.workers.confinement import probe
from sciharness.workers.failures import ActionFailed

__all__ = [
    "ActionFailed",
    "ChildResult",
    "Failure",
    "Grants",
    "Limits",
    "child_environment",
    "isolation",
    "run_child",
    "run_program",
]

Limit = TypeVar("Limit", int, float)


def isolation() -> str:
    """Return what confines programs here: ``landlock+seccomp``, ``landlock`` or ``none``.

    ``landlock`` leaves sockets open; ``none`` leaves a program everything that
    the user may do.
    """
    return probe()


def run_program(
    context: Context,
    argv: Sequence[str],
    *,
    cwd: Path,
    grants: Grants,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
) -> ChildResult:
    """Run a program for an operation, as the run's executor wants it and until it is cancelled.

    ``env`` is the whole environment, by default :func:`child_environment`.

    Raises:
        FileNotFoundError: there is no such program.
    """
    limits = limits or Limits()
    environment = child_environment(cwd, context.workers) if env is None else dict(env)
    words = [str(word) for word in argv]
    if context.launch is not None:
        words = [*context.launch.prefix, *words]
        environment |= context.launch.environment
        limits = evolve(
            limits,
            wall_seconds=_tighter(limits.wall_seconds, context.launch.wall_seconds),
            memory_bytes=_tighter(limits.memory_bytes, context.launch.memory_bytes),
        )
    return run_child(
        words,
        cwd=cwd,
        env=environment,
        limits=limits,
        grants=grants,
        cancelled=lambda: context.cancelled,
    )


def _tighter(limit: Limit | None, wanted: Limit | None) -> Limit | None:
    known = [one for one in (limit, wanted) if one is not None]
    return min(known) if known else None
