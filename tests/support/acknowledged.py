"""What a command has acknowledged, compared with what the record holds."""

from __future__ import annotations

import re

from sciharness.store.events import EventLog
from sciharness.store.home import Home

ACKNOWLEDGED = re.compile(r"event='(\w+)' run='([^']+)' seq=(\d+)")


def lost(home: Home, said: str) -> int:
    """Return how many events that a process acknowledged are not in the record."""
    kinds: dict[str, dict[int, str]] = {}
    missing = 0
    for kind, run_id, seq in ACKNOWLEDGED.findall(said):
        if run_id not in kinds:
            kinds[run_id] = {event.seq: event.kind for event in EventLog(home).read(run_id)}
        missing += kinds[run_id].get(int(seq)) != kind
    return missing
