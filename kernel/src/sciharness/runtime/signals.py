"""Ctrl-C: the first stops at the next safe point, the second at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define


@define
class Stop:
    """How far the person wants to stop: ``asked`` at a safe point, ``now`` at once."""

    asked: bool = False
    now: bool = False


@contextmanager
def stop_on_interrupt(tell: Callable[[str], None]) -> Iterator[Stop]:
    """Give a :class:`Stop` that SIGINT and SIGTERM set; handlers are put back afterwards.

    Outside the main thread no handler can be set and the stop stays unset.
    """
    stop = Stop()

    def hear(number: int, frame: FrameType | None) -> None:
        if stop.asked:
            stop.now = True
            return
        stop.asked = True
        if number == signal.SIGTERM:
            stop.now = True
        else:
            tell("stopping at the next safe point; press Ctrl-C again to stop at once")

    try:
        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        yield stop
        return
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
