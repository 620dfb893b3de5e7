"""The running time of a run: charged once, also when the process is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from attrs import define, field

_LENGTH = len("2030-01-02T03:04:05.000000Z")


@define
class Meter:
    """Seconds of running that no event has charged yet."""

    clock: Callable[[], float] = time.monotonic
    since: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.since = self.clock()

    def running(self) -> float:
        """Return the seconds since the last charge."""
        return self.clock() - self.since

    def take(self) -> float:
        """Return the seconds since the last charge, which are charged by this."""
        now = self.clock()
        seconds, self.since = now - self.since, now
        return seconds


@define
class Beat:
    """A file that holds the last moment at which the run was seen at work.

    It is read after a kill, to charge the time of the attempt that was lost.
    It is not worth an error: without it the last event's time is taken.
    """

    path: Path

    def mark(self, moment: str) -> None:
        """Write ``moment``, a time as events have it, over the one before."""
        with suppress(OSError):
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # All at once and of one length: a kill leaves the old or the new time.
                os.pwrite(handle, moment.encode(), 0)
            finally:
                os.close(handle)

    def last(self) -> str:
        """Return the moment that was marked last, empty if there is none."""
        with suppress(OSError, UnicodeDecodeError):
            text = self.path.read_text("ascii")
            if len(text) == _LENGTH and seconds_between(text, text) == 0.0:
                return text
        return ""


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds from one time to another, never below zero; zero for no times.

    >>> seconds_between("2030-01-02T03:04:05.000000Z", "2030-01-02T03:05:05.500000Z")
    60.5
    """
    try:
        passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except ValueError:
        return 0.0
    return max(0.0, passed.total_seconds())
