"""The operation ``dynamic_aperture``: the boundary of survival over angles in x and y."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
from sciharness_xsuite.boundary.request import ApertureRequest
from sciharness_xsuite.datasets.space import place
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.tracking import Tracker, sigmas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DEFAULT_PARTS = 1_000


@frozen(eq=False)
class Aperture:
    """A finished search: ``angles`` [rad] and a ray for each; ``unit`` is m or sigma."""

    rays: list[Ray]
    angles: Array
    unit: str
    turns: int
    r_max: float

    def ends(self) -> Array:
        """Return the last survivor of each ray, 0 where even the centre is lost."""
        return np.array([ray.low if ray.low is not None else 0.0 for ray in self.rays])

    def by_angle(self) -> Iterator[tuple[float, float | None, float | None, int | None]]:
        """Yield angle [deg], last survivor, first loss, and its turn counted from 1."""
        for angle, ray in zip(self.angles, self.rays, strict=True):
            high = ray.high
            turn = None if high is None else ray.fates[high].lost_at_turn + 1
            yield float(np.degrees(angle)), ray.low, high, turn

    def by_turns(self) -> Iterator[tuple[int, float, float]]:
        """Yield turns, and the smallest and mean aperture had tracking ended then."""
        for turns in turns_to_tell(self.turns):
            ends = np.array([ray.at_turns(turns)[0] or 0.0 for ray in self.rays])
            yield turns, float(ends.min()), mean_over(self.angles, ends)

    def metrics(self) -> dict[str, float]:
        """Return smallest, largest and mean aperture, the area, and how it was found."""
        ends = self.ends()
        widths = [
            ray.high - ray.low for ray in self.rays if ray.high is not None and ray.low is not None
        ]
        found = {
            "da_min": float(ends.min()),
            "da_max": float(ends.max()),
            "da_mean": mean_over(self.angles, ends),
            "angles": float(len(ends)),
            "angles_none_lost": float(sum(ray.high is None for ray in self.rays)),
            "tracks": float(sum(len(ray.fates) for ray in self.rays)),
        }
        lost = [ray.high for ray in self.rays if ray.high is not None]
        if len(ends) > 1:
            found["da_area"] = _integral(self.angles, np.square(ends) / 2.0)
        if lost:
            found["innermost_loss"] = min(lost)
        return {**found, "bracket_width": max(widths)} if widths else found


def mean_over(angles: Array, values: Array) -> float:
    """Return the mean over angles by the trapezoidal rule."""
    if len(angles) == 1:
        return float(values[0])
    return _integral(angles, values) / float(angles[-1] - angles[0])


def _integral(angles: Array, values: Array) -> float:
    return float((np.diff(angles) * (values[1:] + values[:-1]) / 2.0).sum())


def run(request: ApertureRequest, context: Context) -> Outcome:
    """Find the dynamic aperture over angles.

    Raises:
        RequestError: sigma units without emittances, or angles in falling order.
        DataError: the lattice cannot be kept, or the search was cancelled.
    """
    lattice = read_lattice(context.inputs["lattice"].path)
    found, tracker = find(request, lattice, context)
    metrics = found.metrics()
    rows = [
        (float(np.degrees(angle)), *row)
        for angle, ray in zip(found.angles, found.rays, strict=True)
        for row in tries(ray, lattice)
    ]
    write_rows(context.output("particles.csv", "OTHER"), ("angle_deg", *TRIES_HEADER), rows)
    write_rows(
        context.output("aperture.csv", "DATASET"),
        ("angle_deg", "last_survivor", "first_loss", "turn_of_first_loss"),
        found.by_angle(),
    )
    notes = [*_told(found, metrics), *warnings_of(lattice, tracker, request.num_turns)]
    _draw(found, context, notes, metrics)
    return Outcome(metrics, notes)


def find(request: ApertureRequest, lattice: Lattice, context: Context) -> tuple[Aperture, Tracker]:
    """Return the aperture of a lattice, and the tracker that found it."""
    angles = _angles(request)
    centre, size_x, size_y = _frame(request, lattice)
    rays = []
    for angle in angles:
        step = np.zeros(6)
        step[place("x")] = size_x * _exact(np.cos(angle))
        step[place("y")] = size_y * _exact(np.sin(angle))
        rays.append(Ray(centre, step, request.r_max))
    tracker = Tracker(lattice, maps=request.maps, workers=context.workers)
    tolerance = request.tolerance or request.r_max / DEFAULT_PARTS
    searched(rays, plan_of(request, tolerance), tracker, context)
    unit = "sigma" if request.units == "sigma" else "m"
    return Aperture(rays, angles, unit, request.num_turns, request.r_max), tracker


def _exact(part: float) -> float:
    """Return 0 for what is 0 but for rounding: a ray along x has no y."""
    return 0.0 if abs(part) < 1e-15 else float(part)


def _angles(request: ApertureRequest) -> Array:
    if not request.angle_min_deg < request.angle_max_deg and request.angles > 1:
        raise RequestError(
            f"expected more than angle_min_deg = {request.angle_min_deg:g}, found "
            f"{request.angle_max_deg:g}",
            where="angle_max_deg",
        )
    low, high = np.radians(request.angle_min_deg), np.radians(request.angle_max_deg)
    if request.endpoints:
        return np.linspace(low, high, request.angles)
    return np.linspace(low, high, request.angles + 2)[1:-1]


def _frame(request: ApertureRequest, lattice: Lattice) -> tuple[Array, float, float]:
    """Return the centre (6,) and what one unit of radius is in x and y, in metres."""
    centre = coordinates(request.offset, "offset")
    if request.units == "metres":
        return centre, 1.0, 1.0
    if request.nemitt_x_m is None or request.nemitt_y_m is None:
        raise RequestError(
            "sigma units need the emittances of the beam, found none",
            where="nemitt_x_m, nemitt_y_m",
            hint="For example nemitt_x_m: 2.5e-6, nemitt_y_m: 2.5e-6.",
        )
    sizes = sigmas(lattice, nemitt_x_m=request.nemitt_x_m, nemitt_y_m=request.nemitt_y_m)
    return centre + np.array(sizes.orbit), sizes.x_m, sizes.y_m


def _told(found: Aperture, metrics: dict[str, float]) -> list[str]:
    unit = found.unit
    told = [
        f"the dynamic aperture after {found.turns:,} turns is {metrics['da_min']:.6g} {unit} at "
        f"its smallest and {metrics['da_mean']:.6g} {unit} on average over {len(found.rays)} "
        f"angles, {int(metrics['tracks']):,} particles tracked"
    ]
    free = int(metrics["angles_none_lost"])
    if free:
        told.append(
            f"none was lost up to {found.r_max:g} {unit} at {free} of {len(found.rays)} angles: "
            "there the aperture is at least that, and smallest, mean and area are lower bounds"
        )
    islands = sum(
        ray.high is not None and ray.outermost is not None and ray.outermost > ray.high
        for ray in found.rays
    )
    if islands:
        told.append(f"at {islands} angles particles survive beyond the first loss")
    return told


def _draw(found: Aperture, context: Context, notes: list[str], metrics: Any) -> None:
    from sciharness_xsuite.plots.boundary import write_aperture_part  # matplotlib

    write_aperture_part(found, context, notes, metrics)
