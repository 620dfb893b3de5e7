from __future__ import annotations

import copy
import itertools
import json
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NETWORK: dict[str, Any] = {
    "num_nodes": 4,
    "variables": {
        "theta": {"file": "theta.npy", "description": " Phase. ", "axes": ["time", "node"]},
        "A": {
            "file": "A.npy",
            "description": "Edges.",
            "axes": ["edge", "endpoint"],
            "kind": "relation",
        },
        "w": {
            "file": "w.npy",
            "description": "Weights.",
            "axes": ["time", "edge"],
            "structure": "A",
        },
        "mass": {"file": "mass.npy", "description": "", "axes": ["node"]},
        "g": {"file": "g.npy", "description": "A scalar.", "axes": []},
    },
    "axes": {
        "time": {"file": "time.npy", "description": "Time in s."},
        "node": {"values": ["a", "b", "c", "d"], "description": "Label."},
        "edge": {"size": 5, "description": "Edge."},
        "endpoint": {"values": ["target", "source"], "description": "Columns."},
    },
}


class Directory:
    """A small sound network; a test changes manifest, arrays or files and looks again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = copy.deepcopy(NETWORK)
        self.arrays: dict[str, Any] = {
            "theta": np.arange(12.0).reshape(3, 4),
            "A": np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]),
            "w": np.arange(15.0).reshape(3, 5),
            "mass": np.ones(4),
            "g": np.array(9.81),
            "time": np.array([0.0, 0.5, 1.0]),
        }

    @property
    def variables(self) -> dict[str, Any]:
        return self.manifest["variables"]  # type: ignore[no-any-return]

    @property
    def axes(self) -> dict[str, Any]:
        return self.manifest["axes"]  # type: ignore[no-any-return]

    def add(self, name: str, array: Any, axes: list[str], **fields: Any) -> None:
        self.arrays[name] = array
        entry = {"file": f"{name}.npy", "description": "", "axes": axes}
        self.variables[name] = entry | fields

    def write(self) -> Path:
        self.path.mkdir(exist_ok=True)
        for name, array in self.arrays.items():
            np.save(self.path / f"{name}.npy", array)
        (self.path / "manifest.json").write_text(json.dumps(self.manifest), encoding="utf-8")
        return self.path


@pytest.fixture
def network(tmp_path: Path) -> Directory:
    """A sound network that is not written yet."""
    return Directory(tmp_path / "network")


@pytest.fixture(scope="session")
def new_network(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Directory]:
    """Return a function that gives sound networks, each in a new folder."""
    folder = tmp_path_factory.mktemp("networks")
    numbers = itertools.count()
    return lambda: Directory(folder / str(next(numbers)))


@pytest.fixture
def directory(tmp_path: Path) -> Callable[..., Path]:
    """Write a directory of named arrays, all along axes of their own unless told."""

    def write(
        arrays: dict[str, Any],
        along: dict[str, list[str]],
        axes: dict[str, dict[str, Any]],
        name: str = "data",
        **root: Any,
    ) -> Path:
        path = tmp_path / name
        path.mkdir()
        for file, array in arrays.items():
            np.save(path / f"{file}.npy", array)
        variables = {
            variable: {"file": f"{variable}.npy", "description": "", "axes": names}
            for variable, names in along.items()
        }
        entries = {axis: {"description": ""} | entry for axis, entry in axes.items()}
        manifest = {"variables": variables, "axes": entries} | root
        (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return path

    return write


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """Let the process open only a few dozen files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * in_use + 40, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
