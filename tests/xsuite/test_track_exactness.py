"""Bit for bit: blocks, chunks, processes, checkpoints and extensions leave no trace."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.tracking import Tracker
from sciharness_xsuite.tracking import tracker as module
from sciharness_xsuite.tracking.crew import Crew, CrewError, Task
from sciharness_xsuite.tracking.saved import load, save

pytest.importorskip("xtrack")
Ring = Callable[..., Any]
Write = Callable[..., Path]
CAVITY = {"__class__": "Cavity", "voltage": 5e4, "frequency": 6.6e6, "phase": 0.0}


def spread(count: int) -> Any:
    """Particles from the axis to beyond the aperture, so that some are lost on the way."""
    draw = np.random.default_rng(3)
    made = np.zeros((count, 6))
    made[:, 0] = draw.uniform(0.0, 0.06, count)
    made[:, 2] = draw.uniform(0.0, 0.04, count)
    made[:, 5] = draw.uniform(-1e-3, 1e-3, count)
    return made


@pytest.fixture(params=["coasting", "rf", "clock"])
def lattice(request: pytest.FixtureRequest, ring: Ring, write: Write) -> Any:
    line = ring()
    if request.param != "coasting":
        line["elements"]["rf"] = {**CAVITY, "absolute_time": int(request.param == "clock")}
        line["element_names"].append("rf")
    return read_lattice(write(line))


def same(one: Any, two: Any) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name), equal_nan=name == "final")
        for name in ("survived", "lost_at_turn", "lost_at_element", "state", "final")
    )


def raw(lattice: Any, coordinates: Any, turns: int) -> Any:
    """Track with xtrack alone; return final coordinates and states by particle."""
    import xtrack

    line = Tracker(lattice).line
    names = ("x", "px", "y", "py", "zeta", "delta")
    columns = {name: coordinates[:, place] for place, name in enumerate(names)}
    one = lattice.reference
    particles = xtrack.Particles(mass0=one.mass0_ev, q0=one.q0, p0c=one.p0c_ev, **columns)
    line.track(particles, num_turns=turns)
    order = np.argsort(np.asarray(particles.particle_id))
    final = np.stack([np.asarray(getattr(particles, name))[order] for name in names], axis=1)
    return final, np.asarray(particles.at_turn)[order], np.asarray(particles.state)[order]


def test_the_result_is_that_of_xtrack_alone_in_the_order_of_the_input(lattice: Any) -> None:
    start = spread(120)
    found = Tracker(lattice).track(start, 40)
    assert 0 < found.survived.sum() < 120

    if any(one.get("absolute_time") for one in lattice.plain["elements"].values()):
        pytest.skip("xtrack's own clock depends on how turns are cut")
    final, turn, state = raw(lattice, start, 40)
    assert np.array_equal(found.final, final)
    assert np.array_equal(found.survived, state > 0)
    assert np.array_equal(found.lost_at_turn[~found.survived], turn[~found.survived])


def test_two_halves_are_a_whole_and_a_particle_alone_is_one_of_many(lattice: Any) -> None:
    start = spread(60)
    tracker = Tracker(lattice)
    whole = tracker.track(start, 32)

    state = tracker.begin(start)
    for turns in (1, 16, 17, 32):
        tracker.advance(state, min(state.field("at_turn")[state.alive()]), turns)
    assert same(tracker.result(state, 32, 32), whole)

    alone = tracker.track(start[17:18], 32)
    assert np.array_equal(alone.final[0], whole.final[17])


def test_processes_and_chunks_do_not_show(lattice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start = spread(150)
    one = Tracker(lattice).track(start, 24)

    monkeypatch.setattr(module, "_CREW_SECONDS", 0.0)
    monkeypatch.setattr(module, "_LEAST_IN_CHUNK", 7)
    for workers in (2, 3):
        assert same(Tracker(lattice, workers=workers).track(start, 24), one)


def test_a_saved_state_goes_on_as_if_nothing_had_been(lattice: Any, tmp_path: Path) -> None:
    start = spread(60)
    tracker = Tracker(lattice)
    state = tracker.begin(start)
    tracker.advance(state, 0, 20)
    save(tmp_path / "state.npz", state, start, 20, {})

    kept = load(tmp_path / "state.npz")
    again = Tracker(lattice)
    again.advance(kept.state, kept.turns, 48)

    assert same(again.result(kept.state, 48, 48), tracker.track(start, 48))
    assert np.array_equal(kept.start, start)


def test_a_cancelled_track_is_that_of_its_last_whole_block(
    lattice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = spread(30)
    monkeypatch.setattr(module, "MOST_IN_CHUNK", 10)
    monkeypatch.setattr(module.Tracker, "_block", lambda *_: 2)
    answers = iter([False] * 9 + [True] * 100)  # in the midst of a block of three chunks

    found = Tracker(lattice).track(start, 40, cancelled=lambda: next(answers))

    assert not found.complete and 0 < found.turns < 40
    assert same(found, Tracker(lattice).track(start, found.turns))


def test_an_extension_tracks_survivors_only(lattice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = Tracker(lattice)
    state = tracker.begin(spread(80))
    tracker.advance(state, 0, 30)
    living = len(state.alive())
    tracked: list[tuple[int, int]] = []
    engine = type(tracker.engine)
    usual = engine.track

    def counted(self: Any, state: Any, places: Any, turns: int) -> None:
        tracked.append((len(places), turns))
        usual(self, state, places, turns)

    monkeypatch.setattr(engine, "track", counted)
    tracker.advance(state, 30, 31)

    assert living < 80
    assert tracked == [(living, 1)]


def test_alive_without_finite_coordinates_is_not_survived(ring: Ring, write: Write) -> None:
    """Without the global limit xtrack calls a particle of NaN coordinates alive."""
    lattice = read_lattice(write(ring(aperture=False, config={})))
    start = np.zeros((2, 6))
    start[0, 0] = 0.9

    found = Tracker(lattice).track(start, 200)
    _, _, state = raw(lattice, start, 200)

    assert state.tolist() == [1, 1]
    assert found.survived.tolist() == [False, True]
    assert found.lost_at_turn[0] >= 0


def test_no_process_is_left_and_a_dead_one_is_named(ring: Ring, write: Write) -> None:
    tracker = Tracker(read_lattice(write(ring(cells=1))), workers=2)
    state = tracker.begin(spread(4))
    state.order[:] = range(4)
    broken = evolve(tracker.engine, line=None)
    before = _children()

    with Crew(broken, state, 2) as crew:
        assert len(_children() - before) == 2
        with pytest.raises(CrewError, match="NoneType"):
            crew.run([Task(0, 2, 1), Task(2, 4, 1)], lambda: False)
    assert _children() == before  # others may belong to the tests before


def _children() -> set[int]:
    """Return the processes that this one has started and not yet waited for."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for one in lists for pid in one.read_text().split()}


ORPHANS = """
import sys
from pathlib import Path
import numpy as np
from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.tracking import Tracker, tracker
tracker._CREW_SECONDS = 0.0
start = np.zeros((400, 6))
def say(part, message):
    print("going", flush=True)
Tracker(read_lattice(Path(sys.argv[1])), workers=2).track(start, 10**9, report=say)
"""


@pytest.mark.slow
def test_processes_end_with_a_killed_parent(ring: Ring, write: Write) -> None:
    words = [sys.executable, "-c", ORPHANS, str(write(ring()))]
    parent = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline().strip() == "going"
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    if not children.is_file():
        parent.kill()
        pytest.skip("this kernel does not list children")
    crew = [Path("/proc", number) for number in children.read_text("utf-8").split()]
    assert len(crew) == 2

    parent.kill()
    parent.communicate()

    for _ in range(600):  # each ends with its chunk: a second's work, on a busy machine more
        if not any(map(_runs, crew)):
            return
        time.sleep(0.1)
    raise AssertionError("a process goes on without its parent")


def _runs(process: Path) -> bool:
    try:
        return "\nState:\tZ" not in (process / "status").read_text("utf-8")
    except OSError:
        return False
