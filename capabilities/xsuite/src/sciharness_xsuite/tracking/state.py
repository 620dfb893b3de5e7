"""The state of all particles as plain arrays, shared between processes and kept in files."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from sciharness_xsuite.tracking.record import Floats, Integers

_MOTION = ("x", "px", "y", "py", "zeta", "delta", "pzeta", "rpp", "rvv")
FLOATS = (*_MOTION, "s", "p0c", "gamma0", "beta0")
INTEGERS = ("at_turn", "at_element", "state")
BYTES_PER_PARTICLE = 8 * (len(FLOATS) + len(INTEGERS) + 1)


@frozen
class State:
    """Everything that decides how particles go on, one row of ``floats`` per field.

    ``floats`` float64 (fields, n), ``integers`` int64 (fields, n), ``order``
    int64 (n,): places of the particles still alive, at its beginning.
    """

    floats: Floats
    integers: Integers
    order: Integers

    @property
    def count(self) -> int:
        """How many particles there are."""
        return int(self.floats.shape[1])

    def field(self, name: str) -> Any:  # Any: a row of float64 or of int64
        """Return one field of all particles; writing to it changes the state."""
        if name in FLOATS:
            return self.floats[FLOATS.index(name)]
        return self.integers[INTEGERS.index(name)]

    def copied(self) -> State:
        """Return the same state in memory of its own."""
        return State(self.floats.copy(), self.integers.copy(), self.order.copy())

    def alive(self) -> Integers:
        """Return the places of the particles that are still tracked."""
        return np.flatnonzero(self.integers[INTEGERS.index("state")] > 0)


def shared_state(count: int) -> State:
    """Return an empty state in memory that forked processes share."""
    return State(
        _shared((len(FLOATS), count), np.float64),
        _shared((len(INTEGERS), count), np.int64),
        _shared((count,), np.int64),
    )


def filled_state(saved: Mapping[str, Floats | Integers]) -> State:
    """Return the state that was saved as ``floats`` and ``integers``."""
    floats, integers = saved["floats"], saved["integers"]
    state = shared_state(floats.shape[1])
    state.floats[:] = floats
    state.integers[:] = integers
    return state


def _shared(shape: tuple[int, ...], kind: type) -> Any:  # Any: an array of that kind
    count = int(np.prod(shape))
    memory = mmap.mmap(-1, max(count * np.dtype(kind).itemsize, 1))  # anonymous and shared
    return np.frombuffer(memory, dtype=kind, count=count).reshape(shape)
