"""A toy ring as plain JSON values, and the plugin's operations through a real context."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
    """Return a ring of two linear maps: tunes 0.31 and 0.23, beta 4 m and then 9 m in x.

    ``walls`` are elements at the second place by name, the first one at the start if it is
    called ``start``.
    """
    first = {"betx": [4.0, 9.0], "bety": [4.0, 4.0], "qx": 0.13, "qy": 0.1}
    second = {"betx": [9.0, 4.0], "bety": [4.0, 4.0], "qx": 0.18, "qy": 0.13}
    maps = {
        name: {"__class__": "LineSegmentMap", "length": 5.0, **one}
        for name, one in (("first", first), ("second", second))
    }
    start = [name for name in walls if name == "start"]
    rest = [name for name in walls if name != "start"]
    return made_ring(
        elements={**maps, **walls}, element_names=[*start, "first", *rest, "second"]
    )


@pytest.fixture
def linear() -> Callable[..., Json]:
    """The maker of a linear ring whose boundary has a closed form, see :func:`linear_ring`."""
    return linear_ring
