"""The search along rays: a scan, a bracket made ever narrower, and a look further inside.

The boundary is always told as a bracket: the last survivor below which every
amplitude that was tried survived, and the first loss. Losses may lie further
inside than any scan finds, since the boundary has fine structure; so after
the bracket is narrow, amplitudes inside it are tried as well, and a loss
there begins a new bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import define, field, frozen

from sciharness_xsuite.tracking import Tracked, Tracker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SECTION = 8  # new amplitudes inside a bracket in each round: it gets nine times narrower


@frozen
class Fate:
    """What became of the particle at one amplitude; turn and element are -1 for a survivor."""

    amplitude: float
    survived: bool
    lost_at_turn: int
    lost_at_element: int
    state: int


@define
class Ray:
    """One direction: coordinates are ``start + amplitude * step``, both of shape (6,)."""

    start: Array
    step: Array
    largest: float
    fates: dict[float, Fate] = field(factory=dict)

    @property
    def tried(self) -> list[Fate]:
        """All amplitudes that were tried, from the innermost on."""
        return [self.fates[one] for one in sorted(self.fates)]

    @property
    def high(self) -> float | None:
        """Amplitude of the first loss, ``None`` if none was lost."""
        return min((one.amplitude for one in self.fates.values() if not one.survived), default=None)

    @property
    def low(self) -> float | None:
        """Amplitude of the last survivor inside the first loss, ``None`` if there is none."""
        high = self.high
        inside = [
            one.amplitude
            for one in self.fates.values()
            if one.survived and (high is None or one.amplitude < high)
        ]
        return max(inside, default=None)

    @property
    def outermost(self) -> float | None:
        """Amplitude of the outermost survivor, beyond the first loss or not."""
        return max((one.amplitude for one in self.fates.values() if one.survived), default=None)

    def at_turns(self, turns: int) -> tuple[float | None, float | None]:
        """Return last survivor and first loss, had tracking ended after fewer turns."""
        lost = [one.amplitude for one in self.tried if 0 <= one.lost_at_turn < turns]
        high = min(lost, default=None)
        inside = [one.amplitude for one in self.tried if high is None or one.amplitude < high]
        return max(inside, default=None), high


@frozen
class Search:
    """How rays are searched."""

    turns: int
    scan_points: int
    check_points: int
    tolerance: float
    max_tracks: int


class Keeper(Protocol):
    """Keeps what was tracked over a kill; a stage is 1 once the look further inside is done."""

    def take(self, rays: Sequence[Ray]) -> int:
        """Give rays what was kept, and return the stage."""

    def keep(self, rays: Sequence[Ray], stage: int) -> None:
        """Keep all that was tracked so far."""


@define
class Means:
    """What a search works with: tracker, progress, a way to be stopped, and a keeper."""

    tracker: Tracker
    told: Callable[[float, str], None]
    stopped: Callable[[], bool]
    keeper: Keeper | None = None
    stage: int = 0


def search(rays: Sequence[Ray], plan: Search, means: Means) -> bool:
    """Track along all rays until their brackets are narrow; return whether it was completed."""
    means.stage = means.keeper.take(rays) if means.keeper else 0
    scan = min(plan.scan_points, plan.max_tracks)
    wanted = [np.linspace(0.0, ray.largest, scan) for ray in rays]
    if not _track(rays, wanted, plan, means, (0.0, 0.4, "scanning")):
        return False
    if not _narrow(rays, plan, means):
        return False
    if means.stage == 0:
        checks = [_inside(ray, plan) for ray in rays]
        means.stage = 1
        if not _track(rays, checks, plan, means, (0.6, 0.9, "looking further inside")):
            return False
    return _narrow(rays, plan, means)


def _narrow(rays: Sequence[Ray], plan: Search, means: Means) -> bool:
    while True:
        wanted = [_section(ray, plan) for ray in rays]
        if not any(len(one) for one in wanted):
            return True
        said = f"narrowing brackets, the widest is {max(map(_width, rays)):.3g}"
        part = 0.9 if means.stage else 0.4
        if not _track(rays, wanted, plan, means, (part, part + 0.05, said)):
            return False


def _width(ray: Ray) -> float:
    low, high = ray.low, ray.high
    return high - low if low is not None and high is not None else 0.0


def _section(ray: Ray, plan: Search) -> Any:  # Any: an array of amplitudes
    """Return amplitudes that make a ray's bracket narrower, none if it is narrow."""
    low, high = ray.low, ray.high
    left = plan.max_tracks - len(ray.fates)
    if low is None or high is None or high - low <= plan.tolerance or left <= 0:
        return np.empty(0)
    need = int(np.ceil((high - low) / plan.tolerance)) - 1
    count = max(1, min(SECTION, left, need))
    inner = np.linspace(low, high, count + 2)[1:-1]
    return inner[(inner > low) & (inner < high)]  # none is left between two neighbouring floats


def _inside(ray: Ray, plan: Search) -> Any:  # Any: an array of amplitudes
    """Return amplitudes between those that were tried inside the bracket."""
    low = ray.low
    left = plan.max_tracks - len(ray.fates)
    count = min(plan.check_points, left)
    if not low or count <= 0:
        return np.empty(0)
    # Odd places of a grid: where a scan from 0 has not been.
    inner = low * (np.arange(count) + 0.5) / count
    return np.array([one for one in inner if one not in ray.fates])


def _track(
    rays: Sequence[Ray],
    asked: Sequence[Any],
    plan: Search,
    means: Means,
    telling: tuple[float, float, str],
) -> bool:
    wanted = [
        [one for one in np.asarray(some).tolist() if one not in ray.fates]
        for ray, some in zip(rays, asked, strict=True)
    ]
    points = [
        ray.start + np.array(some)[:, None] * ray.step
        for ray, some in zip(rays, wanted, strict=True)
        if some
    ]
    if not points:
        return True
    begin, end, said = telling
    found = means.tracker.track(
        np.concatenate(points),
        plan.turns,
        report=lambda part, more: means.told(begin + part * (end - begin), f"{said}, {more}"),
        cancelled=means.stopped,
    )
    if not found.complete:
        return False
    _note(rays, wanted, found)
    if means.keeper is not None:
        means.keeper.keep(rays, means.stage)
    return True


def _note(rays: Sequence[Ray], wanted: Sequence[list[float]], found: Tracked) -> None:
    place = 0
    for ray, some in zip(rays, wanted, strict=True):
        for amplitude in some:
            ray.fates[amplitude] = Fate(
                amplitude,
                bool(found.survived[place]),
                int(found.lost_at_turn[place]),
                int(found.lost_at_element[place]),
                int(found.state[place]),
            )
            place += 1
