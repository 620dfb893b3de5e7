"""What an attempt has cost that was killed before it could say so."""

from __future__ import annotations

from sciharness.runtime.meter import Beat, seconds_between
from sciharness.runtime.state import RunState
from sciharness.store.home import Home


def beat_of(home: Home, run_id: str) -> Beat:
    """Return the mark of the last moment at which a run was at work."""
    return Beat(home.workspaces / run_id / "beat")


def lost_usage(home: Home, state: RunState) -> dict[str, float]:
    """Return the usage to charge for a run whose owner died; empty if none did.

    That is its time up to the last moment at which it was seen at work, and
    what its unfinished action had told of charges that nothing gives back.
    """
    if state.status != "running":
        return {}
    last = max(beat_of(home, state.run_id).last(), state.newest)
    return {**state.in_flight, "wall_time": seconds_between(state.metered, last)}
