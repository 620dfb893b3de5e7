"""The operations ``survival_boundary`` and ``momentum_aperture``."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from sciharness import Context, Outcome
from sciharness.errors import RequestError
from sciharness_xsuite.boundary.frame import (
    TRIES_HEADER,
    coordinates,
    plan_of,
    searched,
    tries,
    turns_to_tell,
    warnings_of,
    write_rows,
)
from sciharness_xsuite.boundary.rays import Ray
from sciharness_xsuite.boundary.request import BoundaryRequest, MomentumRequest
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking import Tracker


@frozen
class Along:
    """A finished search along one ray, ready to be told."""

    ray: Ray
    turns: int
    name: str
    unit: str
    tolerance: float

    @property
    def metrics(self) -> dict[str, float]:
        """Bracket, its middle and width; or up to where none was lost."""
        ray = self.ray
        found = {"tracks": float(len(ray.fates)), "none_lost": float(ray.high is None)}
        if ray.high is None:
            found["none_lost_up_to"] = float(ray.largest)
        elif ray.low is not None:
            found |= {
                "boundary": (ray.low + ray.high) / 2.0,
                "last_survivor": ray.low,
                "first_loss": ray.high,
                "bracket_width": ray.high - ray.low,
            }
        else:
            found["first_loss"] = ray.high
        if ray.outermost is not None:
            found["outermost_survivor"] = ray.outermost
        return found

    def sentences(self, lattice: Lattice) -> list[str]:
        """Return what was found in words."""
        ray, unit = self.ray, f" {self.unit}" if self.unit else ""
        if ray.high is None:
            return [
                f"none of {len(ray.fates)} particles was lost up to {self.name} = "
                f"{ray.largest:.9g}{unit}; a boundary, if there is one, lies further out"
            ]
        first = ray.fates[ray.high]
        where = lattice.element_names[first.lost_at_element]
        place = first.lost_at_element
        lost = f"in turn {first.lost_at_turn + 1} at {where}, element {place}"
        if ray.low is None:
            return [f"the particle at {self.name} = {ray.high:.9g}{unit} is lost already, {lost}"]
        told = [
            f"the boundary along {self.name} lies between {ray.low:.9g}{unit} (the last survivor) "
            f"and {ray.high:.9g}{unit} (the first loss, {lost}), {len(ray.fates)} particles tracked"
        ]
        if ray.high - ray.low > self.tolerance:
            told.append(
                f"the bracket is {ray.high - ray.low:.3g}{unit} wide, {self.tolerance:.3g} was "
                "asked for: raise max_tracks"
            )
        if ray.outermost is not None and ray.outermost > ray.high:
            told.append(
                f"beyond the first loss some survive, the outermost at {ray.outermost:.9g}{unit}: "
                "the boundary is not a single point"
            )
        return told


def run_boundary(request: BoundaryRequest, context: Context) -> Outcome:
    """Find the boundary of survival along one direction.

    Raises:
        RequestError: the direction adds to no coordinate.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    lattice = read_lattice(context.inputs["lattice"].path)
    along, tracker = find_boundary(request, lattice, context)
    rows = tries(along.ray, lattice)
    write_rows(context.output("boundary.csv", "DATASET"), TRIES_HEADER, rows)
    notes = [*along.sentences(lattice), *warnings_of(lattice, tracker, request.num_turns)]
    _draw([along], context, notes, along.metrics)
    return Outcome(along.metrics, notes)


def find_boundary(
    request: BoundaryRequest, lattice: Lattice, context: Context
) -> tuple[Along, Tracker]:
    """Return the boundary of a lattice along one direction, and the tracker that found it."""
    step = coordinates(request.direction, "direction")
    if not step.any():
        raise RequestError("expected a coordinate that changes, found none", where="direction")
    tracker = Tracker(lattice, maps=request.maps, workers=context.workers)
    ray = Ray(coordinates(request.start, "start"), step, request.largest)
    searched([ray], plan_of(request, request.tolerance), tracker, context)
    return Along(ray, request.num_turns, *_named(step), request.tolerance), tracker


def run_momentum(request: MomentumRequest, context: Context) -> Outcome:
    """Find the largest momentum deviations that survive, above and below the reference.

    Raises:
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    lattice = read_lattice(context.inputs["lattice"].path)
    sides, tracker = find_momentum(request, lattice, context)
    metrics = both_sides(sides)
    rows = [row for side in sides for row in tries(side.ray, lattice)]
    write_rows(context.output("momentum_aperture.csv", "DATASET"), TRIES_HEADER, rows)
    told = [sentence for side in sides for sentence in side.sentences(lattice)]
    told.append("it holds for particles that start at element 0; elsewhere in the ring it differs")
    notes = [*told, *warnings_of(lattice, tracker, request.num_turns)]
    _draw(sides, context, notes, metrics)
    return Outcome(metrics, notes)


def find_momentum(
    request: MomentumRequest, lattice: Lattice, context: Context
) -> tuple[list[Along], Tracker]:
    """Return the boundaries above and below the reference momentum, and the tracker."""
    tracker = Tracker(lattice, maps=request.maps, workers=context.workers)
    start = coordinates(request.start, "start")
    step = coordinates({"delta": 1.0}, "delta")
    rays = [Ray(start, sign * step, request.largest) for sign in (1.0, -1.0)]
    searched(rays, plan_of(request, request.tolerance), tracker, context)
    sides = [
        Along(ray, request.num_turns, name, "", request.tolerance)
        for ray, name in zip(rays, ("delta", "-delta"), strict=True)
    ]
    return sides, tracker


def both_sides(sides: list[Along]) -> dict[str, float]:
    """Return the momentum aperture up, down, and the smaller of both."""
    ends = [side.ray.low if side.ray.low is not None else 0.0 for side in sides]
    found = {
        "momentum_aperture": min(ends),
        "momentum_aperture_up": ends[0],
        "momentum_aperture_down": -ends[1],
        "none_lost": float(sum(side.ray.high is None for side in sides)),
        "tracks": float(sum(len(side.ray.fates) for side in sides)),
    }
    widths = [
        side.ray.high - side.ray.low
        for side in sides
        if side.ray.high is not None and side.ray.low is not None
    ]
    return {**found, "bracket_width": max(widths)} if widths else found


def _named(step: Any) -> tuple[str, str]:  # Any: an array of six
    """Return how an amplitude is called, and its unit."""
    moved = [name for name, one in zip(COORDINATES, step, strict=True) if one]
    if len(moved) == 1 and abs(np.abs(step).max() - 1.0) < 1e-12:
        sign = "-" if step.sum() < 0 else ""
        return f"{sign}{moved[0]}", "m" if moved[0] in ("x", "y", "zeta") else ""
    return "amplitude", ""


def _draw(sides: list[Along], context: Context, notes: list[str], metrics: Any) -> None:
    from sciharness_xsuite.plots.boundary import write_along_part  # matplotlib

    write_along_part(sides, context, notes, metrics)


def by_turns(along: Along) -> list[tuple[int, float | None, float | None]]:
    """Return last survivor and first loss for fewer turns, of the particles that were tracked."""
    return [(turns, *along.ray.at_turns(turns)) for turns in turns_to_tell(along.turns)]
