"""The domain of start values: which coordinates vary, within which bounds, what the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sciharness.errors import RequestError
from sciharness_xsuite.settings import COORDINATES, Coordinate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

UNITS: Mapping[str, str] = {"x": "m", "px": "1", "y": "m", "py": "1", "zeta": "m", "delta": "1"}
MEANINGS: Mapping[str, str] = {
    "x": "horizontal position at element 0",
    "px": "horizontal momentum over the reference momentum",
    "y": "vertical position at element 0",
    "py": "vertical momentum over the reference momentum",
    "zeta": "longitudinal position, ahead of the reference particle is positive",
    "delta": "momentum deviation over the reference momentum",
}


@frozen
class Space:
    """Coordinates that vary, with bounds in their units; ``fixed`` holds the others that are not 0.

    Points of a space are arrays (particles, coordinates) in the order of ``names``.
    """

    names: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    fixed: Mapping[str, float]

    def draw(self, count: int, random: np.random.Generator) -> Array:
        """Return points spread evenly over the domain, each drawn on its own."""
        return random.uniform(self.lows, self.highs, (count, len(self.names)))

    def full(self, points: Array) -> Array:
        """Return all six coordinates of points, shape (particles, 6)."""
        every = np.zeros((len(points), len(COORDINATES)))
        for name, value in self.fixed.items():
            every[:, place(name)] = value
        for column, name in enumerate(self.names):
            every[:, place(name)] = points[:, column]
        return every

    def unit(self, points: Array) -> Array:
        """Return points with each coordinate running from -1 to 1 over the domain."""
        lows, highs = np.array(self.lows), np.array(self.highs)
        return np.asarray((2.0 * points - lows - highs) / (highs - lows))


def place(name: str) -> int:
    """Return the column of a coordinate."""
    return [*COORDINATES].index(name)  # type: ignore[arg-type]


def space_of(
    domain: Mapping[Coordinate, Sequence[float]], fixed: Mapping[Coordinate, float]
) -> Space:
    """Return the space that a request declares.

    Raises:
        RequestError: no coordinate varies, a range is empty or not finite, or
            a coordinate both varies and is fixed.
    """
    names = [name for name in COORDINATES if name in domain]
    if not names:
        raise RequestError(
            "expected at least one coordinate with its range, found none",
            where="domain",
            hint="For example domain: {x: [0, 0.06], y: [0, 0.04]}, in metres.",
        )
    for name in names:
        low, high = domain[name]
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise RequestError(
                f"expected two finite numbers in rising order, found {low!r} and {high!r}",
                where=f"domain.{name}",
            )
        if name in fixed:
            raise RequestError("stands in `domain` too", where=f"fixed.{name}")
    for name, value in fixed.items():
        if not np.isfinite(value):
            raise RequestError(f"expected a finite number, found {value!r}", where=f"fixed.{name}")
    lows, highs = zip(*(map(float, domain[name]) for name in names), strict=True)
    return Space(tuple(names), lows, highs, {name: fixed[name] for name in sorted(fixed)})
