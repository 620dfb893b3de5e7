"""A toy ring as plain JSON values, and the plugin's operations through a real context."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from sciharness import Context, Input, Outcome, testkit
from sciharness_xsuite import plugin

Json = dict[str, Any]
PROTON_EV = 938_272_088.16
SETTINGS = {
    "XTRACK_MULTIPOLE_NO_SYNRAD": True,
    "XFIELDS_BB3D_NO_BEAMSTR": True,
    "XFIELDS_BB3D_NO_BHABHA": True,
    "XTRACK_GLOBAL_XY_LIMIT": 1.0,
}
ANGLE = math.pi / 8
CELL: Mapping[str, Json] = {
    "qf": {"__class__": "Quadrupole", "length": 0.2, "k1": 1.2},
    "d": {"__class__": "Drift", "length": 0.8},
    "b": {"__class__": "Bend", "length": 1.0, "angle": ANGLE, "k0": ANGLE},
    "qd": {"__class__": "Quadrupole", "length": 0.2, "k1": -1.2},
    "sx": {"__class__": "Sextupole", "length": 0.1, "k2": 8.0},
    "wall": {"__class__": "LimitEllipse", "a": 0.06, "b": 0.04},
}
BARE = ("qf", "d", "b", "d", "qd", "d", "sx", "d")


def made_ring(*, aperture: bool = True, cells: int = 8, **more: Any) -> Json:
    """Return the toy ring as Line.to_dict writes it; ``more`` replaces fields of the line."""
    names = (*BARE, "wall") if aperture else BARE
    return {
        "__class__": "Line",
        "xtrack_version": "0.118.4",
        "elements": {name: copy.deepcopy(CELL[name]) for name in dict.fromkeys(names)},
        "element_names": list(names) * cells,
        "config": dict(SETTINGS),
        "particle_ref": {"mass0": PROTON_EV, "q0": 1.0, "p0c": 1e9},
        **more,
    }


@pytest.fixture
def ring() -> Callable[..., Json]:
    """The maker of the toy ring's JSON values, see :func:`made_ring`."""
    return made_ring


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write JSON values or bytes into a file and return it."""

    def make(content: Any, name: str = "ring.json") -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return make


@frozen
class Ran:
    """A finished operation: its outcome, what it wrote and what it said meanwhile."""

    outcome: Outcome
    folder: Path
    said: list[Json]

    def json(self, name: str) -> Any:
        """One artifact as plain values."""
        return json.loads((self.folder / "outputs" / name).read_text("utf-8"))

    @property
    def notes(self) -> str:
        """All notes as one text."""
        return "\n".join(self.outcome.notes)


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Ran]:
    """Run an operation on files, as a worker does."""
    made = iter(range(1000))

    def run(operation: Any, request: Any, files: Mapping[str, Path], **means: Any) -> Ran:
        said: list[Json] = []
        folder = tmp_path / f"action{next(made)}"
        inputs = {name: Input(name, path, "OTHER") for name, path in files.items()}
        context = Context(inputs=inputs, workspace=folder, emit=said.append, **means)
        folder.mkdir()
        outcome = operation(request, context)
        return Ran(outcome, folder, said)

    return run


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[..., testkit.Tried]:
    """Run an operation by its name with everything checked that the kernel checks."""
    made = iter(range(1000))

    def run(operation: str, request: Json, files: Mapping[str, Path], **means: Any) -> Any:
        inputs = {name: Input(name, path, "OTHER") for name, path in files.items()}
        folder = tmp_path / f"attempt{next(made)}"
        return testkit.run_here(plugin, operation, request, inputs, folder, **means)

    return run


def linear_ring(**walls: Any) -> Json:
    """Return a ring of one cell that is linear at delta 0 and has a waist at its start.

    Half a quadrupole, a drift, a quadrupole, a drift, half a quadrupole. ``walls`` are elements
    behind the first drift by name; one that is called ``start`` stands at the start.
    """
    magnets = {
        "hf": {"__class__": "Quadrupole", "length": 0.25, "k1": 0.6},
        "d": {"__class__": "Drift", "length": 2.0},
        "qd": {"__class__": "Quadrupole", "length": 0.5, "k1": -0.6},
    }
    start = [name for name in walls if name == "start"]
    rest = [name for name in walls if name != "start"]
    names = [*start, "hf", "d", *rest, "qd", "d", "hf"]
    return made_ring(elements={**magnets, **walls}, element_names=names)


@pytest.fixture
def linear() -> Callable[..., Json]:
    """The maker of a linear ring of which all is known in closed form, see :func:`linear_ring`."""
    return linear_ring


def linear_matrices(k_half: float = 0.6, k_middle: float = -0.6) -> tuple[Any, Any]:
    """Return the maps of x of the linear ring: from start to wall, and round the ring (2, 2).

    Those of y follow with the opposite strengths.
    """
    half, drift = lens(0.25, k_half), np.array([[1.0, 2.0], [0.0, 1.0]])
    return drift @ half, half @ drift @ lens(0.5, k_middle) @ drift @ half


def lens(length: float, k1: float) -> Any:
    """Return the matrix of a quadrupole in x."""
    root = np.sqrt(complex(k1))
    angle = root * length
    sine = np.sin(angle) / root
    return np.array([[np.cos(angle), sine], [-k1 * sine, np.cos(angle)]]).real


@pytest.fixture
def matrices() -> Callable[..., tuple[Any, Any]]:
    """The maps of the linear ring, see :func:`linear_matrices`."""
    return linear_matrices
