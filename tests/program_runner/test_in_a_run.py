"""Programs as steps of a run: their metrics are criteria, an executor may refuse to start them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from harness import Harness, built

from sciharness.programs import isolation

ROOT = Path(__file__).resolve().parents[2]
SANDBOXED = ROOT / "examples" / "plugins" / "sandboxed"

PROGRAM = """
import argparse, json, os
parser = argparse.ArgumentParser()
parser.add_argument("--training-csv", required=True)
rows = open(parser.parse_args().training_csv).read().splitlines()[1:]
total = sum(float(row.split(",")[1]) for row in rows)
json.dump({"metrics": {"mean_y": total / len(rows), "pid": os.getpid()}}, open("result.json", "w"))
open("summary.txt", "w").write(str(total))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home with the executor `example.sandboxed.full` admitted, and a folder to work in."""
    scratch = tmp_path_factory.mktemp("sandboxed")
    with zipfile.ZipFile(built(SANDBOXED, scratch / "wheels")) as wheel:
        wheel.extractall(scratch / "site")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
    environment = {
        **kept,
        "HOME": str(scratch / "person"),
        "HARNESS_HOME": str(scratch / "home"),
        "PYTHONPATH": str(scratch / "site"),
    }
    made = Harness(scratch / "home", scratch, environment)
    made("plugin", "admit", "example.sandboxed", code=0)
    (scratch / "program.py").write_text(PROGRAM)
    (scratch / "rows.csv").write_text("x,y\n" + "".join(f"{n},{2 * n}\n" for n in range(10)))
    return made


def contract(home: Any, name: str, **fields: Any) -> Path:
    """Write a contract that runs the program on a table."""
    base = {
        "schema": "research-contract-v1",
        "title": "A program of one's own",
        "goal": "The mean of y lies at 9.",
        "inputs": [
            {"name": "program", "path": "program.py"},
            {"name": "rows", "path": "rows.csv", "role": "table"},
        ],
        "capabilities": ["execution.python.run"],
        "acceptance": [{"metric": "mean_y", "op": ">=", "value": 9.0}],
        "steps": [
            {
                "id": "mean",
                "use": "execution.python.run",
                "inputs": {"program": "program", "training_csv": "rows"},
                "with": {"outputs": {"summary.txt": "OTHER"}},
            }
        ],
    }
    path: Path = home.folder / f"{name}.yaml"
    path.write_text(json.dumps({**base, **fields}))
    return path


def test_a_programs_metric_meets_a_criterion_and_is_only_reported(home: Any) -> None:
    run = home("run", contract(home, "plain"), "--json", code=0).json
    assert run["status"] == "succeeded"
    found = {one["name"]: one for one in run["metrics"]}
    assert (found["mean_y"]["value"], found["mean_y"]["source"]) == (9.0, "reported")
    assert "summary.txt" in {one["name"] for one in run["artifacts"]}


def test_a_program_can_never_meet_a_trusted_criterion(home: Any) -> None:
    trusted = [{"metric": "mean_y", "op": ">=", "value": 9.0, "trusted": True}]
    said = home("check", contract(home, "trusted", acceptance=trusted), "--json", code=3).json
    assert "which is no evaluator" in said["problems"][0]["found"]


def test_arguments_that_lack_are_found_before_the_program_starts(home: Any) -> None:
    steps = [
        {"id": "mean", "use": "execution.python.run", "inputs": {"program": "program", "x": "rows"}}
    ]
    done = home("run", contract(home, "lacking", steps=steps), code=1)
    assert "the program requires --training-csv, and is given: --x" in done.err


@pytest.mark.skipif(isolation() != "landlock+seccomp", reason="it refuses on this machine")
def test_with_the_executor_it_runs_in_namespaces_of_its_own(home: Any) -> None:
    executor = {"use": "example.sandboxed.full"}
    run = home("run", contract(home, "boxed", executor=executor), "--json", code=0).json
    events = home.events(run["run_id"])
    (launched,) = [one for one in events if one["kind"] == "ProgramLaunched"]
    prefix = launched["body"]["prefix"]
    pid = {one["name"]: one["value"] for one in run["metrics"]}["pid"]
    assert (pid == 1.0) == bool(prefix)  # in a process namespace of its own it is the first


def test_where_confinement_is_not_full_nothing_is_started(
    home: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # On a machine without seccomp `local` falls back to less; the executor refuses instead.
    sys.path.insert(0, str(SANDBOXED / "src"))
    try:
        from example_sandboxed import confining
    finally:
        sys.path.remove(str(SANDBOXED / "src"))
    for level, said in (("landlock", "the network stays open"), ("none", "nothing is confined")):
        monkeypatch.setattr(confining, "isolation", lambda level=level: level)
        with pytest.raises(Exception, match=said):
            confining.check_confinement()


def test_without_unshare_there_are_no_namespaces(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sys.path.insert(0, str(SANDBOXED / "src"))
    try:
        from example_sandboxed import confining
    finally:
        sys.path.remove(str(SANDBOXED / "src"))
    monkeypatch.setattr(confining.shutil, "which", lambda name, path: None)
    assert confining.namespaces(tmp_path) == ()


SOLVER = """
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "--version")) { puts("squares 1.0"); return 0; }
    return 2;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler is installed")
@pytest.mark.parametrize("form", ["folder", "zip", "boxed"])
def test_an_adapter_is_tried_by_the_documented_call_of_its_solver(home: Any, form: str) -> None:
    if form == "boxed" and isolation() != "landlock+seccomp":
        pytest.skip("the executor refuses on this machine")
    place = home.folder / f"solver-{form}"
    place.mkdir()
    (place / "s.c").write_text(SOLVER)
    subprocess.run(["cc", "-o", str(place / "squares"), str(place / "s.c")], check=True)
    if form == "zip":
        shutil.make_archive(str(place), "zip", place)
    solver = {
        "name": "solver",
        "path": place.name + (".zip" if form == "zip" else ""),
        "role": "reference_solver",
        "solver": {"executable": "squares", "smoke": {"args": ["--version"]}},
    }
    steps = [
        {"id": "adapter", "use": "file_solver.adapter", "inputs": {"solver": "solver"}},
        {
            "id": "smoke",
            "use": "execution.python.run",
            "inputs": {"program": "adapter", "solver": "solver"},
        },
    ]
    path = contract(
        home,
        f"adapter-{form}",
        inputs=[solver],
        capabilities=["file_solver.adapter", "execution.python.run"],
        acceptance=[{"metric": "adapter_validated", "op": ">=", "value": 1}],
        steps=steps,
        executor={"use": "example.sandboxed.full"} if form == "boxed" else "local",
    )
    run = home("run", path, "--json", code=0).json
    kinds = {one["type"] for one in run["artifacts"]}
    assert {"solver_bundle", "adapter_validation", "source.python"} <= kinds


def test_the_example_runs_as_it_stands(home: Any) -> None:
    without_lock = shutil.ignore_patterns("contract.lock")
    shutil.copytree(
        ROOT / "examples" / "own_program", home.folder / "own_program", ignore=without_lock
    )
    run = home("run", home.folder / "own_program" / "contract.yaml", "--json", code=0).json
    values = {one["name"]: one["value"] for one in run["metrics"]}
    # The signal was made with 7.5 Hz; 400 samples of 5 ms resolve 0.5 Hz.
    assert abs(values["peak_hz"] - 7.5) <= 0.5
    assert "spectrum.csv" in {one["name"] for one in run["artifacts"]}


@pytest.mark.slow
@pytest.mark.parametrize("project", ["capabilities/program_runner", "examples/plugins/sandboxed"])
def test_both_plugins_conform(home: Any, project: str) -> None:
    done = home("plugin", "check", ROOT / project, code=0)
    assert ", 0 failed" in done.text
