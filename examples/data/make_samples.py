"""Make the two sample directories beside this file: a yearly table and an oscillator network.

python examples/data/make_samples.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20


def main(folder: Path) -> None:
    rng = np.random.default_rng(SEED)
    make_yearly_table(folder / "yearly_table", rng)
    make_oscillator_network(folder / "oscillator_network", rng)


def make_yearly_table(folder: Path, rng: np.random.Generator) -> None:
    years = np.arange(2018, 2023)
    population = np.round(8.2e6 * 1.004 ** (years - 2018) + rng.normal(0, 8000, 5)).astype(int)
    gdp = np.round(4.1e11 * 1.018 ** (years - 2018) * rng.normal(1, 0.012, 5), -6)
    axes = {"year": {"values": years.tolist(), "description": "Calendar year."}}
    variables = {
        "population": variable("population", "Annual population count.", ["year"]),
        "gdp": variable("gdp", "Annual gross domestic product in constant currency.", ["year"]),
    }
    arrays = {"population": population, "gdp": gdp}
    write(folder, arrays, {"variables": variables, "axes": axes})


def make_oscillator_network(folder: Path, rng: np.random.Generator) -> None:
    nodes, edges = 10, 32
    pairs = [(target, source) for target in range(nodes) for source in range(nodes)]
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    relation = np.array([pairs[k] for k in sorted(rng.choice(len(pairs), edges, replace=False))])
    time = np.linspace(0.0, 10.0, 201)
    arrays = {"theta": phases(relation, time, nodes, rng), "A": relation, "time": time}
    manifest = {
        "num_nodes": nodes,
        "variables": {
            "theta": variable("theta", "Oscillator phase in radians.", ["time", "node"]),
            "A": variable("A", "Directed interaction endpoints.", ["edge", "endpoint"])
            | {"kind": "relation"},
        },
        "axes": {
            "time": {"file": "time.npy", "description": "Time in seconds."},
            "node": {
                "values": [f"node{number}" for number in range(1, nodes + 1)],
                "description": "Node label.",
            },
            "edge": {"size": edges, "description": "Directed edge position."},
            "endpoint": {"values": ["target", "source"], "description": "Endpoint column order."},
        },
    }
    write(folder, arrays, manifest)


def phases(relation: Any, time: Any, nodes: int, rng: np.random.Generator) -> Any:
    """Return phases (time, node): own frequencies, and sines of differences along the edges."""
    own, phase = rng.normal(1.0, 0.3, nodes), rng.uniform(0, 2 * np.pi, nodes)
    target, source = relation.T

    def slope(at: Any) -> Any:
        pull = np.sin(at[source] - at[target])
        return own + 0.6 * np.bincount(target, pull, minlength=nodes)

    rows = [phase]
    for step in np.diff(time):  # classical Runge-Kutta of fourth order
        one = slope(phase)
        two = slope(phase + step / 2 * one)
        three = slope(phase + step / 2 * two)
        four = slope(phase + step * three)
        phase = phase + step / 6 * (one + 2 * two + 2 * three + four)
        rows.append(phase)
    return np.array(rows)


def variable(name: str, description: str, axes: list[str]) -> dict[str, Any]:
    return {"file": f"{name}.npy", "description": description, "axes": axes}


def write(folder: Path, arrays: dict[str, Any], manifest: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
