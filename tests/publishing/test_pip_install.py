"""A published wheel in a fresh environment: real pip, a wheelhouse, numpy and nothing else."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from wheelhouse import repacked


@pytest.fixture(scope="module")
def environment(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment into which pip has installed the wheel, offline."""
    folder = tmp_path_factory.mktemp("pip")
    repacked("numpy", folder / "wheels")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    subprocess.run(
        [
            *[sys.executable, "-m", "pip", "--python", folder / "venv/bin/python"],
            *["--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-compile"],
            *["--find-links", folder / "wheels", next(published.glob("*.whl"))],
        ],
        check=True,
        capture_output=True,
    )
    return folder / "venv"


def python(environment: Path, script: str) -> Any:
    """Run a script in the environment, apart from this one, and return what it prints as JSON."""
    done = subprocess.run(
        [environment / "bin/python", "-I", "-c", script], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_pip_brings_numpy_and_nothing_else(environment: Path) -> None:
    script = (
        "import json; from importlib.metadata import distributions;"
        "print(json.dumps(sorted(one.name for one in distributions())))"
    )

    assert python(environment, script) == ["example-line", "numpy"]


def test_its_predict_function_answers(environment: Path) -> None:
    script = (
        "import json, numpy, example_line;"
        "columns = {'a': numpy.array([1.5, 4.0]), 'b': [2.0, 1.5]};"
        "print(json.dumps(example_line.predict(columns)))"
    )

    rows = python(environment, script)

    # The law is 3 a - b; noise 0.01 on 48 rows leaves constants within about 0.01.
    assert [row["prediction"] for row in rows] == pytest.approx([2.5, 10.5], abs=0.05)
    assert [row["in_domain"] for row in rows] == [1.0, 1.0]


def test_its_console_command_answers(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    subprocess.run(
        [environment / "bin/example-line", tmp_path / "new.csv", tmp_path / "out.csv"],
        check=True,
        env={},
    )

    (row,) = csv.DictReader((tmp_path / "out.csv").open())
    assert float(row["prediction"]) == pytest.approx(2.5, abs=0.05)


def test_it_names_what_is_missing(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("a\n1.5\n")

    done = subprocess.run(
        [environment / "bin/example-line", tmp_path / "new.csv", tmp_path / "out.csv"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "b" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.csv").exists()
