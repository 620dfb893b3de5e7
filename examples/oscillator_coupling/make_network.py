"""Make the directory of the example: phases of coupled oscillators as a detector measures them.

python examples/oscillator_coupling/make_network.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

NODES, EDGES, COUPLING, NOISE = 12, 40, 0.45, 0.01
Array = np.ndarray[Any, np.dtype[np.float64]]


def main(folder: Path) -> None:
    random = np.random.default_rng(8)
    pairs = [(i, j) for i in range(NODES) for j in range(NODES) if i != j]
    edges = np.array([pairs[k] for k in sorted(random.choice(len(pairs), EDGES, replace=False))])
    time = np.linspace(0.0, 8.0, 161)
    phases = simulated(edges, time, random)
    phases += random.normal(0.0, NOISE, phases.shape)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {"theta": np.round(phases, 6), "A": edges, "time": time}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    text = json.dumps(manifest(), ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8", newline="\n")


def simulated(edges: Any, time: Array, random: np.random.Generator) -> Array:
    """Return phases (time, node): rates of their own, and sines of differences along edges."""
    own, phase = random.normal(1.0, 0.4, NODES), random.uniform(0.0, 2 * np.pi, NODES)
    target, source = edges.T

    def slope(at: Array) -> Array:
        pull = np.sin(at[source] - at[target])
        return np.asarray(own + COUPLING * np.bincount(target, pull, minlength=NODES))

    rows = [phase]
    for step in np.diff(time):  # classical Runge-Kutta of fourth order
        one = slope(phase)
        two = slope(phase + step / 2 * one)
        three = slope(phase + step / 2 * two)
        four = slope(phase + step * three)
        phase = phase + step / 6 * (one + 2 * two + 2 * three + four)
        rows.append(phase)
    return np.array(rows)


def manifest() -> dict[str, Any]:
    return {
        "num_nodes": NODES,
        "variables": {
            "theta": {
                "file": "theta.npy",
                "description": "Measured phase in radians.",
                "axes": ["time", "node"],
            },
            "A": {
                "file": "A.npy",
                "description": "Who feels whom.",
                "axes": ["edge", "endpoint"],
                "kind": "relation",
            },
        },
        "axes": {
            "time": {"file": "time.npy", "description": "Time in seconds."},
            "node": {"size": NODES, "description": "Oscillator."},
            "edge": {"size": EDGES, "description": "Directed edge."},
            "endpoint": {"values": ["target", "source"], "description": "Order of endpoints."},
        },
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "network")
