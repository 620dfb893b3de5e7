"""Exact dipole maps: the physics of the default, cheaper; and what is left alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.tracking import Tracker
from sciharness_xsuite.tracking.maps import exact_maps, is_pure_dipole, with_maps

pytest.importorskip("xtrack")
Ring = Callable[..., Any]
Write = Callable[..., Path]


def bundle(count: int, size: float = 1e-3, delta: float = 1e-3) -> Any:
    """The bundle of the benchmark: x up to 1 mm, y the other way round."""
    made = np.zeros((count, 6))
    made[:, 0] = np.linspace(0.0, size, count)
    made[:, 1] = 0.1 * made[:, 0]
    made[:, 2] = 0.5 * made[::-1, 0]
    made[:, 5] = delta
    return made


def test_exact_maps_agree_with_xtracks_default(ring: Ring, write: Write) -> None:
    lattice = read_lattice(write(ring()))

    exact, default = (
        Tracker(lattice, maps=maps).track(bundle(40), 16) for maps in ("exact", "xtrack")
    )

    # The default slices bends with a 4th order scheme nested in a 6th order one:
    # its own error is 1e-10 m in x and 1e-7 m in zeta after 16 turns.
    error = np.abs(exact.final - default.final).max(axis=0)
    assert (error[:4] <= 1e-9).all() and error[4] <= 1e-6
    assert (exact.survived == default.survived).all()


def test_the_exact_map_is_the_closed_form_of_a_sector_bend(ring: Ring, write: Write) -> None:
    """On the mid-plane a particle moves on a circle of radius (1 + delta) / k0."""
    angle, length, x0, delta = 0.4, 1.0, 2e-3, 1e-2
    bend = {"__class__": "Bend", "length": length, "angle": angle, "k0": angle}
    for side in ("entry", "exit"):
        bend[f"edge_{side}_active"] = 0
    one = ring(elements={"b": bend}, element_names=["b"])
    start = np.array([[x0, 0.0, 0.0, 0.0, 0.0, delta]])

    found = Tracker(read_lattice(write(one))).track(start, 1).final[0]

    rho, radius = length / angle, (1.0 + delta) * length / angle
    # The circle's centre lies `radius` inwards of the start; cut it with the exit plane.
    offset = rho + x0 - radius  # from the bend's centre to the orbit's, along the entry face
    across = offset * math.cos(angle) + math.sqrt(radius**2 - (offset * math.sin(angle)) ** 2)
    slope = -offset * math.sin(angle) / radius * (1.0 + delta)
    # A few roundings of numbers near 2.5 m, 2e-16 each.
    assert found[0] == pytest.approx(across - rho, abs=4e-15)
    assert found[1] == pytest.approx(slope, abs=4e-15)


@pytest.mark.parametrize("kicks", [0, 7])
def test_combined_function_bends_keep_their_kicks(ring: Ring, kicks: int) -> None:
    line = ring()
    line["elements"]["b"].update(k1=0.1, num_multipole_kicks=kicks)

    plain, pure = exact_maps(line)

    assert pure == 0
    assert plain["elements"]["b"] == {**line["elements"]["b"], "model": "bend-kick-bend"}


@pytest.mark.parametrize(
    "change", [{"model": "mat-kick-mat"}, {"model": "rot-kick-rot-low-order"}, {"angle": 0.0}]
)
def test_a_model_that_was_chosen_stays(ring: Ring, change: dict[str, Any]) -> None:
    line = ring()
    line["elements"]["b"].update(k1=0.1, **change)

    plain, _ = exact_maps(line)

    assert plain["elements"]["b"] == line["elements"]["b"]


def test_combined_function_bends_have_the_tune_of_the_default(ring: Ring, write: Write) -> None:
    line = ring()
    line["elements"]["b"].update(k1=0.05)
    lattice = read_lattice(write(line))

    exact = optics_at_start(with_maps(lattice, "exact"))
    default = optics_at_start(lattice)

    # As many kicks; what differs is the default's scheme between them, 2e-7 in large rings.
    assert abs(exact.qx - default.qx) <= 1e-6 and abs(exact.qy - default.qy) <= 1e-6


@pytest.mark.parametrize(
    ("change", "pure"),
    [
        ({}, True),
        ({"k1": 0.0, "knl": [0.0, 0.0]}, True),
        ({"model": "rot-kick-rot"}, True),
        ({"k1": 1e-6}, False),
        ({"k2": 0.1}, False),
        ({"knl": [0.0, 0.0, 1e-3]}, False),
        ({"ksl": [1e-6]}, False),
        ({"knl_rel": [0.0, 1e-4]}, False),
        ({"model": "mat-kick-mat"}, False),
    ],
)
def test_only_bends_of_a_dipole_field_alone_are_changed(
    ring: Ring, change: dict[str, Any], pure: bool
) -> None:
    bend = {**ring()["elements"]["b"], **change}

    assert is_pure_dipole(bend) is pure


def test_what_was_done_is_said(ring: Ring, write: Write) -> None:
    lattice = read_lattice(write(ring()))

    assert "8 pure dipoles" in Tracker(lattice).notes[0]
    assert "xtrack's defaults" in Tracker(lattice, maps="xtrack").notes[0]
