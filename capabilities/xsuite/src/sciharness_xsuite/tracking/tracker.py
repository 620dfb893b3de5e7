"""The tracker: a lattice made ready once, particles tracked as often as wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from sciharness_xsuite.lattice import Lattice
from sciharness_xsuite.lattice.load import build, quiet
from sciharness_xsuite.lattice.work import kicks_of
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.chunk import Engine
from sciharness_xsuite.tracking.crew import Crew, Stopped, Task
from sciharness_xsuite.tracking.devices import chosen_device
from sciharness_xsuite.tracking.maps import has_clock, maps_note, with_maps
from sciharness_xsuite.tracking.record import NOT_FINITE, Floats, Integers, Tracked
from sciharness_xsuite.tracking.state import State, shared_state

Report = Callable[[float, str], None]

MOST_IN_CHUNK = 2000
_LEAST_IN_CHUNK = 500  # each element costs about as much as ten particles in it
_CHUNKS = 8  # for each process and block: the last one to finish is waited for
_BLOCK_SECONDS, _LONGEST_BLOCK_SECONDS, _BLOCK_SHARE = 1.0, 10.0, 0.05
_BEGUN_AT_ONCE = 50_000
_CREW_SECONDS = 0.3  # less work than that is done before processes are forked
_SECONDS_PER_ELEMENT, _SECONDS_PER_KICK = 1e-7, 1.3e-7  # before it is measured


class Tracker:
    """Tracks particles through a lattice.

    ``maps`` is ``exact`` (closed-form maps in pure dipoles) or ``xtrack``
    (everything as the file and xtrack's defaults have it). ``workers`` is the
    number of processes; results do not depend on it. ``device`` is ``cpu``,
    ``gpu`` or ``auto`` (a GPU if there is one).
    """

    def __init__(
        self, lattice: Lattice, *, maps: str = "exact", workers: int = 1, device: str = "cpu"
    ) -> None:
        self.lattice = lattice
        self.maps = maps
        self.workers = workers
        ready = with_maps(lattice, maps)
        self.line = build(ready.plain, lattice.name).line
        place = chosen_device(device)
        with quiet():
            self.line.build_tracker(_context=place.context)
        self.engine = Engine(
            self.line,
            lattice.reference,
            lattice.circumference_m,
            step=1 if has_clock(lattice.plain) else 0,
            on_device=place.is_gpu,
        )
        if place.is_gpu:
            self.workers = 1
        self.notes = (maps_note(lattice, maps), place.note)
        self._seconds_per_turn = _guessed_seconds(ready)

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
        each block of turns; ``cancelled`` is asked all along, the result is
        then that after the last block that was finished.
        """
        state = self.begin(coordinates)
        kept = [(state.copied(), 0)]

        def keep(now: State, turn: int) -> None:
            kept[0] = (now.copied(), turn)

        try:
            done = self.advance(
                state,
                0,
                turns,
                report=report,
                cancelled=cancelled,
                after_block=keep if cancelled is not None else None,
            )
        except Stopped:
            state, done = kept[0]
        return self.result(state, done, turns)

    def begin(self, coordinates: Floats) -> State:
        """Return the state of particles that have made no turn."""
        state = shared_state(len(coordinates))
        for first in range(0, len(coordinates), _BEGUN_AT_ONCE):
            rows = slice(first, first + _BEGUN_AT_ONCE)
            part = np.ascontiguousarray(coordinates[rows], dtype=np.float64)
            self.engine.begin(state, rows, part)
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
        """Track all living particles from turn ``done`` to ``turns``; return the turns made.

        ``after_block`` is called with the state and the turns made whenever
        all living particles have made the same number of turns.

        Raises:
            Stopped: cancelled in the midst of a block, so the state is of no
                use; what the last call of ``after_block`` kept is.
        """
        asked = cancelled or (lambda: False)
        begun = time.monotonic()
        with ExitStack() as stack:
            crew: Crew | None = None
            while done < turns and not asked():
                alive = state.alive()
                if not len(alive):
                    return turns
                if crew is None and self._worth_a_crew(len(alive), turns - done):
                    crew = stack.enter_context(Crew(self.engine, state, self.workers))
                block = min(turns - done, block_turns or self._block(len(alive), begun))
                self._run(state, alive, block, crew, asked)
                done += block
                if after_block is not None:
                    after_block(state, done)
                if report is not None:
                    living = len(state.alive())
                    report(done / turns, f"turn {done:,} of {turns:,}, {living:,} alive")
        return done

    def versions(self) -> dict[str, str]:
        """Return the versions that a saved state depends on."""
        import xtrack

        return {"xtrack": str(xtrack.__version__)}

    def seconds(self, particles: int, turns: int) -> float:
        """Return about how long one process needs, from what was measured so far."""
        return self._seconds_per_turn * particles * turns

    def _worth_a_crew(self, alive: int, turns: int) -> bool:
        return self.workers > 1 and alive > 1 and self.seconds(alive, turns) > _CREW_SECONDS

    def _run(
        self,
        state: State,
        alive: Integers,
        block: int,
        crew: Crew | None,
        cancelled: Callable[[], bool],
    ) -> None:
        size = self._chunk(len(alive), crew is not None)
        state.order[: len(alive)] = alive
        tasks = [
            Task(first, min(first + size, len(alive)), block)
            for first in range(0, len(alive), size)
        ]
        started = time.perf_counter()
        if crew is not None:
            crew.run(tasks, cancelled)
        for task in () if crew is not None else tasks:
            if cancelled():
                raise Stopped
            self.engine.track(state, state.order[task.first : task.last], block)
        spent = (time.perf_counter() - started) * (self.workers if crew is not None else 1)
        self._seconds_per_turn = spent / block / len(alive)

    def _chunk(self, alive: int, crew: bool) -> int:
        if not crew:
            return alive if self.engine.on_device else MOST_IN_CHUNK
        share = -(-alive // self.workers)
        return min(MOST_IN_CHUNK, max(min(share, _LEAST_IN_CHUNK), -(-share // _CHUNKS)))

    def _block(self, alive: int, begun: float) -> int:
        """Turns until the next report: about a second's work at first, ten in long tracks."""
        wanted = (time.monotonic() - begun) * _BLOCK_SHARE
        seconds = min(max(wanted, _BLOCK_SECONDS), _LONGEST_BLOCK_SECONDS)
        return max(1, int(seconds * self.workers / self.seconds(alive, 1)))

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


def _guessed_seconds(lattice: Lattice) -> float:
    elements = lattice.plain["elements"]
    kicks = sum(kicks_of(elements[name]) for name in lattice.element_names)
    return _SECONDS_PER_ELEMENT * len(lattice.element_names) + _SECONDS_PER_KICK * kicks


def criterion(lattice: Lattice, turns: int) -> str:
    """Return in words what counts as survived in this ring."""
    limit = lattice.global_limit_m
    bound = f"|x| and |y| <= {limit:g} m wherever drifts check it" if limit else "no global limit"
    walls = "its apertures" if lattice.has_aperture else "no apertures (it has none)"
    return (
        f"survived: alive (state 1) with finite coordinates after {turns} turns from the start "
        f"of the ring (element 0); the ring's limits are {walls}, {bound}"
    )
