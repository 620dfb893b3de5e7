"""Scans: parameters of lattice and beam, reuse of finished cells, masked failures; convergence."""

from __future__ import annotations

import copy
import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.errors import DataError, RequestError

Attempt = Callable[..., Any]
BOX = {"__class__": "LimitRect", "min_x": -0.03, "max_x": 0.03, "min_y": -0.03, "max_y": 0.03}
TUNE = {"elements": ["qd"], "field": "k1", "start": -0.7, "stop": -0.5, "count": 3}


@pytest.fixture
def lattice(linear: Callable[..., Any], write: Callable[..., Path]) -> Path:
    return write(linear(wall=BOX))


def rows_of(told: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(told.artifacts["scan.csv"].open(encoding="utf-8")))


def test_an_element_field_is_set_and_its_tune_follows(
    attempt: Attempt, matrices: Callable[..., Any], lattice: Path
) -> None:
    told = attempt("scan", {"parameters": [TUNE]}, {"lattice": lattice})

    # Half the trace of the map is cos(2 pi q); xtrack's twiss finds it by finite differences.
    found = [(float(row["qd.k1"]), float(row["qx"])) for row in rows_of(told)]
    expected = [math.acos(np.trace(matrices(0.6, k1)[1]) / 2) / (2 * math.pi) for k1, _ in found]
    assert [k1 for k1, _ in found] == [-0.7, -0.6, -0.5]
    assert [tune for _, tune in found] == pytest.approx(expected, abs=1e-6)
    assert told.artifacts["scan.png"].read_bytes().startswith(b"\x89PNG")


def test_two_parameters_make_a_table_of_brackets(attempt: Attempt, lattice: Path) -> None:
    request = {
        "measure": "survival_boundary",
        "boundary": {"largest": 0.1, "num_turns": 16},
        "parameters": [
            {"elements": ["wall"], "field": "max_x", "values": [0.01, 0.02]},
            {"field": "y", "values": [0.0, 0.05], "name": "height"},
        ],
    }

    told = attempt("scan", request, {"lattice": lattice})

    rows = rows_of(told)
    assert list(rows[0])[:3] == ["wall.max_x", "height", "status"]
    high = [float(row["first_loss"]) for row in rows]
    assert 0 < high[0] < high[2]  # a narrower wall, an earlier loss
    assert (high[1], high[3]) == (0.0, 0.0)  # above the box all are lost
    assert [row["boundary"] for row in rows][1::2] == ["", ""]


def test_finished_cells_are_used_again_and_not_found_anew(attempt: Attempt, lattice: Path) -> None:
    before = attempt("scan", {"parameters": [TUNE]}, {"lattice": lattice})
    record = json.loads(before.artifacts["scan_cells.json"].read_text("utf-8"))
    record["cells"][0]["metrics"]["qx"] = 77.0  # a mark that no ring would give
    marked = lattice.with_name("cells.json")
    marked.write_text(json.dumps(record), "utf-8")

    wider = {**TUNE, "start": -0.8, "count": 4}
    told = attempt("scan", {"parameters": [wider]}, {"lattice": lattice, "previous": marked})

    assert told.metrics["cells_reused"] == 3
    assert rows_of(told)[1]["qx"] == "77.0"
    assert told.metrics["cells_finished"] == 4


def test_cells_of_another_lattice_are_not_used(
    attempt: Attempt, lattice: Path, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    before = attempt("scan", {"parameters": [TUNE]}, {"lattice": lattice})
    other = write(linear(), "other.json")

    files = {"lattice": other, "previous": before.artifacts["scan_cells.json"]}
    told = attempt("scan", {"parameters": [TUNE]}, files)

    assert told.metrics["cells_reused"] == 0
    assert any("another lattice" in note for note in told.notes)


def test_a_record_that_is_none_is_refused(attempt: Attempt, lattice: Path) -> None:
    with pytest.raises(DataError, match="no record of finished cells"):
        attempt("scan", {"parameters": [TUNE]}, {"lattice": lattice, "previous": lattice})


def test_an_unstable_ring_leaves_its_cell_empty_and_says_why(
    attempt: Attempt, ring: Callable[..., Any], write: Callable[..., Path]
) -> None:
    strength = {"elements": ["q*"], "field": "k1", "values": [0.5, 1.0, 4.0], "how": "scale"}

    told = attempt("scan", {"parameters": [strength]}, {"lattice": write(ring())})

    status = [row["status"] for row in rows_of(told)]
    assert status == ["finished", "finished", "failed"]
    assert told.metrics["cells_finished"] == 2
    assert any("not stable" in note for note in told.notes)


def test_conditions_and_links_leave_cells_out(attempt: Attempt, lattice: Path) -> None:
    middle = {**TUNE, "how": "scale", "start": 0.9, "stop": 1.1, "name": "middle"}
    pair = [middle, {**middle, "elements": ["hf"], "name": "half"}]
    near = {"first": "middle", "second": "half", "low": -0.01, "high": 0.01}

    kept = attempt("scan", {"parameters": pair, "keep": [near]}, {"lattice": lattice})
    linked = attempt("scan", {"parameters": pair, "linked": True}, {"lattice": lattice})

    for told in (kept, linked):
        found = [(row["middle"], row["half"]) for row in rows_of(told)]
        assert found == [("0.9", "0.9"), ("1.0", "1.0"), ("1.1", "1.1")]


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ({"elements": ["nobody"], "field": "k1", "values": [1.0]}, "no element is called"),
        ({"elements": ["wall"], "field": "k1", "values": [1.0]}, "has no number 'k1'"),
        ({"elements": ["wall"], "field": "__class__", "values": [1.0]}, "has no number"),
        ({"field": "k1", "values": [1.0]}, "without elements expected one of"),
        ({"field": "delta", "values": [0.0, 1e-3]}, "delta changes nothing in twiss"),
        ({"field": "p0c_ev"}, "either `values` or start"),
        ({"field": "p0c_ev", "start": 0.0, "stop": 1.0, "count": 3, "spacing": "log"}, "above 0"),
        ({"field": "p0c_ev", "values": [1.0, 1.0]}, "found one twice"),
    ],
    ids=["element", "field", "class", "beam", "no effect", "no values", "log of 0", "twice"],
)
def test_a_parameter_that_is_none_is_refused(
    attempt: Attempt, lattice: Path, parameter: dict[str, Any], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        attempt("scan", {"parameters": [parameter]}, {"lattice": lattice})


def test_an_aperture_scan_asks_for_its_radius(attempt: Attempt, lattice: Path) -> None:
    with pytest.raises(RequestError, match="outer radius"):
        attempt("scan", {"parameters": [TUNE], "measure": "dynamic_aperture"}, {"lattice": lattice})


def test_a_ring_of_pure_dipoles_is_converged(
    attempt: Attempt, ring: Callable[..., Any], write: Callable[..., Path]
) -> None:
    request = {"kicks": [2, 8], "num_particles": 40, "num_turns": 16}

    told = attempt("convergence", request, {"lattice": write(ring())})

    assert told.metrics["converged"] == 1
    assert told.metrics["xtrack_dq_max"] < 1e-7  # slicing error of xtrack's own default


def test_coarse_kicks_in_combined_magnets_are_found_and_said(
    attempt: Attempt, ring: Callable[..., Any], write: Callable[..., Path]
) -> None:
    plain = copy.deepcopy(ring())
    plain["elements"]["b"] |= {"k1": 0.05, "num_multipole_kicks": 1, "integrator": "uniform"}

    told = attempt("convergence", {"kicks": [8, 64], "num_particles": 0}, {"lattice": write(plain)})

    rows = list(csv.DictReader(told.artifacts["convergence.csv"].open(encoding="utf-8")))
    assert told.metrics["converged"] == 0
    assert "NOT converged" in told.notes[0]
    assert float(rows[0]["qx_apart"]) > float(rows[-2]["qx_apart"]) > 0
