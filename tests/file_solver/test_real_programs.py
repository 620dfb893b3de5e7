"""Native programs, scripts and a tool of the system, each called as it documents."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def beam(built: Callable[..., Path], make_solver: Any) -> Any:
    """A C++ filter: standard input to standard output, two outputs."""
    table = {"inputs": ["load", "length", "stiffness"], "outputs": ["deflection", "slope"]}
    block = {"executable": "bin/solve", "command": ["{executable}"], "table": table}
    return make_solver(built("beam.cpp", "c++", "g++", "clang++"), block | _smoke("--help"))


@pytest.fixture
def heat(built: Callable[..., Path], make_solver: Any) -> Any:
    """A Fortran program, which reads and writes files of fixed names beside itself."""
    table = {"inputs": ["time"], "outputs": ["temperature"]}
    command = ["{executable}", "{input}", "{output}"]
    block = {"executable": "bin/solve", "command": command, "table": table}
    return make_solver(built("cooling.f90", "gfortran", "flang"), block | _smoke("--version"))


@pytest.fixture
def decay(tmp_path: Path, make_solver: Any) -> Any:
    """A Python script that reads a file of its folder."""
    folder = tmp_path / "decay"
    (folder / "data").mkdir(parents=True)
    shutil.copy(PROGRAMS / "decay.py", folder / "decay.py")
    (folder / "data" / "rate.txt").write_text("0.5\n")
    os.chmod(folder / "decay.py", 0o755)
    table = {"inputs": ["amount", "time"], "outputs": ["daughter"]}
    return make_solver(folder, {"executable": "decay.py", "table": table} | _smoke("-h"))


@pytest.fixture
def roots(tmp_path: Path, make_solver: Any) -> Any:
    """The system's `bc` behind a script of a folder."""
    if shutil.which("bc") is None:
        pytest.skip("bc is not installed here")
    folder = tmp_path / "roots"
    folder.mkdir()
    shutil.copy(PROGRAMS / "bc.sh", folder / "roots.sh")
    table = {"inputs": ["value"], "outputs": ["root"]}
    return make_solver(folder, {"executable": "roots.sh", "table": table} | _smoke("--version"))


def _smoke(*words: str) -> dict[str, Any]:
    return {"smoke": {"args": list(words)}}


def solved(lab: Any, solver: Any, text: str) -> list[dict[str, str]]:
    """Publish a solver behind its adapter, solve a table by the installed tool, return its rows."""
    steps = [
        {"id": "adapter", "use": "file_solver.adapter", "inputs": {"solver": "solver"}},
        {
            "id": "smoke",
            "use": "execution.python.run",
            "inputs": {"program": "adapter", "solver": "solver"},
        },
    ]
    contract = lab.contract(
        solver,
        steps,
        acceptance=[{"metric": "adapter_validated", "op": ">=", "value": 1}],
        permissions={"publish_plugins": True},
        deliver=["solver_adapter"],
        publish={"id": "example.tool", "version": "0.1.0", "install": True},
    )
    lab("run", contract, code=0)
    (lab.folder / "in.csv").write_text(text)
    lab("solve", "example.tool", "in.csv", "-o", "out.csv", code=0)
    with (lab.folder / "out.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_cpp_filter(lab: Any, beam: Any) -> None:
    rows = solved(lab, beam, "load,length,stiffness\n3,2,4\n")

    assert [(row["deflection"], row["slope"]) for row in rows] == [("2.0", "1.5")]


def test_a_fortran_program(lab: Any, heat: Any) -> None:
    rows = solved(lab, heat, "time\n0\n1\n")

    # Written with 17 digits, so only the compiler's own exp may differ in the last one.
    assert [float(row["temperature"]) for row in rows] == pytest.approx([1, math.exp(-1)], 1e-14)


def test_a_python_script_with_a_file_beside_it(lab: Any, decay: Any) -> None:
    rows = solved(lab, decay, "sample_id,amount,time\nx,2,2\n")

    assert [(row["sample_id"], float(row["daughter"])) for row in rows] == [
        ("x", 2 * math.exp(-1.0))
    ]


def test_a_tool_of_the_system(lab: Any, roots: Any) -> None:
    rows = solved(lab, roots, "value\n2\n9\n")

    # bc cuts off after twelve digits.
    assert [float(row["root"]) for row in rows] == pytest.approx([2**0.5, 3], abs=1e-12)


def test_failures_of_single_cases_are_kept_as_data(lab: Any, decay: Any) -> None:
    said = json.dumps({**decay.block})
    words = ["--input", f"solver={decay.folder}", "--input", f"solver.solver={said}"]
    ranges = json.dumps({"amount": [1, 2], "time": [0, 100]})

    done = lab(
        *("call", "file_solver.sample", *words, "--with", f"ranges={ranges}"),
        *("--with", "count=64", "--json", "--out", "out"),
        code=0,
    )

    with (lab.folder / "out" / "samples.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    failed = [row for row in rows if row["failure"]]
    assert done.json["metrics"] == {"samples": 64.0, "failed_samples": float(len(failed))}
    assert {float(row["time"]) > 90 for row in failed} == {True}
    assert {row["daughter"] for row in failed} == {""}
    assert failed[0]["failure"] == "exit code 1: time is too long"
    assert all(float(row["time"]) <= 90 for row in rows if not row["failure"])


def test_a_solver_that_never_answers_is_given_up(lab: Any, decay: Any) -> None:
    said = json.dumps({**decay.block})
    words = ["--input", f"solver={decay.folder}", "--input", f"solver.solver={said}"]
    ranges = json.dumps({"amount": [1, 2], "time": [91, 100]})

    done = lab(
        *("call", "file_solver.sample", *words, "--with", f"ranges={ranges}"),
        *("--with", "count=64", "--json", "--out", "out"),
    )

    assert done.code == 3
    assert "cases was answered: exit code 1: time is too long" in done.json["error"]["message"]
    assert not (lab.folder / "out").exists()


def test_only_the_chosen_program_may_be_executed(lab: Any, decay: Any, make_solver: Any) -> None:
    helper = decay.folder / "helper.sh"
    helper.write_text("#!/bin/sh\necho ran\n")
    caller = decay.folder / "caller.sh"
    caller.write_text('#!/bin/sh\necho answer > "$2"\n./helper.sh >> "$2" 2>&1\ntrue\n')
    for path in (helper, caller):
        os.chmod(path, stat.S_IRWXU)
    solver = make_solver(decay.folder, {"executable": "caller.sh"} | _smoke())

    contract = lab.contract(
        solver,
        [
            {"id": "adapter", "use": "file_solver.adapter", "inputs": {"solver": "solver"}},
        ],
        acceptance=[{"metric": "task_completion", "op": ">=", "value": 1}],
    )
    view = lab("run", contract, "--json", code=0).json
    adapter = lab.artifact(view, "adapter.py")
    (lab.folder / "in").write_text("x")
    words = ["--solver-root", decay.folder, "--solver-executable", "caller.sh"]
    words += ["--input", lab.folder / "in", "--output", lab.folder / "out"]
    subprocess.run([sys.executable, adapter, *words], check=True)

    said = (lab.folder / "out").read_text()
    assert "answer" in said
    assert "ran" not in said.split()
