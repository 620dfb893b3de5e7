"""Where particles start: sets of the request, files, units."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input
from sciharness.errors import DataError, RequestError
from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.requests import PolarSet, RandomSet, TrackRequest
from sciharness_xsuite.tracking import sigmas
from sciharness_xsuite.tracking.files import read_particles
from sciharness_xsuite.tracking.particles import drawn, grid, points, polar, start_coordinates

pytest.importorskip("xtrack")
Write = Callable[..., Path]


def test_a_single_number_holds_for_all_points() -> None:
    found = points({"x": (0.0, 1e-3), "delta": 1e-4})

    assert found.tolist() == [[0, 0, 0, 0, 0, 1e-4], [1e-3, 0, 0, 0, 0, 1e-4]]


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(RequestError, match=r"points\.x has 2 values, another coordinate 3"):
        points({"x": (0.0, 1.0), "y": (0.0, 1.0, 2.0)})


def test_a_grid_is_every_combination() -> None:
    found = grid({"x": (0.0, 0.2, 3), "delta": (-1e-3, 1e-3, 2)})

    assert found[:, 0].tolist() == [0.0, 0.0, 0.1, 0.1, 0.2, 0.2]
    assert found[:, 5].tolist() == [-1e-3, 1e-3] * 3


def test_a_grid_too_large_is_refused_before_it_is_made() -> None:
    with pytest.raises(RequestError, match="1,000,000,000,000 particles"):
        grid({"x": (0.0, 1.0, 10**6), "y": (0.0, 1.0, 10**6)})


def test_draws_are_of_the_seed_and_of_each_coordinate_alone() -> None:
    one = drawn(RandomSet(50, {"x": (0.0, 1.0)}), 5)
    two = drawn(RandomSet(50, {"y": (0.0, 1.0), "x": (0.0, 1.0)}), 5)

    assert np.array_equal(one[:, 0], two[:, 0])
    assert not np.array_equal(two[:, 0], two[:, 2])
    assert not np.array_equal(one, drawn(RandomSet(50, {"x": (0.0, 1.0)}), 6))
    assert one[:, 0].min() >= 0 and one[:, 0].max() <= 1


def test_rays_run_from_the_inside_out() -> None:
    found = polar(PolarSet(r_max=2.0, radii=2, angles=3))

    # cos and sin of 0, 45 and 90 degrees, each within a rounding
    half = math.sqrt(0.5)
    wanted = [[1, 0], [2, 0], [half, half], [2 * half, 2 * half], [0, 1], [0, 2]]
    assert found[:, [0, 2]] == pytest.approx(np.array(wanted), abs=5e-16)


def test_rays_may_leave_out_the_axes() -> None:
    found = polar(PolarSet(r_max=1.0, radii=1, angles=2, endpoints=False))

    assert np.degrees(np.arctan2(found[:, 2], found[:, 0])) == pytest.approx([30, 60], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("p.csv", "x,y\n0.001,0\n0.002,1e-4\n", [[1e-3, 0], [2e-3, 1e-4]]),
        ("p.csv", "particle_id;x [mm];y [um]\n7;1;0\n9;2;100\n", [[1e-3, 0], [2e-3, 1e-4]]),
    ],
)
def test_tables_of_coordinates_are_read(
    write: Write, name: str, content: str, wanted: list[list[float]]
) -> None:
    found = read_particles(write(content, name))

    # 1e-3 and 1e-6 times the numbers: one rounding
    assert found[:, [0, 2]] == pytest.approx(np.array(wanted), rel=3e-16)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,foo\n1,2\n", "column 'foo' is no coordinate"),
        ("x\nabc\n", "line 2: expected a number, got 'abc'"),
        ("x,y\n1\n", "line 2 has 1 cells"),
        ("x\nnan\n", "not finite"),
        ("x [parsec]\n1\n", "unit 'parsec'"),
        ("x\n", "no particles"),
        ("", "no particles"),
    ],
)
def test_a_table_that_is_none_of_coordinates_is_refused(
    write: Write, content: str, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read_particles(write(content, "p.csv"))


def test_arrays_are_read_and_pickles_in_them_are_not(tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (mark,))

    numbers, objects = tmp_path / "n.npy", tmp_path / "o.npy"
    np.save(numbers, np.full((3, 6), 1e-3))
    np.save(objects, np.array([Hostile()], dtype=object), allow_pickle=True)

    assert read_particles(numbers).shape == (3, 6)
    np.load(objects, allow_pickle=True)
    assert mark.exists()
    mark.unlink()
    with pytest.raises(DataError, match="NPY"):
        read_particles(objects)
    assert not mark.exists()


def test_an_array_of_another_shape_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.zeros((3, 4)))

    with pytest.raises(DataError, match=r"shape \(3, 4\)"):
        read_particles(tmp_path / "p.npy")


def test_context_data_is_read_by_the_names_of_its_variables(tmp_path: Path) -> None:
    folder = tmp_path / "start"
    folder.mkdir()
    np.save(folder / "x.npy", np.linspace(0, 1e-3, 4))
    np.save(folder / "delta.npy", np.full(4, 1e-4))
    axes = {"particle": {"description": "number of the particle", "size": 4}}
    variables = {
        name: {"description": name, "file": f"{name}.npy", "axes": ["particle"]}
        for name in ("x", "delta")
    }
    text = json.dumps({"axes": axes, "variables": variables})
    (folder / "manifest.json").write_text(text, "utf-8")

    found = read_particles(folder)

    assert found[:, 0].tolist() == np.linspace(0, 1e-3, 4).tolist()
    assert found[:, 5].tolist() == [1e-4] * 4


def _context(tmp_path: Path, **inputs: Path) -> Context:
    return Context(
        inputs={name: Input(name, path, "OTHER") for name, path in inputs.items()},
        workspace=tmp_path,
    )


@pytest.mark.parametrize(
    ("request_fields", "said"),
    [
        ({}, "found nothing"),
        ({"points": {"x": 0.0}, "grid": {"x": (0.0, 1.0, 2)}}, "points and grid"),
        ({"points": {"x": float("inf")}}, "finite"),
        ({"points": {"x": 1.0}, "units": "sigma"}, "nemitt_x_m and nemitt_y_m"),
    ],
)
def test_a_start_that_is_not_plain_is_refused(
    ring: Callable[..., Any],
    write: Write,
    tmp_path: Path,
    request_fields: dict[str, Any],
    said: str,
) -> None:
    request = TrackRequest(num_turns=1, **request_fields)

    with pytest.raises(RequestError, match=said):
        start_coordinates(request, _context(tmp_path), read_lattice(write(ring())))


def test_a_sigma_is_the_size_of_the_matched_beam(
    ring: Callable[..., Any], write: Write, tmp_path: Path
) -> None:
    """Against xtrack's own normalised coordinates, which need the emittance too."""
    lattice = read_lattice(write(ring()))
    request = TrackRequest(
        num_turns=1,
        points={"x": (1.0, 0.0), "px": (0.5, 0.0), "y": (0.0, 2.0)},
        units="sigma",
        nemitt_x_m=2e-6,
        nemitt_y_m=1e-6,
    )

    found = start_coordinates(request, _context(tmp_path), lattice)

    line = lattice.line
    wanted = line.build_particles(
        x_norm=[1.0, 0.0],
        px_norm=[0.5, 0.0],
        y_norm=[0.0, 2.0],
        nemitt_x=2e-6,
        nemitt_y=1e-6,
        particle_ref=line.particle_ref,
        method="4d",
    )
    # Two ways to find the optics: by exact maps, and by xtrack's slicing; beta to 1e-6.
    for place, name in enumerate(("x", "px", "y", "py")):
        assert found[:, place] == pytest.approx(getattr(wanted, name), rel=2e-5, abs=1e-9)
    beam = sigmas(lattice, nemitt_x_m=2e-6, nemitt_y_m=1e-6)
    assert beam.x_m == pytest.approx(found[0, 0], rel=1e-12)
