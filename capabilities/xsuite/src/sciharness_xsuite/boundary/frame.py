"""What the operations on boundaries share: coordinates, tables of tracks, turns to look at."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sciharness import Context
from sciharness.errors import DataError, RequestError
from sciharness_xsuite.boundary.kept import Kept
from sciharness_xsuite.boundary.rays import Means, Ray, Search, search
from sciharness_xsuite.datasets.space import place
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking import Tracker, loss_reason

if TYPE_CHECKING:
    from numpy.typing import NDArray


def coordinates(values: Mapping[Any, float], where: str) -> NDArray[np.float64]:
    """Return six coordinates of named ones; those not named are 0.

    Raises:
        RequestError: a value is not finite.
    """
    found = np.zeros(len(COORDINATES))
    for name, value in values.items():
        if not np.isfinite(value):
            raise RequestError(
                f"expected a finite number, found {value!r}", where=f"{where}.{name}"
            )
        found[place(name)] = value
    return found


def plan_of(request: Any, tolerance: float) -> Search:  # Any: a request of this package
    """Return how rays are searched for a request."""
    return Search(
        request.num_turns,
        request.scan_points,
        request.check_points,
        tolerance,
        request.max_tracks,
    )


def searched(rays: Sequence[Ray], plan: Search, tracker: Tracker, context: Context) -> None:
    """Search all rays; what was tracked is kept over a kill.

    Raises:
        DataError: it was cancelled before the boundary was found.
    """
    means = Means(
        tracker,
        lambda part, said: context.progress(part, said),
        lambda: context.cancelled,
        Kept(context),
    )
    if not search(rays, plan, means):
        raise DataError("cancelled before the boundary was found", where=tracker.lattice.name)


def turns_to_tell(turns: int) -> list[int]:
    """Return powers of two up to the number of turns, and that number."""
    powers = [2**power for power in range(turns.bit_length()) if 2**power < turns]
    return [*powers, turns]


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a strict CSV table; what is not known is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])


def tries(ray: Ray, lattice: Lattice) -> list[tuple[Any, ...]]:
    """Return amplitude, coordinates, survival and loss of all that were tracked along a ray."""
    return [
        (
            one.amplitude,
            *(ray.start + one.amplitude * ray.step).tolist(),
            int(one.survived),
            one.lost_at_turn,
            lattice.element_names[one.lost_at_element] if one.lost_at_element >= 0 else "",
            loss_reason(one.state),
        )
        for one in ray.tried
    ]


TRIES_HEADER = (
    "amplitude",
    *COORDINATES,
    "survived",
    "lost_at_turn",
    "lost_at_element",
    "reason",
)


def warnings_of(lattice: Lattice, tracker: Tracker, turns: int) -> list[str]:
    """Return the loss criterion, what was done to the maps, and what was dropped on reading."""
    from sciharness_xsuite.tracking.tracker import criterion

    notes = [criterion(lattice, turns), *tracker.notes, *lattice.notes]
    if not lattice.has_aperture:
        notes.insert(0, "the lattice has no aperture: only the global limit loses particles")
    return notes
