"""What tracking gives back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

NOT_FINITE = 1000  # our own code: alive for xtrack, but with a coordinate that is no number

_REASONS = {
    0: "outside an aperture of the lattice",
    -1: "outside the global limit on |x| and |y|",
    -2: "outside the longitudinal limit",
    -10: "all energy lost",
    NOT_FINITE: "a coordinate is not finite",
}


def loss_reason(code: int) -> str:
    """Return in words why a particle with this state is lost; empty for one that is not."""
    return "" if code == 1 else _REASONS.get(code, f"stopped by xtrack with state {code}")


@frozen
class Tracked:
    """What became of each particle, in the order of the input, always full length.

    ``survived`` (bool): alive with finite coordinates after ``turns`` turns.
    ``lost_at_turn`` and ``lost_at_element`` (int64): where it was lost,
    counted from 0, or -1. ``state`` (int64): the code of :func:`loss_reason`.
    ``final`` (float64, shape (n, 6)): x [m], px, y [m], py, zeta [m], delta
    after the last turn, or where it was lost. ``complete`` is false if the
    work was cancelled; ``turns`` then says how many turns all have made.
    """

    survived: Flags = field(eq=False, repr=False)
    lost_at_turn: Integers = field(eq=False, repr=False)
    lost_at_element: Integers = field(eq=False, repr=False)
    state: Integers = field(eq=False, repr=False)
    final: Floats = field(eq=False, repr=False)
    turns: int
    complete: bool
    criterion: str
    notes: tuple[str, ...] = ()
