"""A solver that knows no CSV, made quick through an adapter that the user wrote."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

# Reads `key = value` blocks from standard input, writes a listing; as old programs do.
SOLVER = """\
#!/bin/sh
awk '/load/ {load = $3} /span/ {span = $3}
     /solve/ {printf "case %d\\n  DEFLECTION: %.15g mm\\n", ++n, load * span * span * span / 48}'
"""
ADAPTER = """\
import argparse
import csv
import json
import pathlib
import re
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--solver-root", required=True)
parser.add_argument("--solver-executable", required=True)
parser.add_argument("--input", required=True)
parser.add_argument("--output", required=True)
given = parser.parse_args()
program = pathlib.Path(given.solver_root, given.solver_executable)
with open(given.input, newline="") as stream:
    cases = list(csv.DictReader(stream))
deck = "".join("load = {load}\\nspan = {span}\\nsolve\\n".format(**case) for case in cases)
done = subprocess.run([program], input=deck, capture_output=True, text=True, check=True)
found = re.findall(r"DEFLECTION: (\\S+) mm", done.stdout)
with open(given.output, "w") as sink:
    sink.write("\\n".join(["deflection", *found]) + "\\n")
"""


@pytest.fixture
def odd(tmp_path: Path, make_solver: Any) -> Any:
    """The solver's folder; its command is the adapter's business."""
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "beam.sh").write_text(SOLVER)
    os.chmod(folder / "beam.sh", 0o755)
    table = {"inputs": ["load", "span"], "outputs": ["deflection"]}
    return make_solver(folder, {"executable": "beam.sh", "table": table})


@pytest.mark.slow
def test_a_hybrid_through_an_adapter_of_the_user(lab: Any, odd: Any) -> None:

    bound = {"solver": "solver", "adapter": "mine"}
    sample = {"ranges": {"load": [1, 2], "span": [1, 3]}, "count": 80}
    steps = [
        {"id": "samples", "use": "file_solver.sample", "inputs": bound, "with": sample},
        {
            "id": "fast",
            "use": "file_solver.train",
            "inputs": {"data": "samples", **bound},
            "with": {"families": ["polynomial"]},
        },
        {
            "id": "bench",
            "use": "file_solver.benchmark",
            "inputs": {"predictor": "fast", **bound},
            "with": {"queries": 100, "compared": 50, "outside": 4},
        },
    ]
    contract = lab.contract(odd, steps, permissions={"publish_plugins": True})
    values = json.loads(contract.read_text())
    values["inputs"].append({"name": "mine", "path": "mine.py"})
    values["deliver"] = ["predictor_plugin"]
    values["publish"] = {"id": "example.odd", "version": "0.1.0", "install": True}
    (lab.folder / "mine.py").write_text(ADAPTER)
    contract.write_text(json.dumps(values))

    view = lab("run", contract, "--json", code=0).json
    (lab.folder / "q.csv").write_text("load,span\n1.5,2\n6,2\n")
    lab("predict", "example.odd", "q.csv", "-o", "out.csv", code=0)

    found = {one["name"]: one["value"] for one in view["metrics"]}
    with (lab.folder / "out.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert found["routing_policy_verified"] == 1.0
    assert [row["routed"] for row in rows] == ["model", "solver"]
    # A cubic is in the span of the polynomials; 15 digits are printed by the solver.
    assert float(rows[0]["prediction"]) == pytest.approx(1.5 * 8 / 48, rel=1e-6)
    assert float(rows[1]["prediction"]) == pytest.approx(1.0, rel=1e-14)
