"""A contract that publishes the predictor of a plane, and its rows."""

from __future__ import annotations

import random
from pathlib import Path

CONTRACT = """\
schema: research-contract-v1
title: A line as a tool
goal: Predict y from a and b by a tool that others can install.
inputs: [{name: data, path: line.csv, role: labelled_table, target: y}]
capabilities: [symbolic_regression.search, evaluation.regression]
acceptance: [{metric: relative_rmse, op: "<=", value: 0.05, trusted: true}]
permissions: {publish_plugins: PERMISSION}
steps:
  - id: fit
    use: symbolic_regression.search
    inputs: {data: data}
    with: {max_evaluations: 10000, restarts: 1, stability_runs: 0, alphabet: arithmetic}
  - {id: judge, use: evaluation.regression, inputs: {predictor: fit, data: data}}
deliver: [predictor_plugin]
publish: {id: example.line, version: 0.1.0}
"""


def write_contract(folder: Path, permission: str = "true") -> Path:
    """Write rows of a plane with little noise and the contract beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    rows = [(draw.uniform(0, 5), draw.uniform(1, 3)) for _ in range(60)]
    lines = [f"{a:.5f},{b:.5f},{3 * a - b + draw.gauss(0, 0.01):.6f}" for a, b in rows]
    (folder / "line.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    path = folder / "contract.yaml"
    path.write_text(CONTRACT.replace("PERMISSION", permission))
    return path
