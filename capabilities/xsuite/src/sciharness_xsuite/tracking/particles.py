"""Where particles start: lists, grids, random and polar sets, files; in metres or sigma."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sciharness import Context
from sciharness.errors import RequestError
from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.requests import MOST_PARTICLES, PolarSet, RandomSet, TrackRequest
from sciharness_xsuite.settings import COORDINATES, Coordinate
from sciharness_xsuite.tracking.files import read_particles
from sciharness_xsuite.tracking.record import Floats
from sciharness_xsuite.tracking.units import sigmas

_SOURCES = ("points", "grid", "random", "polar")
_HINT = "Give one of points, grid, random, polar, or the input `particles`."


def start_coordinates(request: TrackRequest, context: Context, lattice: Lattice) -> Floats:
    """Return the start coordinates, float64 of shape (n, 6), in metres and radians.

    Raises:
        RequestError: no source, several sources, or sigma units without emittances.
        DataError: a file of particles is refused.
    """
    given = [name for name in _SOURCES if getattr(request, name)]
    if "particles" in context.inputs:
        given.append("the input particles")
    if len(given) != 1:
        found = " and ".join(given) if given else "nothing"
        raise RequestError(
            f"particles come from one source, found {found}", where="request", hint=_HINT
        )
    made = _made(request, context)
    for name, value in request.offset.items():
        made[:, COORDINATES.index(name)] += value
    if not len(made):
        raise RequestError("there are no particles", where="request", hint=_HINT)
    if not np.isfinite(made).all():
        raise RequestError("every coordinate has to be finite", where="request")
    return _in_metres(request, lattice, made)


def planned_count(request: TrackRequest) -> int:
    """Return how many particles the request will make, 0 if that is known only from a file."""
    if request.random is not None:
        return request.random.count
    if request.polar is not None:
        return request.polar.angles * request.polar.radii
    return math.prod(count for _, _, count in request.grid.values()) if request.grid else 0


def _made(request: TrackRequest, context: Context) -> Floats:
    if request.points:
        return points(request.points)
    if request.grid:
        return grid(request.grid)
    if request.random is not None:
        return drawn(request.random, context.seed)
    if request.polar is not None:
        return polar(request.polar)
    return read_particles(context.inputs["particles"].path)


def points(lists: Mapping[Coordinate, float | tuple[float, ...]]) -> Floats:
    """Return particles from lists of equal length; a single number holds for all."""
    columns = {name: np.atleast_1d(np.asarray(values, float)) for name, values in lists.items()}
    count = max(len(column) for column in columns.values())
    made = np.zeros((count, 6))
    for name, column in columns.items():
        if len(column) not in (1, count):
            raise RequestError(
                f"points.{name} has {len(column)} values, another coordinate {count}",
                where="request",
                hint="Lists have to be equally long; one number holds for all particles.",
            )
        made[:, COORDINATES.index(name)] = column
    return made


def grid(axes: Mapping[Coordinate, tuple[float, float, int]]) -> Floats:
    """Return every combination of evenly spaced values; the last coordinate varies fastest."""
    for name, (_, _, count) in axes.items():
        if count < 1:
            raise RequestError(f"grid.{name}: expected a count of at least 1", where="request")
    total = math.prod(count for _, _, count in axes.values())
    if total > MOST_PARTICLES:
        raise RequestError(
            f"the grid has {total:,} particles, at most {MOST_PARTICLES:,}", where="request"
        )
    values = [np.linspace(low, high, count) for low, high, count in axes.values()]
    meshes = np.meshgrid(*values, indexing="ij")
    made = np.zeros((total, 6))
    for name, mesh in zip(axes, meshes, strict=True):
        made[:, COORDINATES.index(name)] = mesh.ravel()
    return made


def drawn(chosen: RandomSet, seed: int) -> Floats:
    """Return points drawn uniformly in their ranges; each coordinate has a stream of its own."""
    made = np.zeros((chosen.count, 6))
    for name, (low, high) in chosen.ranges.items():
        place = COORDINATES.index(name)
        generator = np.random.Generator(np.random.PCG64([abs(seed), place]))
        made[:, place] = generator.uniform(low, high, chosen.count)
    return made


def polar(chosen: PolarSet) -> Floats:
    """Return points on rays, ray by ray from the inside out."""
    low, high = math.radians(chosen.angle_min_deg), math.radians(chosen.angle_max_deg)
    if chosen.endpoints:
        angles = np.linspace(low, high, chosen.angles)
    else:
        angles = np.linspace(low, high, chosen.angles + 2)[1:-1]
    if chosen.r_min >= chosen.r_max:
        raise RequestError("polar.r_min has to lie below polar.r_max", where="request")
    if chosen.r_min > 0:
        radii = np.linspace(chosen.r_min, chosen.r_max, chosen.radii)
    else:
        radii = np.linspace(0.0, chosen.r_max, chosen.radii + 1)[1:]
    made = np.zeros((len(angles) * len(radii), 6))
    made[:, 0] = np.outer(np.cos(angles), radii).ravel()
    made[:, 2] = np.outer(np.sin(angles), radii).ravel()
    return made


def _in_metres(request: TrackRequest, lattice: Lattice, made: Floats) -> Floats:
    if request.units == "metres":
        return made
    if request.nemitt_x_m is None or request.nemitt_y_m is None:
        raise RequestError(
            "sigma units need nemitt_x_m and nemitt_y_m, the normalised emittances in metres",
            where="request",
            hint="For the LHC 2.5e-6 is usual; without them 1 sigma has no size.",
        )
    beam = sigmas(lattice, nemitt_x_m=request.nemitt_x_m, nemitt_y_m=request.nemitt_y_m)
    return beam.in_metres(made)
