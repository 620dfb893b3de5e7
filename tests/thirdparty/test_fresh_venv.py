"""A third party's distribution in a fresh environment: built, installed offline, admitted, run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "robust_line"
OURS = ("catalog", "", "publisher", "evaluation", "reporting")


@pytest.fixture(scope="module")
def environment(wheelhouse: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with our wheels; libraries of others are those of this one."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    wheels = [wheelhouse[f"sciharness_{name}".rstrip("_")] for name in OURS]
    pip(folder, "--no-deps", *map(str, wheels))
    (site,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(others) + "\n", "utf-8")
    return folder


def pip(environment: Path, *words: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    options = ["--disable-pip-version-check", "install", "--quiet", "--no-index"]
    subprocess.run([*command, *options, *words], check=True, capture_output=True)


@pytest.mark.slow
def test_a_plugin_is_installed_offline_admitted_and_run(
    environment: Path, wheelhouse: dict[str, Path], harness: Any, tmp_path: Path
) -> None:
    from attrs import evolve

    work = tmp_path / "fresh"
    shutil.copytree(EXAMPLE, work, ignore=shutil.ignore_patterns("src", "tests", "*.toml"))
    fresh = evolve(
        harness,
        home=tmp_path / "new-home",
        folder=work,
        site=tmp_path,
        command=environment / "bin" / "harness",
    )
    wheels = wheelhouse["robust_line"].parent
    pip(environment, "--find-links", str(wheels), "example-robust-line")

    before = fresh.state_of("example.robust_line")
    refused = fresh("run", "contract.yaml", "--json", code=7)
    fresh("plugin", "admit", "example.robust_line", code=0)
    run = fresh("run", "contract.yaml", "--json", code=0).json
    lock = json.loads((work / "contract.lock").read_text("utf-8"))
    (module,) = environment.rglob("example_robust_line/huber.py")
    module.write_text(module.read_text("utf-8") + "# changed\n", "utf-8")
    changed = fresh("run", "contract.yaml", "--fresh", "--json", code=7)

    assert before == "installed"
    assert "not admitted" in refused.json["problems"][0]["found"]
    (criterion,) = run["criteria"]
    assert (run["status"], criterion["met"], criterion["trusted"]) == ("succeeded", True, True)
    assert lock["pins"]["example.robust_line.fit"].startswith("example.robust_line 1.0.0 fit ")
    assert "digest differs" in changed.json["problems"][0]["found"]
    assert "example_robust_line/huber.py" in changed.json["problems"][0]["found"]


@pytest.mark.slow
def test_its_own_tests_pass_there(environment: Path, wheelhouse: dict[str, Path]) -> None:
    wheels = wheelhouse["robust_line"].parent
    pip(environment, "--find-links", str(wheels), "--force-reinstall", "--no-deps",
        "example-robust-line")  # fmt: skip

    done = subprocess.run(
        [environment / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_least_squares_would_have_missed_the_criterion() -> None:
    import csv

    import numpy as np

    with (EXAMPLE / "sensor.csv").open(newline="") as lines:
        rows = np.array([list(map(float, row)) for row in list(csv.reader(lines))[1:]])
    design = np.column_stack([np.ones(len(rows)), rows[:, :2]])
    solution = np.linalg.lstsq(design[:64], rows[:64, 2], rcond=None)[0]
    error = design[64:] @ solution - rows[64:, 2]

    assert np.sqrt(np.mean(error**2) / np.mean(rows[64:, 2] ** 2)) > 0.02
