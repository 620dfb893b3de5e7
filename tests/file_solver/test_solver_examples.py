"""The worked examples run as they stand: error, routing, speed, and the installed tools."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def example(lab: Any) -> Any:
    """A copy of an example, with its solver built where it has to be; returns what run shows."""

    def run(name: str) -> Any:
        folder = lab.folder / name
        shutil.copytree(EXAMPLES / name, folder)
        if (folder / "solver" / "heat.c").exists():
            compiler = shutil.which("cc") or shutil.which("gcc")
            if compiler is None:
                pytest.skip("no C compiler is installed here")
            build = [compiler, "-O2", "-o", "heat", "heat.c", "-lm"]
            subprocess.run(build, cwd=folder / "solver", check=True)
        return lab("run", folder / "contract.yaml", "--json", code=0).json

    return run


@pytest.mark.parametrize("name", ["driven_pendulum", "nonlinear_heat"])
def test_the_contract_of_an_example_has_no_problem(lab: Any, name: str) -> None:
    shutil.copytree(EXAMPLES / name, lab.folder / name)
    solver = lab.folder / name / "solver"
    if (solver / "heat.c").exists():
        if shutil.which("cc") is None:
            pytest.skip("no C compiler is installed here")
        subprocess.run(["cc", "-o", "heat", "heat.c", "-lm"], cwd=solver, check=True)

    checked = lab("check", lab.folder / name / "contract.yaml", "--json", code=0).json

    assert (checked["ok"], checked["problems"]) == (True, [])


@pytest.mark.slow
def test_the_pendulum_is_fast_and_within_five_percent(lab: Any, example: Any) -> None:
    view = example("driven_pendulum")
    found = {one["name"]: one["value"] for one in view["metrics"]}
    (lab.folder / "q.csv").write_text(
        "drive,damping,frequency\n0.2,0.5,0.9\n3.0,0.5,1.0\n", encoding="utf-8"
    )

    lab("predict", "example.pendulum_amplitude", "q.csv", "-o", "out.csv", code=0)

    assert found["relative_rmse"] <= 0.05
    assert found["routing_policy_verified"] == 1.0
    assert [row["routed"] for row in rows_of(lab.folder / "out.csv")] == ["model", "solver"]


@pytest.mark.slow
def test_the_slab_is_fast_and_its_solver_is_a_tool(lab: Any, example: Any) -> None:
    view = example("nonlinear_heat")
    found = {one["name"]: one["value"] for one in view["metrics"]}
    (lab.folder / "q.csv").write_text("left,right,slope\n1.0,1.0,0.0\n1.5,0.5,2.0\n")

    lab("predict", "example.slab_fast", "q.csv", "-o", "fast.csv", code=0)
    lab("solve", "example.slab_solver", "q.csv", "-o", "solved.csv", code=0)

    fast, solved = (rows_of(lab.folder / name) for name in ("fast.csv", "solved.csv"))
    assert found["relative_rmse"] <= 0.05
    assert found["routing_policy_verified"] == 1.0
    # Equal faces and constant conductivity: 1 - (4/pi) exp(-pi^2/5), the next term is below 1e-8.
    assert float(solved[0]["middle"]) == pytest.approx(0.8231, abs=1e-3)
    for quick, slow in zip(fast, solved, strict=True):
        assert float(quick["prediction"]) == pytest.approx(float(slow["middle"]), rel=0.05)
