"""The operation ``track``, step by step."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, frozen

from sciharness import Context, Outcome
from sciharness.errors import RequestError
from sciharness_xsuite.lattice import Lattice, read_lattice
from sciharness_xsuite.requests import TrackRequest
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.crew import Stopped
from sciharness_xsuite.tracking.particles import planned_count, start_coordinates
from sciharness_xsuite.tracking.record import Floats
from sciharness_xsuite.tracking.saved import (
    Saved,
    check_identity,
    identity,
    load,
    save,
)
from sciharness_xsuite.tracking.state import BYTES_PER_PARTICLE, State
from sciharness_xsuite.tracking.story import Story, document_of, metrics_of, notes_of
from sciharness_xsuite.tracking.tables import write_csv, write_parquet
from sciharness_xsuite.tracking.tracker import Tracker

_CHECKPOINT = "state.npz"
_SHARE_OF_SAVING = 20  # at most one twentieth of the time goes into checkpoints
_LIBRARIES_BYTES = 400 * 2**20


def run(request: TrackRequest, context: Context) -> Outcome:
    """Track, checkpoint, write the table of particles and what came out.

    Raises:
        DataError: lattice, particles or an earlier result are refused.
        RequestError: there is no source of particles, several, or no room.
    """
    lattice = read_lattice(context.inputs["lattice"].path)
    tracker = Tracker(lattice, maps=request.maps, workers=context.workers, device=request.device)
    begun = _begun(request, context, lattice, tracker)
    _check_memory(request, len(begun.start))
    work = _Work(request, context, tracker, begun, time.monotonic())
    context.progress(
        begun.turns / request.num_turns,
        f"{len(begun.start):,} particles, turns {begun.turns:,} to {request.num_turns:,}, "
        f"{_estimate(tracker, begun, request.num_turns)}",
    )
    state, turns = work.done()
    tracked = tracker.result(state, turns, request.num_turns)
    story = Story(lattice, tracked, begun.turns, request, time.monotonic() - work.started)
    save(context.output("state.npz", "tracking_state"), state, begun.start, turns, begun.about)
    if request.table == "csv":
        table = context.output("particles.csv", "DATASET")
        write_csv(table, begun.start, tracked, lattice.element_names)
    else:
        table = context.output("particles.parquet", "DATASET")
        write_parquet(table, begun.start, tracked, lattice.element_names)
    document_of(story, context.output("tracking.json", "analysis_result"))
    return Outcome(metrics_of(story), notes_of(story))


@define
class _Work:
    """Tracking that is cut into blocks, each followed by a checkpoint."""

    request: TrackRequest
    context: Context
    tracker: Tracker
    begun: Saved
    started: float
    _saved_at: float = 0.0
    _saving_seconds: float = 0.0

    def done(self) -> tuple[State, int]:
        """Return the last whole state and its turns."""
        state, first, last = self.begun.state, self.begun.turns, self.request.num_turns
        recorder = _recorder(self.request, self.context, self.begun)
        self._keep(state, first)
        try:
            turns = self.tracker.advance(
                state,
                first,
                last,
                report=lambda part, message: self.context.progress(part, message),
                cancelled=self._stop,
                after_block=lambda now, turn: self._after(now, turn, last, recorder),
                block_turns=1 if recorder else self.request.block_turns,
            )
        except Stopped:
            # Stopped in the midst of a block: the checkpoint is the last whole state.
            kept = load(self._file())
            return kept.state, kept.turns
        return state, turns

    def _after(
        self, state: State, turn: int, last: int, recorder: Callable[[State, int], None] | None
    ) -> None:
        if recorder is not None:
            recorder(state, turn)
        idle = time.monotonic() - self._saved_at
        asked = self.request.block_turns > 0
        if turn < last and (asked or idle >= _SHARE_OF_SAVING * self._saving_seconds):
            self._keep(state, turn)

    def _keep(self, state: State, turn: int) -> None:
        before = time.monotonic()
        save(self._file(), state, self.begun.start, turn, self.begun.about)
        self._saved_at = time.monotonic()
        self._saving_seconds = self._saved_at - before

    def _file(self) -> Path:
        return self.context.checkpoint() / _CHECKPOINT

    def _stop(self) -> bool:
        limit = self.request.time_limit or self.context.time_limit
        late = limit is not None and time.monotonic() - self.started > limit
        return late or self.context.cancelled


def _begun(request: TrackRequest, context: Context, lattice: Lattice, tracker: Tracker) -> Saved:
    """Return where to go on: a checkpoint, an earlier result, or new particles."""
    wanted = identity(lattice.sha256, request.maps, tracker.versions())
    if "previous" in context.inputs:
        return _gone_on(request, context, wanted)
    _check_memory(request, planned_count(request))
    start = start_coordinates(request, context, lattice)
    about = {**wanted, "start_sha256": hashlib.sha256(start.tobytes()).hexdigest()}
    restored = context.restored
    if restored is not None and (restored / _CHECKPOINT).is_file():
        kept = load(restored / _CHECKPOINT)
        if np.array_equal(kept.start, start):
            check_identity(kept, wanted, "checkpoint")
            return kept
    return Saved(tracker.begin(start), start, 0, about)


def _gone_on(request: TrackRequest, context: Context, wanted: dict[str, Any]) -> Saved:
    path = context.inputs["previous"].path
    path = path / "state.npz" if path.is_dir() else path
    kept = load(path)
    check_identity(kept, wanted, "previous")
    sources = [name for name in ("points", "grid", "random", "polar") if getattr(request, name)]
    if sources or "particles" in context.inputs:
        raise RequestError(
            "particles of an earlier track go on as they are; others cannot be given",
            where="request",
            hint="Leave the source of particles out.",
        )
    if kept.turns >= request.num_turns:
        raise RequestError(
            f"num_turns counts from the start: the earlier track made {kept.turns:,} turns, "
            f"asked for are {request.num_turns:,}",
            where="request",
        )
    restored = context.restored
    if restored is not None and (restored / _CHECKPOINT).is_file():
        later = load(restored / _CHECKPOINT)
        if later.about == kept.about and np.array_equal(later.start, kept.start):
            return later
    return kept


@frozen
class _Recorder:
    """Writes all coordinates after every turn into a file, row by row."""

    turns: Floats
    first: int

    def __call__(self, state: State, turn: int) -> None:
        alive = state.field("state") > 0
        for place, name in enumerate(COORDINATES):
            self.turns[turn - self.first, :, place] = np.where(alive, state.field(name), np.nan)


def _recorder(
    request: TrackRequest, context: Context, begun: Saved
) -> Callable[[State, int], None] | None:
    if not request.turn_by_turn:
        return None
    shape = (request.num_turns - begun.turns + 1, len(begun.start), 6)
    path = context.output("turns.npy", "OTHER")
    turns = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    turns[:] = np.nan
    recorder = _Recorder(turns, begun.turns)
    recorder(begun.state, begun.turns)
    return recorder


def _check_memory(request: TrackRequest, particles: int) -> None:
    need = memory_bytes(particles)
    if need > request.memory_limit_gb * 1e9:
        raise RequestError(
            f"{particles:,} particles need about {need / 1e9:.2g} GB of memory, the limit is "
            f"{request.memory_limit_gb:g} GB",
            where="request",
            hint="Track fewer particles, or raise memory_limit_gb.",
        )
    disk = 48 * particles * (request.num_turns + 1) if request.turn_by_turn else 0
    if disk > request.memory_limit_gb * 1e9:
        raise RequestError(
            f"turn_by_turn would write about {disk / 1e9:.2g} GB, the limit is "
            f"{request.memory_limit_gb:g} GB",
            where="request",
            hint="Track fewer particles or turns, or raise memory_limit_gb.",
        )


def memory_bytes(particles: int) -> float:
    """Return about how many bytes tracking so many particles takes."""
    return _LIBRARIES_BYTES + particles * (BYTES_PER_PARTICLE + 4 * 48)


def _estimate(tracker: Tracker, begun: Saved, turns: int) -> str:
    seconds = tracker.seconds(len(begun.state.alive()), turns - begun.turns) / tracker.workers
    memory = memory_bytes(len(begun.start)) / 1e6
    return f"about {_said(seconds)} and {memory:,.0f} MB by estimate"


def _said(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
