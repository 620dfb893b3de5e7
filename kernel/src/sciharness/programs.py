"""Programs for plugins: start one with limits and confinement, and be sure of its end.

A capability that starts programs says ``programs=True`` in its record; its
workers may then execute files of their own workspace, and nothing else beyond
the interpreter and the system's programs. What a child of a worker is granted
here can only be less than what the worker itself may do.
"""

from __future__ import annotations

from sciharness.workers.child import (
    ChildResult,
    Failure,
    Grants,
    Limits,
    child_environment,
    run_child,
)
from sciharness.workers.confinement import probe

__all__ = [
    "ChildResult",
    "Failure",
    "Grants",
    "Limits",
    "child_environment",
    "isolation",
    "run_child",
]


def isolation() -> str:
    """Return what confines programs here: ``landlock+seccomp``, ``landlock`` or ``none``.

    ``landlock`` leaves sockets open; ``none`` leaves a program everything that
    the user may do.
    """
    return probe()
