"""The operation `track`: its table, resume after a kill, extension, cancel, refusals."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.errors import DataError, RequestError
from sciharness_xsuite.plugin import harness_capabilities
from sciharness_xsuite.requests import RandomSet, TrackRequest

pytest.importorskip("xtrack")
Ring = Callable[..., Any]
Write = Callable[..., Path]
Call = Callable[..., Any]
SET = RandomSet(60, {"x": (0.0, 0.06), "y": (0.0, 0.04)})


@pytest.fixture
def track() -> Any:
    return next(one for one in harness_capabilities() if one.operation == "track")


@pytest.fixture
def lattice(ring: Ring, write: Write) -> Path:
    return write(ring())


def rows(ran: Any) -> list[dict[str, str]]:
    with (ran.folder / "outputs" / "particles.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_table_is_whole_and_in_the_order_of_the_input(
    track: Any, lattice: Path, call: Call
) -> None:
    ran = call(track.run, TrackRequest(num_turns=30, random=SET), {"lattice": lattice}, seed=4)

    found = rows(ran)
    lost = [row for row in found if row["survived"] == "0"]
    assert [int(row["particle_id"]) for row in found] == list(range(60))
    assert 0 < len(lost) < 60
    assert ran.outcome.metrics["survived"] == 60 - len(lost)
    assert {row["lost_at_name"] for row in lost} <= {"wall", "d"}
    assert {row["reason"] for row in lost} <= {
        "outside an aperture of the lattice",
        "outside the global limit on |x| and |y|",
    }
    assert all(row["reason"] for row in lost)
    assert all(0 <= int(row["lost_at_turn"]) < 30 for row in lost)
    assert all(row["lost_at_turn"] == "-1" for row in found if row["survived"] == "1")
    assert set(ran.outcome.metrics) <= set(track.metrics)


def test_the_criterion_stands_in_every_result(track: Any, lattice: Path, call: Call) -> None:
    ran = call(track.run, TrackRequest(num_turns=2, points={"x": 1e-3}), {"lattice": lattice})

    document = ran.json("tracking.json")
    assert "alive (state 1) with finite coordinates after 2 turns" in document["criterion"]
    assert document["criterion"] in ran.notes
    assert document["start_element"] == {"index": 0, "name": "qf"}


def test_the_reason_tells_walls_from_the_global_limit(
    track: Any, ring: Ring, write: Write, lattice: Path, call: Call
) -> None:
    request = TrackRequest(num_turns=50, points={"x": 0.9})
    bare = write(ring(aperture=False), "bare.json")

    walls, limit = (
        rows(call(track.run, request, {"lattice": path}))[0]["reason"] for path in (lattice, bare)
    )

    assert walls == "outside an aperture of the lattice"
    assert limit == "outside the global limit on |x| and |y|"


def test_a_ring_without_aperture_is_a_warning(
    track: Any, ring: Ring, write: Write, call: Call
) -> None:
    path = write(ring(aperture=False))

    ran = call(track.run, TrackRequest(num_turns=1, points={"x": 1e-3}), {"lattice": path})

    assert "warning: the ring has no aperture" in ran.notes


def test_an_extension_is_what_one_long_track_would_have_been(
    track: Any, lattice: Path, call: Call
) -> None:
    files = {"lattice": lattice}
    short = call(track.run, TrackRequest(num_turns=20, random=SET), files, seed=4)
    previous = {**files, "previous": short.folder / "outputs" / "state.npz"}

    longer = call(track.run, TrackRequest(num_turns=50), previous)

    whole = call(track.run, TrackRequest(num_turns=50, random=SET), files, seed=4)
    assert rows(longer) == rows(whole)
    assert longer.json("tracking.json")["first_turn"] == 20


def test_a_cancelled_track_keeps_what_it_has_and_goes_on_from_there(
    track: Any, lattice: Path, call: Call
) -> None:
    files = {"lattice": lattice}
    answers: Iterator[bool] = iter([False] * 6 + [True] * 1000)
    request = TrackRequest(num_turns=40, random=SET, block_turns=1)

    stopped = call(track.run, request, files, seed=4, is_cancelled=lambda: next(answers))

    turns = stopped.json("tracking.json")["turns"]
    assert 0 < turns < 40
    assert f"stopped after {turns} of 40 turns" in stopped.notes
    state = {**files, "previous": stopped.folder / "outputs" / "state.npz"}
    rest = call(track.run, TrackRequest(num_turns=40), state)
    whole = call(track.run, TrackRequest(num_turns=40, random=SET), files, seed=4)
    assert rows(rest) == rows(whole)


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_killed_track_resumes_from_its_checkpoint(
    track: Any, lattice: Path, call: Call, tmp_path: Path
) -> None:
    files = {"lattice": lattice}
    request = TrackRequest(num_turns=40, random=SET, block_turns=5)
    seen: list[Any] = []

    def emit(message: Any) -> None:
        seen.append(message)
        if len(seen) == 4:
            raise Killed

    from sciharness import Context, Input

    folder = tmp_path / "killed"
    folder.mkdir()
    inputs = {"lattice": Input("lattice", lattice, "OTHER")}
    with pytest.raises(Killed):
        track.run(request, Context(inputs=inputs, workspace=folder, seed=4, emit=emit))

    resumed = call(track.run, request, files, seed=4, restored=folder / "checkpoint")

    whole = call(track.run, request, files, seed=4)
    first = next(one["progress"] for one in resumed.said if "progress" in one)
    assert first["fraction"] > 0
    assert rows(resumed) == rows(whole)


def test_a_checkpoint_of_other_particles_is_not_taken(
    track: Any, lattice: Path, call: Call
) -> None:
    files = {"lattice": lattice}
    request = TrackRequest(num_turns=10, random=SET)
    other = call(track.run, request, files, seed=9)

    again = call(track.run, request, files, seed=4, restored=other.folder / "checkpoint")

    assert rows(again) == rows(call(track.run, request, files, seed=4))


def test_progress_tells_turns_and_survivors(track: Any, lattice: Path, call: Call) -> None:
    request = TrackRequest(num_turns=6, random=SET, block_turns=2)

    ran = call(track.run, request, {"lattice": lattice})

    said = [one["progress"]["message"] for one in ran.said if "progress" in one]
    assert "60 particles, turns 0 to 6" in said[0] and "MB by estimate" in said[0]
    assert [text.split(",")[0] for text in said[1:]] == [f"turn {n} of 6" for n in (2, 4, 6)]


def test_turns_are_recorded_only_when_asked(track: Any, lattice: Path, call: Call) -> None:
    files = {"lattice": lattice}
    request = TrackRequest(num_turns=5, points={"x": (1e-3, 0.059)}, turn_by_turn=True)

    ran = call(track.run, request, files)
    plain = call(track.run, TrackRequest(num_turns=5, points={"x": (1e-3, 0.059)}), files)

    turns = np.load(ran.folder / "outputs" / "turns.npy")
    assert turns.shape == (6, 2, 6)
    assert turns[0, 0, 0] == 1e-3
    assert repr(float(turns[5, 0, 0])) == rows(ran)[0]["x_final [m]"]
    assert np.isnan(turns[5, 1]).all()  # lost
    assert not (plain.folder / "outputs" / "turns.npy").exists()
    assert rows(plain) == rows(ran)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"random": RandomSet(10_000_000, {"x": (0, 1e-3)}), "memory_limit_gb": 1.0}, "need about"),
        (
            {"points": {"x": 0.0}, "turn_by_turn": True, "num_turns": 10**9},
            "turn_by_turn would write",
        ),
        ({"points": {"x": 0.0}, "device": "gpu"}, "no GPU"),
    ],
)
def test_what_would_not_fit_is_refused_beforehand(
    track: Any, lattice: Path, call: Call, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        call(track.run, TrackRequest(**{"num_turns": 10, **fields}), {"lattice": lattice})


def test_a_state_of_another_lattice_is_refused(
    track: Any, ring: Ring, write: Write, lattice: Path, call: Call
) -> None:
    short = call(track.run, TrackRequest(num_turns=2, random=SET), {"lattice": lattice})
    line = ring()
    line["elements"]["qf"]["k1"] = 1.2001
    other = write(line, "other.json")

    with pytest.raises(DataError, match="lattice_sha256 differs"):
        call(
            track.run,
            TrackRequest(num_turns=4),
            {"lattice": other, "previous": short.folder / "outputs" / "state.npz"},
        )


def test_fewer_turns_than_were_made_are_refused(track: Any, lattice: Path, call: Call) -> None:
    short = call(track.run, TrackRequest(num_turns=5, random=SET), {"lattice": lattice})
    files = {"lattice": lattice, "previous": short.folder / "outputs" / "state.npz"}

    with pytest.raises(RequestError, match="the earlier track made 5 turns"):
        call(track.run, TrackRequest(num_turns=5), files)


@pytest.mark.parametrize("hostile", ["compressed", "pickle", "members", "cut", "text"])
def test_a_state_that_is_none_is_refused(
    track: Any, lattice: Path, call: Call, tmp_path: Path, hostile: str
) -> None:
    short = call(track.run, TrackRequest(num_turns=2, random=SET), {"lattice": lattice})
    good = short.folder / "outputs" / "state.npz"
    bad = tmp_path / "state.npz"
    with np.load(good) as arrays:
        kept = dict(arrays)
    if hostile == "compressed":
        np.savez_compressed(bad, **kept)
    elif hostile == "pickle":
        np.savez(bad, **{**kept, "start": np.array([object()], dtype=object)}, allow_pickle=True)
    elif hostile == "members":
        np.savez(bad, **kept, more=np.zeros(3))
    elif hostile == "cut":
        bad.write_bytes(good.read_bytes()[:-200])
    else:
        bad.write_text("not an archive", "utf-8")

    with pytest.raises(DataError, match="no saved state"):
        call(track.run, TrackRequest(num_turns=4), {"lattice": lattice, "previous": bad})


def test_a_state_promises_no_more_than_the_file_holds(
    track: Any, lattice: Path, call: Call, tmp_path: Path
) -> None:
    bad = tmp_path / "state.npz"
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("floats.npy", "integers.npy", "start.npy", "about.npy"):
            archive.writestr(name, b"\0" * 10_000_000)
    assert bad.stat().st_size < 100_000

    with pytest.raises(DataError, match="compressed or too large"):
        call(track.run, TrackRequest(num_turns=4), {"lattice": lattice, "previous": bad})


def test_a_parquet_table_holds_the_same(track: Any, lattice: Path, call: Call) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    files = {"lattice": lattice}
    one = call(track.run, TrackRequest(num_turns=10, random=SET), files, seed=4)
    two = call(track.run, TrackRequest(num_turns=10, random=SET, table="parquet"), files, seed=4)

    table = parquet.read_table(two.folder / "outputs" / "particles.parquet").to_pydict()

    for name in ("x_final [m]", "delta_final"):
        assert [repr(value) for value in table[name]] == [row[name] for row in rows(one)]
    assert [str(value) for value in table["lost_at_turn"]] == [r["lost_at_turn"] for r in rows(one)]


def test_requests_can_be_told_by_their_schema(track: Any) -> None:
    from sciharness.requests import check_request, request_schema

    schema = request_schema(track.request)
    good = {"num_turns": 10, "grid": {"x": [0, 0.06, 5]}, "offset": {"delta": 1e-3}}
    bad = {"num_turns": 10, "grid": {"z": [0, 0.06, 5]}}

    assert check_request(schema, good) == []
    assert "grid.z" in str(check_request(schema, bad)[0])
    assert json.dumps(schema)
