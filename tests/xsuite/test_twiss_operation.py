"""Optics against closed forms and another ring, and the reason where there is none."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness_xsuite.plugin import harness_capabilities
from sciharness_xsuite.requests import TwissRequest

pytest.importorskip("xtrack")
Ring = Callable[..., Any]
Write = Callable[..., Path]
Call = Callable[..., Any]


@pytest.fixture
def twiss() -> Any:
    return next(one for one in harness_capabilities() if one.operation == "twiss")


def test_a_fodo_ring_has_the_tune_of_its_matrices(
    twiss: Any, ring: Ring, write: Write, call: Call
) -> None:
    """Straight cells: the tune is arccos of half the trace of the product of matrices."""
    line = ring(aperture=False)
    line["elements"]["b"] = {"__class__": "Drift", "length": 1.0}
    line["elements"]["sx"] = {"__class__": "Drift", "length": 0.1}

    ran = call(twiss.run, TwissRequest(), {"lattice": write(line)})

    for plane, sign in (("x", 1.0), ("y", -1.0)):
        cell = np.eye(2)
        for name in ("qf", "d", "b", "d", "qd", "d", "sx", "d"):
            one = line["elements"][name]
            cell = _matrix(one["length"], sign * one.get("k1", 0.0)) @ cell
        phase = math.acos(np.trace(cell) / 2.0)
        # eight equal cells; the closed orbit search and differences leave 1e-9
        assert ran.outcome.metrics[f"q{plane}"] == pytest.approx(
            8 * phase / (2 * math.pi), abs=1e-8
        )
    assert set(ran.outcome.metrics) <= set(twiss.metrics)


def _matrix(length: float, k1: float) -> Any:
    if k1 == 0.0:
        return np.array([[1.0, length], [0.0, 1.0]])
    root = math.sqrt(abs(k1))
    c, s = (math.cos, math.sin) if k1 > 0 else (math.cosh, math.sinh)
    low = -root * s(root * length) if k1 > 0 else root * s(root * length)
    return np.array([[c(root * length), s(root * length) / root], [low, c(root * length)]])


def test_the_table_holds_the_optics_all_round(
    twiss: Any, ring: Ring, write: Write, call: Call
) -> None:
    ran = call(twiss.run, TwissRequest(), {"lattice": write(ring())})

    with (ran.folder / "outputs" / "twiss.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 73  # 72 places and the end
    assert float(rows[-1]["s"]) == pytest.approx(37.6)
    assert float(rows[0]["betx"]) == pytest.approx(float(rows[-1]["betx"]), rel=1e-6)
    assert ran.json("twiss.json")["half_traces"]["x"] == pytest.approx(
        math.cos(2 * math.pi * ran.outcome.metrics["qx"]), abs=1e-5
    )


def test_an_unstable_ring_has_a_reason_and_no_tunes(
    twiss: Any, ring: Ring, write: Write, call: Call
) -> None:
    line = ring()
    line["elements"]["qf"]["k1"] = 3.5

    ran = call(twiss.run, TwissRequest(), {"lattice": write(line)})

    assert ran.outcome.metrics["stable"] == 0
    assert "qx" not in ran.outcome.metrics
    assert "no stable optics" in ran.notes and "half traces" in ran.notes
    assert max(map(abs, ran.json("twiss.json")["half_traces"].values())) > 1
    assert not (ran.folder / "outputs" / "twiss.csv").exists()


def test_a_cavity_makes_it_6d(twiss: Any, ring: Ring, write: Write, call: Call) -> None:
    line = ring()
    # The momentum compaction of this ring is above 1/gamma^2: stable at phase 180 degrees.
    beta, light = 0.7292562028443856, 299792458.0
    line["elements"]["rf"] = {
        "__class__": "Cavity",
        "voltage": 1e4,
        "frequency": beta * light / 37.6,
        "phase": 0.0,
    }
    line["element_names"].append("rf")
    path = write(line)

    six = call(twiss.run, TwissRequest(), {"lattice": path})
    four = call(twiss.run, TwissRequest(method="4d"), {"lattice": path})

    assert six.json("twiss.json")["method"] == "6d"
    assert 0 < six.outcome.metrics["qs"] < 0.1
    assert four.outcome.metrics["qs"] == 0
    assert six.outcome.metrics["qx"] == pytest.approx(four.outcome.metrics["qx"], abs=1e-3)


def test_exact_maps_and_defaults_have_the_same_tunes(
    twiss: Any, ring: Ring, write: Write, call: Call
) -> None:
    path = write(ring())

    exact, default = (
        call(twiss.run, TwissRequest(maps=maps), {"lattice": path}).outcome.metrics
        for maps in ("exact", "xtrack")
    )

    assert exact["qx"] == pytest.approx(default["qx"], abs=1e-8)
    assert exact["dqx"] == pytest.approx(default["dqx"], abs=1e-5)
