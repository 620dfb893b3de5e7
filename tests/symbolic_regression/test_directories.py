"""The target of a context.data directory, each cell a row, through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def _network(folder: Path) -> None:
    """A field at times and nodes: u = 2.5 q t / d**2, with t by time and q, d by node."""
    folder.mkdir()
    random = np.random.default_rng(0)
    time, charge, far = np.linspace(1, 4, 9), random.uniform(1, 5, 8), random.uniform(1, 3, 8)
    arrays = {
        "time": time,
        "charge": charge,
        "far": far,
        "field": 2.5 * charge * time[:, None] / far**2,
        "A": np.array([[0, 1], [2, 3]]),
    }
    along = {"field": ["time", "node"], "A": ["edge", "endpoint"]}
    manifest = {
        "num_nodes": 8,
        "variables": {
            name: {
                "file": f"{name}.npy",
                "description": name,
                "axes": along.get(name, ["node"]),
                **({"kind": "relation"} if name == "A" else {}),
            }
            for name in arrays
            if name != "time"
        },
        "axes": {
            "time": {"file": "time.npy", "description": "Time in seconds."},
            "node": {"size": 8, "description": "Node."},
            "edge": {"size": 2, "description": "Edge."},
            "endpoint": {"values": ["target", "source"], "description": "Order."},
        },
    }
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def test_each_cell_of_the_target_is_a_row_of_a_search(harness: Any) -> None:
    _network(harness.folder / "field_data")

    call = harness(
        "call", "symbolic_regression.search", "--input", "data=field_data",
        "--input", "data.target=field", "--with", "max_evaluations=75000",
        "--with", "stability_runs=0", "--json", code=0,
    ).json  # fmt: skip

    (path,) = (item["path"] for item in call["artifacts"] if item["name"] == "formulas.json")
    formulas = json.loads(Path(path).read_text("utf-8"))
    assert formulas["features"] == ["time", "charge", "far"]
    assert formulas["rows"]["visible"] == 9 * 8
    chosen = formulas["candidates"][formulas["chosen"]]
    # exact numbers: a product of powers is fitted to rounding
    assert chosen["metrics"]["validation"]["relative_rmse"] < 1e-9
    factors = chosen["structure"].replace("**", "^").split("*")
    assert sorted(factors) == ["C", "charge", "far^(-2)", "time"]


def test_a_hole_in_a_series_ends_a_call_with_where_it_is(harness: Any) -> None:
    folder = harness.folder / "field_data"
    _network(folder)
    field = np.load(folder / "field.npy")
    field[3, 4] = np.nan
    np.save(folder / "field.npy", field)

    call = harness(
        "call", "symbolic_regression.dynamics", "--input", "data=field_data", "--json", code=3
    ).json

    assert call["error"]["kind"] == "data"
    told = json.dumps(call)
    assert "found 1 that are not, the first one (nan) at time 2.125, node 4" in told
    assert "Leave out or fill in times and nodes with missing values first." in told
