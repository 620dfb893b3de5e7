"""Where to put particles: evenly, or most of them where survival is in doubt.

An adaptive set begins with an even one. Then, in rounds, a kernel machine
learns survival from all that were tracked, and the next particles are drawn
evenly from the band in which it is in doubt. Whether a particle is drawn
depends on its coordinates alone, never on its fate, so that the share of
survivors at a place is not distorted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sciharness_xsuite.datasets.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Fates = NDArray[np.bool_]

ROUNDS = 8
CORNERS = 2
PIECE = 20_000  # particles between two checkpoints
DOUBT = 0.7  # |decision| of the band; 1 is the margin of the machine
LEARNT_FROM = 3_000  # the latest rows: fits stay quick, and the latest lie closest
CANDIDATES = 20_000
MOST_DRAWS = 20
COST, WIDTH = 100.0, "scale"


@frozen
class Batch:
    """Points of a space that are tracked together; ``kind`` says how they were drawn."""

    points: Array
    kind: str


def sizes(count: int, share: float) -> list[tuple[str, int]]:
    """Return kind and number of points of each batch; together they are ``count``.

    An adaptive set begins with two opposite corners, so that the ranges of its
    columns are those of the domain.
    """
    if share < 1.0 and count > CORNERS:
        return [("corner", CORNERS), *_sizes(count - CORNERS, share)]
    return _sizes(count, share)


def _sizes(count: int, share: float) -> list[tuple[str, int]]:
    first = count if share >= 1.0 else min(count, max(2, math.ceil(share * count)))
    pieces = [("uniform", min(PIECE, first - done)) for done in range(0, first, PIECE)]
    left = count - first
    each = max(1, math.ceil(left / ROUNDS))
    return pieces + [("near", min(each, left - done)) for done in range(0, left, each)]


def batch(
    space: Space,
    kind: str,
    count: int,
    random: np.random.Generator,
    known: tuple[Array, Fates] | None,
) -> Batch:
    """Return the next points; ``known`` are all that were tracked, and which survived.

    While all share one fate there is no boundary to draw near: points stay even.
    """
    if kind == "corner":
        return Batch(np.array([space.lows, space.highs]), kind)
    if kind == "uniform" or known is None or known[1].all() or not known[1].any():
        return Batch(space.draw(count, random), "uniform")
    return Batch(in_doubt(space, *known, count, random), "near")


def in_doubt(
    space: Space, points: Array, survived: Fates, count: int, random: np.random.Generator
) -> Array:
    """Return new points, evenly from where a machine that learnt the fates is in doubt."""
    from sklearn.svm import SVC  # heavy, only where it is used

    latest = _latest(survived)
    machine = SVC(C=COST, gamma=WIDTH)
    machine.fit(space.unit(points[latest]), survived[latest])
    found: list[Array] = []
    rest: list[Array] = []
    doubts: list[Array] = []
    for _ in range(MOST_DRAWS):
        drawn = space.draw(max(CANDIDATES, count), random)
        doubt = np.abs(machine.decision_function(space.unit(drawn)))
        found.append(drawn[doubt < DOUBT])
        rest.append(drawn[doubt >= DOUBT])
        doubts.append(doubt[doubt >= DOUBT])
        if sum(map(len, found)) >= count:
            break
    near = np.concatenate(found)[:count]
    if len(near) == count:
        return near
    order = np.argsort(np.concatenate(doubts), kind="stable")[: count - len(near)]
    return np.concatenate([near, np.concatenate(rest)[order]])


def _latest(survived: Fates) -> Any:  # Any: places in the rows
    """Return the latest rows, and with them some of a class that these lack."""
    start = max(0, len(survived) - LEARNT_FROM)
    places = np.arange(start, len(survived))
    if survived[start:].any() and not survived[start:].all():
        return places
    lacking = np.flatnonzero(survived != survived[-1])[-100:]
    return np.concatenate([lacking, places])
