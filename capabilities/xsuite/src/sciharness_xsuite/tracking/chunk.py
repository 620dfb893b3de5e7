"""One chunk of particles through some turns with xtrack's kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen

from sciharness_xsuite.lattice.record import Reference
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.record import Floats, Integers
from sciharness_xsuite.tracking.state import FLOATS, INTEGERS, State

_NUMBERS = ("particle_id", "parent_particle_id")
_LIGHT_M_PER_S = 299_792_458.0


@frozen
class _Record:
    """xtrack's particles and views of their arrays, which are slow to make."""

    particles: Any  # Any: xtrack has no types
    views: Mapping[str, Any]  # Any: arrays of the device


@define
class Engine:
    """A built line and particle records that are used again, one for each chunk size.

    ``step`` is the most turns in one call of the kernel, 0 for no bound: the
    clock of time-dependent elements then never depends on how turns are cut.
    """

    line: Any  # Any: xtrack has no types
    reference: Reference
    length_m: float
    step: int = 0
    on_device: bool = False
    _records: dict[int, _Record] = field(factory=dict)

    def begin(self, state: State, rows: slice, coordinates: Floats) -> None:
        """Fill rows of the state from coordinates, shape (n, 6)."""
        record = self._made(coordinates)
        self._records[len(coordinates)] = record  # the first chunk is often as large
        for name in FLOATS:
            state.field(name)[rows] = self._read(record, name)
        state.field("state")[rows] = 1
        state.field("at_turn")[rows] = 0
        state.field("at_element")[rows] = 0

    def track(self, state: State, places: Integers, turns: int) -> None:
        """Track the particles at ``places`` for ``turns`` turns and write them back."""
        record = self._record(len(places))
        self._load(record, state, places)
        turn, beta0 = (state.field(name)[places[0]].item() for name in ("at_turn", "beta0"))
        made = 0
        while made < turns:
            now = min(turns - made, self.step or turns)
            self._set_clock(record, turn + made, beta0)
            if not self._go(record, now):
                break
            made += now
        self._store(record, state, places)

    def _go(self, record: _Record, turns: int) -> bool:
        if record.particles._num_active_particles == 0:
            return False
        self.line.track(record.particles, num_turns=turns)
        return True

    def _record(self, count: int) -> _Record:
        if count not in self._records:
            if len(self._records) > 8:  # sizes change as particles are lost
                self._records.clear()
            self._records[count] = self._made(np.zeros((count, 6)))
        return self._records[count]

    def _made(self, coordinates: Floats) -> _Record:
        import xtrack

        particles = xtrack.Particles(
            _context=self.line._context,
            mass0=self.reference.mass0_ev,
            q0=self.reference.q0,
            p0c=self.reference.p0c_ev,
            **{name: coordinates[:, place] for place, name in enumerate(COORDINATES)},
        )
        names = (*FLOATS, *INTEGERS, *_NUMBERS)
        views = {name: getattr(particles._xobject, name).to_nplike() for name in names}
        return _Record(particles, views)

    def _load(self, record: _Record, state: State, places: Integers) -> None:
        count = len(places)
        for name in (*FLOATS, *INTEGERS):
            self._write(record, name, state.field(name)[places])
        for name in _NUMBERS:
            self._write(record, name, np.arange(count, dtype=np.int64))
        if not self.on_device:
            record.particles._num_active_particles = count
            record.particles._num_lost_particles = 0

    def _set_clock(self, record: _Record, turn: int, beta0: float) -> None:
        """The clock is a function of the turn alone, whatever the record was used for before."""
        seconds = self.length_m / (beta0 * _LIGHT_M_PER_S)
        record.particles._xobject.time_s = turn * seconds
        record.particles._xobject.reference_turns = float(turn)

    def _store(self, record: _Record, state: State, places: Integers) -> None:
        rows = places[self._read(record, "particle_id")]  # lost ones have moved to the end
        for name in (*FLOATS, *INTEGERS):
            state.field(name)[rows] = self._read(record, name)

    def _write(self, record: _Record, name: str, values: Any) -> None:  # Any: an array
        if self.on_device:
            values = self.line._context.nparray_to_context_array(values)
        record.views[name][:] = values

    def _read(self, record: _Record, name: str) -> Any:  # Any: an array
        values = record.views[name]
        return self.line._context.nparray_from_context_array(values) if self.on_device else values
