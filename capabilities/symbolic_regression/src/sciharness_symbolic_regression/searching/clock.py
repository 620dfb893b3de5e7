"""How a time limit is shared between the steps of an operation."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import define, field

from sciharness.plugin import Context
from sciharness_symbolic_regression.searching.race import Stop


@define
class Clock:
    """The time since an operation began, its limit in seconds, and whether it is cancelled."""

    context: Context
    limit: float | None
    started: float = field(factory=time.monotonic)

    def until(self, part: float) -> Stop:
        """Return when a step has to end: at a part of the limit, or when cancelled."""
        deadline = None if self.limit is None else self.started + part * self.limit
        return Stop(deadline, lambda: self.context.cancelled)

    def late(self, part: float, least: float = 0.0) -> Callable[[], bool]:
        """Return what says whether a step has to end, ``least`` seconds from now at the earliest.

        What comes after a search makes its best so far into a result; without
        some time for that the search would have been for nothing.
        """
        stop, earliest = self.until(part), time.monotonic() + least
        return lambda: time.monotonic() >= earliest and stop.reason() is not None
