"""Hybrids of the two example solvers against these, and sampling against processes by hand.

Each example's contract runs as it stands, but its benchmark asks the solver for every one of
10,000 queries on all processors. Sampling is compared in turn with as many hand-started processes
as there are processors, each with its part of the same rows. ``BENCH_ROUNDS`` (default 3) rounds;
with ``SCIHARNESS_BENCH_QUICK=1`` there are 300 queries and fewer samples.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sysconfig.get_path("scripts")) / "harness"
QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
QUERIES = 300 if QUICK else 10_000
CASES = 400 if QUICK else 3000
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
RANGES = {"left": (0.5, 2.0), "right": (0.0, 1.0), "slope": (0.0, 3.0)}


def built(folder: Path) -> Path:
    """Compile the heat solver where there is a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler is installed here")
    subprocess.run([compiler, "-O2", "-o", "heat", "heat.c", "-lm"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("name", ["driven_pendulum", "nonlinear_heat"])
def test_a_hybrid_against_its_solver(name: str, tmp_path: Path) -> None:
    """Error, routing and speed over all queries, fall-backs and start-up included."""
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    if name == "nonlinear_heat":
        built(folder / "solver")
    contract = folder / "contract.yaml"
    asked = f", with: {{queries: {QUERIES}, compared: {QUERIES}}}}}"
    text = contract.read_text()
    lines = [
        line[:-1] + asked if line.startswith("  - {id: bench") else line
        for line in text.splitlines()
    ]
    contract.write_text("\n".join(lines).replace("count: 800", f"count: {300 if QUICK else 800}"))

    done = subprocess.run(
        [COMMAND, "run", contract, "--json"],
        env={**os.environ, "HARNESS_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )

    view = json.loads(done.stdout)
    found = {one["name"]: one["value"] for one in view["metrics"]}
    (place,) = (one["path"] for one in view["artifacts"] if one["name"] == "benchmark.json")
    timing = json.loads(Path(place).read_text())["timing"]
    print(
        f"\n{name}: {QUERIES} queries, relative error {100 * found['relative_rmse']:.3g} %, "
        f"routing verified {found['routing_policy_verified']:g}, "
        f"{timing['fall_backs']} fall-backs, hybrid {timing['hybrid_seconds']:.2f} s, "
        f"solver on {PROCESSORS} processors "
        f"{timing['solver_seconds_for_all_queries']:.1f} s: {found['hybrid_speedup']:.1f} times"
    )
    assert found["relative_rmse"] <= 0.05
    assert found["routing_policy_verified"] == 1.0


def test_sampling_against_processes_started_by_hand(tmp_path: Path) -> None:
    """Cases per second of ``file_solver.sample`` over those of hand-started processes."""
    folder = tmp_path / "solver"
    shutil.copytree(EXAMPLES / "nonlinear_heat" / "solver", folder)
    built(folder)
    by_hand, by_us = [], []
    for number in range(ROUNDS):
        made = sampled(folder, tmp_path / f"us{number}")
        by_us.append(CASES / made[0])
        by_hand.append(CASES / hand_started(folder, tmp_path / f"hand{number}", made[1]))
    ratio = statistics.median(a / b for a, b in zip(by_us, by_hand, strict=True))
    print(
        f"\nsampling {CASES} cases on {PROCESSORS} processors: {statistics.median(by_us):.0f}/s, "
        f"by hand {statistics.median(by_hand):.0f}/s, ratio {ratio:.2f}"
    )


def sampled(folder: Path, scratch: Path) -> tuple[float, Any]:
    """Return the seconds that the operation takes, and the rows that it asked for."""
    from sciharness_file_solver.requests import SampleRequest
    from sciharness_file_solver.sampling.operation import sample

    block = {
        "executable": "heat",
        "command": ["{executable}", "--input", "{input}", "--output", "{output}"],
        "table": {"inputs": list(RANGES), "outputs": ["middle"]},
    }
    solver = Input("solver", folder, "solver_bundle", "reference_solver", meta={"solver": block})
    context = Context(inputs={"solver": solver}, workspace=scratch, workers=PROCESSORS)
    began = time.perf_counter()
    sample(SampleRequest(ranges=RANGES, count=CASES, adaptive=0.0), context)
    seconds = time.perf_counter() - began
    rows = np.loadtxt(
        scratch / "outputs" / "samples.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3)
    )
    return seconds, rows


def hand_started(folder: Path, scratch: Path, rows: Any) -> float:
    """Return the seconds until the last of the processes ends; each has every n-th row."""
    scratch.mkdir()
    parts = []
    for place in range(PROCESSORS):
        part = scratch / f"{place}.csv"
        np.savetxt(
            part, rows[place::PROCESSORS], "%.17g", ",", header=",".join(RANGES), comments=""
        )
        parts.append(part)
    began = time.perf_counter()
    words = [[folder / "heat", "--input", part, "--output", f"{part}.out"] for part in parts]
    running = [subprocess.Popen(one) for one in words]
    assert [one.wait() for one in running] == [0] * PROCESSORS
    return time.perf_counter() - began
