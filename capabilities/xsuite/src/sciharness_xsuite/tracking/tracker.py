"""The tracker: a lattice made ready once, particles tracked as often as wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.lattice.load import build, quiet
from sciharness_xsuite.tracking.chunk import Engine
from sciharness_xsuite.tracking.maps import exact_maps
from sciharness_xsuite.tracking.record import COORDINATES, NOT_FINITE, Floats, Tracked
from sciharness_xsuite.tracking.state import State, shared_state

Report = Callable[[float, str], None]

MOST_IN_CHUNK = 2000
_BLOCK_SECONDS = 1.0
_NS_GUESS = 150.0  # per particle and element, before it is measured


class Tracker:
    """Tracks particles through a lattice.

    ``maps`` is ``exact`` (closed-form maps in pure dipoles) or ``xtrack``
    (everything as the file and xtrack's defaults have it). ``workers`` is the
    number of processes; results do not depend on it.
    """

    def __init__(self, lattice: Lattice, *, maps: str = "exact", workers: int = 1) -> None:
        plain, changed = exact_maps(lattice.plain) if maps == "exact" else (lattice.plain, 0)
        self.lattice = lattice
        self.workers = workers
        self.line = build(plain, lattice.name).line
        with quiet():
            self.line.build_tracker()
        self.engine = Engine(self.line, lattice.reference)
        self.notes = (
            f"{changed} pure dipoles use their exact closed-form map; kick counts elsewhere "
            "are those of the file"
            if maps == "exact"
            else "every element is integrated as the file and xtrack's defaults have it",
            "xtrack's prebuilt serial kernel on the processor",
        )
        self._seconds_per_turn = _NS_GUESS * 1e-9 * max(1, len(lattice.element_names))

    def track(
        self,
        coordinates: Floats,
        turns: int,
        *,
        report: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Tracked:
        """Track particles from the start of the ring for a number of turns.

        ``coordinates`` is float64 of shape (n, 6): x [m], px, y [m], py,
        zeta [m], delta. ``report`` gets the fraction done and a message after
        each block of turns; ``cancelled`` is asked between blocks.
        """
        state = self.begin(coordinates)
        done = self.advance(state, 0, turns, report=report, cancelled=cancelled)
        return self.result(state, done, turns)

    def begin(self, coordinates: Floats) -> State:
        """Return the state of particles that have made no turn."""
        state = shared_state(len(coordinates))
        if len(coordinates):
            self.engine.begin(state, np.ascontiguousarray(coordinates, dtype=np.float64))
        return state

    def advance(
        self,
        state: State,
        done: int,
        turns: int,
        *,
        report: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
        after_block: Callable[[State, int], None] | None = None,
        block_turns: int = 0,
    ) -> int:
        """Track all living particles from turn ``done`` to ``turns``; return the turns made."""
        while done < turns:
            if cancelled is not None and cancelled():
                return done
            alive = state.alive()
            if not len(alive):
                return turns
            block = min(turns - done, block_turns or self._block(len(alive)))
            self._run(state, alive, block)
            done += block
            if report is not None:
                living = len(state.alive())
                report(done / turns, f"turn {done:,} of {turns:,}, {living:,} alive")
            if after_block is not None:
                after_block(state, done)
        return done

    def _run(self, state: State, alive: Any, block: int) -> None:
        started = time.perf_counter()
        for first in range(0, len(alive), MOST_IN_CHUNK):
            self.engine.track(state, alive[first : first + MOST_IN_CHUNK], block)
        self._seconds_per_turn = (time.perf_counter() - started) / block / len(alive)

    def _block(self, alive: int) -> int:
        return max(1, int(_BLOCK_SECONDS / (self._seconds_per_turn * alive)))

    def result(self, state: State, done: int, turns: int) -> Tracked:
        """Return the outcome of a state after ``done`` turns."""
        final: Floats = np.stack([state.field(name) for name in COORDINATES], axis=1)
        code = state.field("state").astype(np.int64)
        code[(code > 0) & ~np.isfinite(final).all(axis=1)] = NOT_FINITE
        survived = code == 1
        return Tracked(
            survived=survived,
            lost_at_turn=np.where(survived, -1, state.field("at_turn")).astype(np.int64),
            lost_at_element=np.where(survived, -1, state.field("at_element")).astype(np.int64),
            state=code,
            final=final,
            turns=done,
            complete=done >= turns,
            criterion=criterion(self.lattice, done),
            notes=self.notes,
        )


def criterion(lattice: Lattice, turns: int) -> str:
    """Return in words what counts as survived in this ring."""
    limit = lattice.global_limit_m
    bound = f"|x| and |y| <= {limit:g} m wherever drifts check it" if limit else "no global limit"
    walls = "apertures of the lattice" if lattice.has_aperture else "no aperture in the lattice"
    return (
        f"survived: alive (state 1) with finite coordinates after {turns} turns from the start "
        f"of the ring (element 0); lost by: {walls}, {bound}"
    )
