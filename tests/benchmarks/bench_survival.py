"""Boundaries and survival models: particles that they need, against plain ways to find the same.

`SCIHARNESS_BENCH_QUICK=1` leaves out the ring with few losses and takes a smaller final set;
`BENCH_ROUNDS` (default 1) repeats the models with further seeds.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Input, testkit
from sciharness_publisher.inference.derived import build
from sciharness_xsuite import plugin

QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "1"))
FINAL = 2_000 if QUICK else 6_000
RINGS = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "rings" / "make_rings.py"))
TOY_DOMAIN = {
    "x": [-0.03, 0.03], "px": [-0.004, 0.004], "y": [-0.02, 0.02], "py": [-0.004, 0.004],
    "delta": [-0.004, 0.004],
}  # fmt: skip


def cpu(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lattice(folder: Path, plain: Any, name: str = "ring.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(plain), "utf-8")
    return path


def run(operation: str, request: Mapping[str, Any], folder: Path, seed: int, **files: Path) -> Any:
    inputs = {name: Input(name, path, "OTHER") for name, path in files.items()}
    return testkit.run_here(plugin, operation, request, inputs, folder, seed=seed)


def balanced_accuracy(model: Path, rows: Path) -> float:
    """Judge a model by its exported numbers alone."""
    document = json.loads(model.read_text("utf-8"))
    table = list(csv.DictReader(rows.open(encoding="utf-8")))
    names = [column["name"] for column in document["columns"]]
    columns = {name: np.array([float(row[name]) for row in table]) for name in names}
    said = build(document)(columns)[:, 0] > 0
    true = np.array([row["survived"] == "survived" for row in table])
    return float(((said & true).sum() / true.sum() + (~said & ~true).sum() / (~true).sum()) / 2)


def trained(ring: Path, folder: Path, request: Mapping[str, Any], seed: int) -> Path:
    points = run("generate_stability_dataset", request, folder / "points", seed, lattice=ring)
    data = points.artifacts["dataset.csv"]
    fitted = run("train_survival_model", {}, folder / "fit", seed, data=data)
    return fitted.artifacts["model.json"]


def compared(
    ring: Path, folder: Path, domain: Mapping[str, Any], count: int, seed: int
) -> dict[str, float]:
    """Return balanced accuracy of an adaptive and of an even training set of one size."""
    base = {"num_turns": 128, "domain": domain}
    even = {**base, "sampling": "uniform"}
    final = run(
        "generate_stability_dataset",
        {**even, "num_particles": FINAL},
        folder / f"final{seed}",
        1_000 + seed,
        lattice=ring,
    )
    found = {"share": final.metrics["survivor_share"]}
    for name, request in (("adaptive", base), ("uniform", even)):
        place = folder / f"{name}{seed}"
        model = trained(ring, place, {**request, "num_particles": count}, seed)
        found[name] = balanced_accuracy(model, final.artifacts["dataset.csv"])
    return found


def test_a_boundary_to_a_micrometre_takes_few_particles(tmp_path: Path) -> None:
    import xtrack

    plain = RINGS["toy_ring"]()
    ring = lattice(tmp_path, plain)
    line = xtrack.Line.from_dict(plain, verbose=False, with_progress=False)
    line.build_tracker()
    limits: list[tuple[float, float]] = []

    def plainly() -> None:
        """Halve [0, 0.5] with xtrack's defaults, a particle at a time: no look further inside."""
        low, high = 0.0, 0.5
        while high - low > 1e-6:
            middle = (low + high) / 2
            particles = line.build_particles(x=[middle])
            line.track(particles, num_turns=128)
            low, high = (middle, high) if particles.state[0] > 0 else (low, middle)
        limits.append((low, high))

    plainly()  # loads the kernel
    halving = cpu(plainly)
    told: list[Any] = []
    ours = cpu(lambda: told.append(run("survival_boundary", {}, tmp_path / "out", 0, lattice=ring)))
    found = told[0].metrics

    print(
        f"\nboundary [{found['last_survivor']:.7f}, {found['first_loss']:.7f}] m with "
        f"{found['tracks']:.0f} particles, {ours:.2f} s CPU with tables and pictures; halving with "
        f"xtrack's defaults [{limits[-1][0]:.7f}, {limits[-1][1]:.7f}] m, 19 particles, "
        f"{halving:.2f} s CPU, no look at losses further inside"
    )
    assert found["bracket_width"] <= 1e-6
    assert found["tracks"] <= 150


def test_a_model_of_the_toy_ring_needs_1500_particles(tmp_path: Path) -> None:
    ring = lattice(tmp_path, RINGS["toy_ring"]())

    rounds = [compared(ring, tmp_path, TOY_DOMAIN, 1_500, seed) for seed in range(ROUNDS)]

    for found in rounds:
        print(
            f"\ntoy ring, 5 coordinates, {found['share']:.1%} survive, 1,500 particles: balanced "
            f"accuracy {found['adaptive']:.4f} adaptive, {found['uniform']:.4f} uniform, on "
            f"{FINAL:,} even particles"
        )
    assert min(found["adaptive"] for found in rounds) >= 0.95


@pytest.mark.skipif(QUICK, reason="minutes of training")
def test_a_ring_with_few_losses_needs_particles_near_its_boundary(tmp_path: Path) -> None:
    plain = RINGS["toy_ring"]()
    plain["element_names"] = [name for name in plain["element_names"] if name != "wall"]
    del plain["elements"]["wall"]
    plain["elements"]["sext"]["k2"] = 30.0  # no walls: the dynamic aperture alone loses particles
    ring = lattice(tmp_path, plain)
    domain = {name: [0.5 * one for one in ends] for name, ends in TOY_DOMAIN.items()}
    domain["delta"] = TOY_DOMAIN["delta"]

    rounds = [compared(ring, tmp_path, domain, 4_000, seed) for seed in range(ROUNDS)]

    for found in rounds:
        wrong = (1 - found["uniform"]) / (1 - found["adaptive"])
        print(
            f"\nring without walls, {found['share']:.1%} survive, 4,000 particles: balanced "
            f"accuracy {found['adaptive']:.4f} adaptive, {found['uniform']:.4f} uniform "
            f"({wrong:.1f} times the error)"
        )
    assert min(found["adaptive"] for found in rounds) >= 0.95
    assert all(found["adaptive"] > found["uniform"] for found in rounds)
