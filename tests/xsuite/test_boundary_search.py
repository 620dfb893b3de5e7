"""Boundaries and apertures against closed forms and against xtrack by itself."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input
from sciharness.errors import DataError, RequestError
from sciharness_xsuite import plugin

Attempt = Callable[..., Any]
SMALL = {"largest": 0.1, "max_tracks": 150}
BOX = {"__class__": "LimitRect", "min_x": -0.03, "max_x": 0.03, "min_y": -0.03, "max_y": 0.03}


def alive(path: Path, starts: list[list[float]], turns: int) -> list[bool]:
    """Track with xtrack alone, as a file reads it, and say who is alive."""
    import xtrack

    line = xtrack.Line.from_dict(json.loads(path.read_text("utf-8")))
    columns = dict(zip(("x", "px", "y", "py", "zeta", "delta"), np.array(starts).T, strict=True))
    particles = line.build_particles(**columns)
    line.track(particles, num_turns=turns)
    particles.sort(interleave_lost_particles=True)
    return [bool(state > 0) for state in particles.state]


def test_the_boundary_of_a_linear_ring_is_where_the_closed_form_says(
    attempt: Attempt,
    linear: Callable[..., Any],
    matrices: Callable[..., Any],
    write: Callable[..., Path],
) -> None:
    path = write(linear(wall=BOX))

    found = attempt("survival_boundary", SMALL, {"lattice": path}).metrics

    # What one metre at the start becomes at the wall, in any of 128 turns.
    to_wall, turn = matrices()
    swing = max(abs((to_wall @ np.linalg.matrix_power(turn, n))[0, 0]) for n in range(128))
    # Both ends were tracked, so the truth lies between them but for rounding of the maps.
    assert found["last_survivor"] - 1e-12 <= 0.03 / swing <= found["first_loss"] + 1e-12
    assert found["bracket_width"] <= 1e-6
    assert found["tracks"] <= 150


def test_the_bracket_of_the_seeds_search_needs_few_particles_and_holds_in_xtrack(
    attempt: Attempt, ring: Callable[..., Any], write: Callable[..., Path]
) -> None:
    path = write(ring())

    found = attempt("survival_boundary", {"num_turns": 128}, {"lattice": path}).metrics

    ends = [[found[name], 0, 0, 0, 0, 0] for name in ("last_survivor", "first_loss")]
    assert alive(path, ends, 128) == [True, False]
    assert found["bracket_width"] <= 1e-6
    assert found["tracks"] <= 150


def test_a_loss_far_inside_is_found_and_said(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    # 14 mm to 17 mm is shut, further out is open again up to 30 mm; the first scan,
    # every 11 mm, passes over it.
    slit = {
        "__class__": "LimitPolygon",
        "x_vertices": [-0.03, 0.014, 0.014, 0.017, 0.017, 0.03, 0.03, -0.03],
        "y_vertices": [-0.03, -0.03, 0.01, 0.01, -0.03, -0.03, 0.03, 0.03],
    }
    path = write(linear(start=slit))

    coarse = {**SMALL, "num_turns": 1, "scan_points": 10}
    told = attempt("survival_boundary", coarse, {"lattice": path})

    assert told.metrics["first_loss"] == pytest.approx(0.014, abs=2e-6)
    assert told.metrics["outermost_survivor"] > 0.017
    assert any("beyond the first loss some survive" in note for note in told.notes)


def test_without_any_loss_it_says_up_to_where(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    path = write(linear())

    told = attempt("survival_boundary", {"largest": 0.02}, {"lattice": path})

    assert told.metrics["none_lost_up_to"] == 0.02
    assert "boundary" not in told.metrics
    assert any("no aperture" in note for note in told.notes)


def test_a_centre_outside_the_aperture_is_no_boundary(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    path = write(linear(wall=BOX))

    told = attempt("survival_boundary", {**SMALL, "start": {"y": 0.05}}, {"lattice": path})

    assert told.metrics["first_loss"] == 0.0
    assert "boundary" not in told.metrics
    assert "is lost already" in told.notes[0]


def test_every_tracked_particle_is_in_the_table(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    told = attempt("survival_boundary", SMALL, {"lattice": write(linear(wall=BOX))})

    rows = list(csv.DictReader(told.artifacts["boundary.csv"].open(encoding="utf-8")))
    lost = [float(row["amplitude"]) for row in rows if row["survived"] == "0"]
    assert len(rows) == told.metrics["tracks"]
    assert min(lost) == told.metrics["first_loss"]
    assert {row["lost_at_element"] for row in rows if row["survived"] == "0"} == {"wall"}


def test_the_aperture_of_an_ellipse_is_that_ellipse(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    wall = {"__class__": "LimitEllipse", "a": 0.03, "b": 0.03}
    path = write(linear(start=wall))
    request = {"r_max": 0.1, "num_turns": 64, "angles": 37, "angle_max_deg": 180.0}

    found = attempt("dynamic_aperture", request, {"lattice": path}).metrics

    # Tracked ends lie on both sides of the circle, at most the bracket apart.
    assert found["da_min"] == pytest.approx(0.03, abs=found["bracket_width"])
    assert found["da_mean"] == pytest.approx(0.03, abs=found["bracket_width"])
    # Half a circle; an error dr of the radius changes r^2/2 by r dr.
    half_circle = math.pi * 0.03**2 / 2
    assert found["da_area"] == pytest.approx(half_circle, abs=math.pi * 0.03 * 1e-4)
    assert found["bracket_width"] <= 1e-4


def test_sigma_units_are_beam_sizes_and_need_emittances(
    attempt: Attempt,
    linear: Callable[..., Any],
    matrices: Callable[..., Any],
    write: Callable[..., Path],
) -> None:
    path = write(linear(start={"__class__": "LimitEllipse", "a": 0.03, "b": 0.03}))
    request = {"r_max": 20.0, "num_turns": 16, "angles": 2, "units": "sigma"}

    with pytest.raises(RequestError, match="emittances"):
        attempt("dynamic_aperture", request, {"lattice": path})
    size = {"nemitt_x_m": 1e-5, "nemitt_y_m": 1e-5}
    found = attempt("dynamic_aperture", {**request, **size}, {"lattice": path}).metrics

    # At a waist beta = |M12| / sin(2 pi q); sigma = sqrt(beta emittance / (beta0 gamma0)).
    emittance = 1e-5 / (1e9 / 938_272_088.16)
    edges = []
    for turn in (matrices()[1], matrices(-0.6, 0.6)[1]):
        cosine = np.trace(turn) / 2
        edges.append(0.03 / math.sqrt(abs(turn[0, 1]) / math.sqrt(1 - cosine**2) * emittance))
    # Brackets of 0.02 sigma.
    assert (found["da_min"], found["da_max"]) == pytest.approx(sorted(edges), abs=0.021)


def test_rays_without_a_loss_are_counted_and_said(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    flat = {**BOX, "min_y": -0.5, "max_y": 0.5}
    request = {"r_max": 0.1, "num_turns": 16, "angles": 3, "scan_points": 12}

    told = attempt("dynamic_aperture", request, {"lattice": write(linear(start=flat))})

    assert told.metrics["angles_none_lost"] == 1
    assert any("lower bounds" in note for note in told.notes)
    assert told.artifacts["aperture.png"].read_bytes().startswith(b"\x89PNG")


def test_momentum_apertures_hold_in_xtrack(
    attempt: Attempt, ring: Callable[..., Any], write: Callable[..., Path]
) -> None:
    path = write(ring())

    found = attempt("momentum_aperture", {"num_turns": 64}, {"lattice": path}).metrics

    up, down = found["momentum_aperture_up"], found["momentum_aperture_down"]
    edge = 1.01 * found["bracket_width"]
    starts = [[0, 0, 0, 0, 0, one] for one in (up, up + edge, down, down - edge)]
    assert alive(path, starts, 64) == [True, False, True, False]
    assert down < 0 < up
    assert found["momentum_aperture"] == min(up, -down)


def test_a_direction_that_moves_nothing_is_refused(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    with pytest.raises(RequestError, match="a coordinate that changes"):
        attempt("survival_boundary", {"direction": {"x": 0.0}}, {"lattice": write(linear())})


def test_a_cancelled_search_gives_no_boundary(
    attempt: Attempt, linear: Callable[..., Any], write: Callable[..., Path]
) -> None:
    with pytest.raises(DataError, match="cancelled"):
        attempt("survival_boundary", {}, {"lattice": write(linear(wall=BOX))}, cancelled=True)


def test_a_killed_search_goes_on_with_what_it_had_tracked(
    linear: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write(linear(wall=BOX))
    operation = next(
        one for one in plugin.harness_capabilities() if one.operation == "survival_boundary"
    )
    inputs = {"lattice": Input("lattice", path, "OTHER")}
    whole, first, again = (tmp_path / name for name in ("whole", "first", "again"))
    for folder in (whole, first, again):
        folder.mkdir()
    operation.run(operation.request(largest=0.1), Context(inputs=inputs, workspace=whole))
    stop_soon = Context(
        inputs=inputs,
        workspace=first,
        is_cancelled=lambda: (first / "checkpoint" / "tried.json").exists(),
    )
    with pytest.raises(DataError, match="cancelled"):
        operation.run(operation.request(largest=0.1), stop_soon)

    said: list[Any] = []
    goes_on = Context(
        inputs=inputs, workspace=again, restored=stop_soon.checkpoint(), emit=said.append
    )
    operation.run(operation.request(largest=0.1), goes_on)

    tables = [(one / "outputs" / "boundary.csv").read_bytes() for one in (whole, again)]
    assert tables[0] == tables[1]
    assert not any("scanning" in one["progress"]["message"] for one in said)
