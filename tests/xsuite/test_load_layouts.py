"""Layouts that users have: wrapped, old, packed; what is kept, mapped, dropped or refused."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.plugin import harness_capabilities
from sciharness_xsuite.requests import LoadCheckRequest

pytest.importorskip("xtrack")
Json = dict[str, Any]
Ring = Callable[..., Json]
Write = Callable[..., Path]

LENGTH = 8 * 4.7  # eight cells of 0.2 + 0.8 + 1.0 + 0.8 + 0.2 + 0.8 + 0.1 + 0.8 m


def test_a_line_at_the_top_is_read(ring: Ring, write: Write) -> None:
    found = read_lattice(write(ring()))

    assert found.circumference_m == pytest.approx(LENGTH, rel=1e-12)
    assert found.has_aperture and not found.has_rf
    assert found.classes["Drift"] == 32
    assert len(found.element_names) == 72


def test_a_line_under_a_field_with_its_particle_beside_is_read(ring: Ring, write: Write) -> None:
    line = ring()
    particle = line.pop("particle_ref")

    found = read_lattice(write({"line": line, "particle": particle}))

    assert found.reference.p0c_ev == 1e9
    assert any("beside the line" in note for note in found.notes)


def test_lists_of_elements_are_read_as_objects_are(ring: Ring, write: Write) -> None:
    line = ring()
    line["elements"] = [line["elements"][name] for name in line["element_names"]]

    found = read_lattice(write(line))

    assert found.plain["elements"] == read_lattice(write(ring())).plain["elements"]


def test_equal_names_of_different_elements_in_a_list_stay_apart(ring: Ring, write: Write) -> None:
    line = ring()
    line["elements"] = [dict(line["elements"][name]) for name in line["element_names"]]
    line["elements"][1]["length"] = 1.8

    assert read_lattice(write(line)).circumference_m == pytest.approx(LENGTH + 1.0, rel=1e-12)


def test_gzip_gives_the_same_line(ring: Ring, write: Write) -> None:
    packed = gzip.compress(json.dumps(ring()).encode())

    assert read_lattice(write(packed, "ring.json.gz")).circumference_m == pytest.approx(LENGTH)


def test_combined_function_magnets_of_old_files_become_bends(ring: Ring, write: Write) -> None:
    line = ring()
    old = {"__class__": "CombinedFunctionMagnet", "length": 1.0, "k0": 0.4, "h": 0.4, "k1": 0.1}
    line["elements"]["b"] = old

    found = read_lattice(write(line))

    bend = found.line["b"]
    assert found.classes["Bend"] == 8
    assert (bend.angle, bend.k0, bend.k1) == (0.4, 0.4, 0.1)
    assert any("CombinedFunctionMagnet to Bend (1 elements)" in note for note in found.notes)
    assert any("curvature h to angle" in note for note in found.notes)


def test_what_xtrack_writes_is_read_to_the_same_optics(tmp_path: Path) -> None:
    """Every kind of element that a ring may hold, through xtrack's own writer."""
    import xtrack as xt

    line = xt.Line(
        elements=[
            xt.Quadrupole(length=0.2, k1=1.2, shift_x=1e-4),
            xt.Drift(length=0.8),
            xt.RBend(length_straight=1.0, angle=np.pi / 8),
            xt.Multipole(knl=[0, 0, 0.3], ksl=[0, 0, 0, 1.0]),
            xt.Octupole(length=0.1, k3=10.0),
            xt.Quadrupole(length=0.2, k1=-1.2, rot_s_rad=1e-3),
            xt.Cavity(voltage=1e4, frequency=1e6, phase=0),
            xt.Rotation(rot_s_rad=1e-4),
            xt.Translation(shift_x=1e-5),
            xt.UniformSolenoid(length=0.2, ks=1e-3),
            xt.LimitRectEllipse(max_x=0.1, max_y=0.1, a=0.1, b=0.1),
            xt.LimitPolygon(x_vertices=[-0.1, 0.1, 0.1, -0.1], y_vertices=[-0.1, -0.1, 0.1, 0.1]),
            xt.LimitRacetrack(min_x=-0.1, max_x=0.1, min_y=-0.1, max_y=0.1, a=0.01, b=0.01),
            xt.DipoleEdge(k=0.1, e1=0.1),
            xt.Device(length=0.3),
        ]
        * 2
    )
    line.particle_ref = xt.Particles("proton", p0c=1e9)
    line.slice_thick_elements(
        [xt.Strategy(None), xt.Strategy(xt.Uniform(2, mode="thick"), element_type=xt.Quadrupole)]
    )
    path = tmp_path / "ring.json"
    line.to_json(path)

    found = read_lattice(path)

    start = {"x": [1e-3], "px": [1e-4], "y": [2e-3], "delta": [1e-3]}
    ends = []
    for one in (line, found.line):
        particles = one.build_particles(particle_ref=one.particle_ref, **start)
        one.track(particles)
        ends.append([float(getattr(particles, name)[0]) for name in ("x", "px", "y", "py", "zeta")])
    assert ends[0] == ends[1]  # bit for bit: the same numbers in the same elements
    assert found.has_aperture and found.has_rf


def test_a_shift_that_the_writer_leaves_out_is_zero(ring: Ring, write: Write) -> None:
    """xtrack writes an XYShift without its zeros and reads it back with NaN."""
    import xtrack

    line = ring()
    line["elements"]["move"] = {"__class__": "XYShift", "dx": 1e-3}
    line["element_names"].append("move")
    raw = xtrack.Line.from_dict(json.loads(json.dumps(line)), verbose=False)
    assert np.isnan(raw["move"].dy)

    found = read_lattice(write(line))

    assert (found.line["move"].dx, found.line["move"].dy) == (1e-3, 0.0)
    assert any("XYShift" in note for note in found.notes)


def test_files_of_several_lines_are_refused_by_name(ring: Ring, write: Write) -> None:
    document = {"__class__": "Environment", "elements": {}, "lines": {"b1": {}, "b2": {}}}

    with pytest.raises(DataError, match="Environment with the lines b1, b2"):
        read_lattice(write(document))


@pytest.mark.parametrize(
    ("particle", "said"),
    [
        (None, "no reference particle"),
        ({"mass0": 1.0, "q0": 1.0}, "no momentum"),
        ({"mass0": 1.0, "q0": 1.0, "p0c": [float("nan")]}, "finite"),
        ({"mass0": -1.0, "q0": 1.0, "p0c": 1.0}, "above 0"),
        ({"mass0": 1.0, "q0": 0, "p0c": 1.0}, "charge"),
        ("__import__('os')", "particle_ref .__import__"),
    ],
)
def test_a_reference_particle_that_is_missing_or_wrong_is_named(
    ring: Ring, write: Write, particle: Any, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read_lattice(write(ring(particle_ref=particle)))


def test_the_momentum_may_be_given_as_gamma(ring: Ring, write: Write) -> None:
    particle = {"mass0": 938272088.16, "q0": 1.0, "gamma0": [2.0]}

    found = read_lattice(write(ring(particle_ref=particle)))

    # p0c = mass0 sqrt(gamma^2 - 1); one rounding each of square, root and product
    assert found.reference.p0c_ev == pytest.approx(938272088.16 * 3**0.5, rel=4e-16)


def test_a_switched_off_limit_is_said(ring: Ring, write: Write) -> None:
    found = read_lattice(write(ring(config={})))

    assert found.global_limit_m is None
    assert any("switches the limit" in note for note in found.notes)


def test_a_limit_without_a_kernel_is_refused(ring: Ring, write: Write) -> None:
    with pytest.raises(DataError, match="there are kernels for 1"):
        read_lattice(write(ring(config={"XTRACK_GLOBAL_XY_LIMIT": 0.5})))


def test_an_element_that_xtrack_refuses_is_named(ring: Ring, write: Write) -> None:
    line = ring()
    line["elements"]["wall"] = {"__class__": "LimitPolygon", "x_vertices": [0.0, 1.0]}

    with pytest.raises(DataError, match="elements.wall"):
        read_lattice(write(line))


def test_load_check_says_what_a_physicist_wants_to_know(
    ring: Ring, write: Write, call: Callable[..., Any]
) -> None:
    operation = next(one for one in harness_capabilities() if one.operation == "load_check")

    ran = call(operation.run, LoadCheckRequest(), {"lattice": write(ring(aperture=False))})

    assert ran.outcome.metrics["pure_dipoles"] == 8
    assert ran.outcome.metrics["stable"] == 1
    assert "no aperture" in ran.notes
    assert set(ran.outcome.metrics) <= set(operation.metrics)
    assert ran.json("lattice_check.json")["reference"]["p0c_ev"] == 1e9


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["__class__", "k1", "elements", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    where=st.sampled_from(["elements", "element_names", "particle_ref", "config", "qf", "k1"]),
    value=_VALUES,
)
def test_any_value_anywhere_is_read_or_refused_with_a_message(
    ring: Ring, write: Write, where: str, value: Any
) -> None:
    line = ring(cells=1)
    if where == "qf":
        line["elements"]["qf"] = value
    elif where == "k1":
        line["elements"]["qf"]["k1"] = value
    else:
        line[where] = value

    with contextlib.suppress(DataError):  # any other error fails the test
        assert read_lattice(write(line)).element_names
