"""Do a piece of work in a child of its own, so that its libraries and scraps go with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from sciharness_symbolic_regression.searching.race import die_with

T = TypeVar("T")


def apart(write: Callable[[BinaryIO], None], read: Callable[[BinaryIO], T]) -> T | None:
    """Return what ``read`` makes of what ``write`` has written in a forked child.

    None where there is no fork or the child did not come to its end; what it raised
    is not told. ``read`` raises EOFError where it has not everything.
    """
    if not hasattr(os, "fork"):
        return None
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _in_child(write, writing, parent)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            return read(stream)
    except EOFError:
        return None
    finally:
        os.waitpid(pid, 0)


def _in_child(write: Callable[[BinaryIO], None], pipe: int, parent: int) -> None:
    """Write to the pipe and never return."""
    try:
        die_with(parent)
        os.dup2(2, 1)  # the parent's stdout belongs to the worker's protocol
        with os.fdopen(pipe, "wb") as stream:
            write(stream)
    finally:
        os._exit(0)
