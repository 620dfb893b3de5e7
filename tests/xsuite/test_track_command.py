"""The commands that a physicist types, in real workers: messages, exit codes, files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import Harness

pytest.importorskip("xtrack")
Ring = Callable[..., Any]


@pytest.fixture
def harness(tmp_path: Path, ring: Ring) -> Any:
    """The command in a folder with the toy ring as ring.json and a MAD-X text."""
    (tmp_path / "ring.json").write_text(json.dumps(ring()), "utf-8")
    (tmp_path / "ring.madx").write_text("beam, pc=1; d: drift, l=1; r: line=(d);", "utf-8")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
    environment = {**kept, "HARNESS_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    return Harness(tmp_path / "home", tmp_path, environment)


def contract(harness: Any, lattice: str, *, capability: str = "track", **step: Any) -> Path:
    made: Path = harness.contract(
        {
            "schema": "research-contract-v1",
            "title": "Survival",
            "goal": "See which particles survive.",
            "inputs": [{"name": "ring", "path": lattice, "role": "lattice"}],
            "capabilities": [f"beam.xsuite.{capability}"],
            "acceptance": [{"metric": "survival_fraction", "op": ">=", "value": 0.01}],
            "holdout": "none",
            "steps": [
                {
                    "id": "follow",
                    "use": f"beam.xsuite.{capability}",
                    "inputs": {"lattice": "ring"},
                    "with": step,
                }
            ],
        }
    )
    return made


def test_a_track_is_one_command(harness: Any) -> None:
    done = harness(
        *("call", "beam.xsuite.track", "--input", "lattice=ring.json", "--with", "num_turns=8"),
        *("--with", "grid={x: [0, 0.07, 8]}", "--with", "workers=2", "--out", "out", "--json"),
        code=0,
    )

    found = done.json
    assert found["metrics"]["particles"] == 8
    assert 0 < found["metrics"]["survived"] < 8
    assert {one["name"] for one in found["artifacts"]} == {
        "particles.csv",
        "state.npz",
        "tracking.json",
    }
    assert any(note.startswith("survived: alive") for note in found["notes"])


def test_a_contract_tracks_a_ring(harness: Any) -> None:
    path = contract(harness, "ring.json", num_turns=4, polar={"r_max": 0.05, "radii": 3})

    shown = harness("run", path, "--json", code=0).json

    assert shown["status"] == "succeeded"
    assert {"tracking.json", "particles.csv"} <= {one["name"] for one in shown["artifacts"]}


def test_a_contract_with_madx_and_no_converter_is_no_run(harness: Any) -> None:
    path = contract(harness, "ring.madx", num_turns=4, points={"x": 0.0})

    done = harness("run", path, code=3)

    assert "a leased capability madx_to_xsuite_json" in done.err
    assert harness("list", "--json", code=0).json == {"runs": []}


def test_a_contract_may_convert_madx_first(harness: Any) -> None:
    path = contract(harness, "ring.madx", num_turns=4, points={"x": 0.0})
    values = json.loads(path.read_text("utf-8"))
    values["capabilities"].append("beam.xsuite.madx_to_xsuite_json")
    use = {"id": "convert", "use": "beam.xsuite.madx_to_xsuite_json", "inputs": {"source": "ring"}}
    values["steps"].insert(0, use)
    values["steps"][1]["inputs"] = {"lattice": "convert"}
    path.write_text(json.dumps(values), "utf-8")

    assert harness("run", path, "--json", code=0).json["status"] == "succeeded"
