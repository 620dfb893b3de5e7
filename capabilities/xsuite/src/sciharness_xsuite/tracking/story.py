"""What came out of tracking: numbers, a document, and sentences for the reader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.requests import TrackRequest
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.record import Tracked, loss_reason

_PLACES = 20
_BINS = 32


@frozen
class Story:
    """A finished track with what it was asked for."""

    lattice: Lattice
    tracked: Tracked
    first_turn: int
    request: TrackRequest
    seconds: float


def metrics_of(story: Story) -> dict[str, float]:
    """Return the numbers of a track."""
    tracked = story.tracked
    count = len(tracked.survived)
    survived = int(tracked.survived.sum())
    found = {
        "particles": float(count),
        "turns": float(tracked.turns),
        "survived": float(survived),
        "lost": float(count - survived),
        "survival_fraction": survived / count,
    }
    lost = tracked.lost_at_turn[~tracked.survived]
    if len(lost):
        found |= {"first_loss_turn": float(lost.min()), "last_loss_turn": float(lost.max())}
    return found


def notes_of(story: Story) -> tuple[str, ...]:
    """Return short sentences for the reader, the most important first."""
    tracked, lattice = story.tracked, story.lattice
    survived, count = int(tracked.survived.sum()), len(tracked.survived)
    said = [f"{survived:,} of {count:,} particles survived {tracked.turns:,} turns"]
    if not tracked.complete:
        said.append(
            f"stopped after {tracked.turns:,} of {story.request.num_turns:,} turns: give "
            "state.npz as input `previous` to go on"
        )
    said.append(tracked.criterion)
    if not lattice.has_aperture:
        said.append("warning: the ring has no aperture, so survival says little about a real one")
    said += tracked.notes
    return tuple(said)


def document_of(story: Story, path: Path) -> None:
    """Write what came out as JSON."""
    import xtrack  # seconds to import

    tracked, lattice, request = story.tracked, story.lattice, story.request
    document: dict[str, Any] = {
        "schema": "tracking-v1",
        "lattice": {"name": lattice.name, "sha256": lattice.sha256},
        "particles": len(tracked.survived),
        "first_turn": story.first_turn,
        "turns": tracked.turns,
        "turns_asked": request.num_turns,
        "complete": tracked.complete,
        "survived": int(tracked.survived.sum()),
        "criterion": tracked.criterion,
        "start_element": {"index": 0, "name": lattice.element_names[0]},
        "units": request.units,
        "maps": request.maps,
        "xtrack": xtrack.__version__,
        "coordinates": list(COORDINATES),
        "losses": {
            "by_reason": _by_reason(tracked),
            "by_element": _by_element(story),
            "by_turn": _by_turn(tracked),
        },
        "notes": list(notes_of(story)),
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _by_reason(tracked: Tracked) -> dict[str, int]:
    codes = Counter(tracked.state[~tracked.survived].tolist())
    return {loss_reason(code): count for code, count in codes.most_common()}


def _by_element(story: Story) -> list[dict[str, Any]]:  # Any: JSON values
    tracked, names = story.tracked, story.lattice.element_names
    found = Counter(tracked.lost_at_element[~tracked.survived].tolist()).most_common(_PLACES)
    return [
        {"index": at, "name": names[at] if at < len(names) else "", "lost": count}
        for at, count in found
    ]


def _by_turn(tracked: Tracked) -> dict[str, list[float]]:
    lost = tracked.lost_at_turn[~tracked.survived]
    counts, edges = np.histogram(lost, bins=_BINS, range=(0, max(tracked.turns, 1)))
    return {"edges": edges.tolist(), "lost": counts.tolist()}
