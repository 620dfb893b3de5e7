"""What is heard of a running action: progress for the person, charges for the record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from sciharness.runtime.progress import progress_line
from sciharness.runtime.records import ActionRecord
from sciharness.runtime.redact import redact_all
from sciharness.runtime.session import Session
from sciharness.runtime.stopping import SUNK

_SECONDS = 1.0
_SHARE = 0.01  # of the time so far: a search of a day must not fill the record


@define
class Hearing:
    """Records what an action tells, once a second at the most, and less often the longer it takes.

    Charges that are spent for good even if the action is killed and runs again
    go into the record while it runs.
    """

    session: Session
    record: ActionRecord
    started: float = field(factory=time.monotonic)
    sunk: dict[str, float] = field(factory=dict)
    _progressed: float = 0.0
    _charged: float = 0.0

    def __call__(self, message: Mapping[str, Any]) -> None:  # Any: JSON values
        """Take one checked message of the worker."""
        now = time.monotonic()
        pause = max(_SECONDS, (now - self.started) * _SHARE)
        if "progress" in message and now - self._progressed >= pause:
            self._progressed = now
            self._progress(message["progress"], now - self.started)
        elif "charge" in message:
            self._charge(message["charge"], now)

    def _progress(self, progress: Mapping[str, Any], elapsed: float) -> None:
        self.session.tell(f"    {progress_line(progress, elapsed)}")
        body = {"index": self.record.index, **redact_all(progress)}
        self.session.record(("ActionProgress", body))

    def _charge(self, charge: Mapping[str, float], now: float) -> None:
        for key in SUNK.intersection(charge):
            self.sunk[key] = self.sunk.get(key, 0.0) + charge[key]
        if self.sunk and now - self._charged >= _SECONDS:
            self._charged = now
            body = {"index": self.record.index, "charged": dict(self.sunk)}
            self.session.record(("ActionCharged", body))
