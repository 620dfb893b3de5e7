"""The fixtures of the end-to-end tests, and small context.data directories."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from homes import confined, fresh, harness, prepared, site

__all__ = ["confined", "fresh", "harness", "prepared", "site"]

Write = Callable[..., Path]


def write_directory(
    path: Path,
    variables: Mapping[str, tuple[Any, list[str]]],
    axes: Mapping[str, Any],
    **root: Any,
) -> Path:
    """Write arrays with the names of their axes; an axis is a size, a list or an array."""
    path.mkdir(parents=True, exist_ok=True)
    manifest: dict[str, Any] = {"variables": {}, "axes": {}, **root}
    for name, (array, along) in variables.items():
        np.save(path / f"{name}.npy", np.asarray(array))
        entry: dict[str, Any] = {"file": f"{name}.npy", "description": "", "axes": along}
        if name in root.get("relations", ()):
            entry["kind"] = "relation"
        manifest["variables"][name] = entry
    manifest.pop("relations", None)
    for name, entries in axes.items():
        source: dict[str, Any] = {"values": entries}
        if isinstance(entries, int):
            source = {"size": entries}
        elif isinstance(entries, np.ndarray):
            np.save(path / f"{name}.npy", entries)
            source = {"file": f"{name}.npy"}
        manifest["axes"][name] = {"description": "", **source}
    (path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Write:
    """A writer of directories below the test's folder."""

    def write(variables: Any, axes: Any, name: str = "data", **root: Any) -> Path:
        return write_directory(tmp_path / name, variables, axes, **root)

    return write


def plates(rng: np.random.Generator, times: int = 12, plates: int = 5) -> tuple[Any, Any]:
    """Variables and axes of plates that cool: temperature (time, plate), a linear law."""
    time = np.arange(times) * 0.5
    rate, start = rng.uniform(1.0, 2.0, plates), rng.uniform(20.0, 30.0, plates)
    temperature = start[None, :] - rate[None, :] * 2.0 + 3.0 * time[:, None]
    variables = {
        "rate": (rate, ["plate"]),
        "start": (start, ["plate"]),
        "air": (np.array(20.0), []),
        "temperature": (temperature, ["time", "plate"]),
    }
    return variables, {"time": time, "plate": [f"p{n}" for n in range(plates)]}


@pytest.fixture
def cooling(directory: Write) -> Path:
    """A directory of cooling plates: 12 times, 5 plates."""
    variables, axes = plates(np.random.default_rng(1))
    return directory(variables, axes, "cooling")
