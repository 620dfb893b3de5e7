"""Solvers built for the tests, contracts around them, and the real command to run these."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from sciharness.cli import main

DATA = Path(__file__).parent / "programs"
Json = dict[str, Any]  # Any: JSON values


@frozen
class Done:
    """A command that has ended: exit code and both outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: JSON values
        """What stands on standard output."""
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """Both outputs."""
        return self.out + self.err


@frozen
class Solver:
    """A solver's folder and the `solver:` block that says how it is called."""

    folder: Path
    block: Mapping[str, Any] = field(factory=dict)


@frozen
class Lab:
    """A home and a folder for contracts."""

    home: Path
    folder: Path

    def __call__(self, *words: str | Path, code: int | None = None) -> Done:
        """Run the command here, in the folder; with ``code`` it has to end with that."""
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
                main(["--home", str(self.home), *map(str, words)])
        finally:
            os.chdir(before)
        done = Done(int(str(left.value.code or 0)), out.getvalue(), err.getvalue())
        assert code is None or done.code == code, done
        return done

    def contract(self, solver: Solver, steps: list[Json], **fields: Any) -> Path:
        """Write a contract around a copy of a solver."""
        if not (self.folder / "solver").exists():
            shutil.copytree(solver.folder, self.folder / "solver")
        given = {"name": "solver", "path": "solver", "role": "reference_solver"}
        values: Json = {
            "schema": "research-contract-v1",
            "title": "A solver as a tool",
            "goal": "Make the solver quick.",
            "inputs": [{**given, "solver": dict(solver.block)}],
            "capabilities": sorted({step["use"] for step in steps}),
            "acceptance": [{"metric": "samples", "op": ">=", "value": 1}],
            "holdout": "none",
            "steps": steps,
            **fields,
        }
        path = self.folder / "c.yaml"
        path.write_text(json.dumps(values, indent=1), "utf-8")
        return path

    def artifact(self, view: Json, name: str) -> Path:
        """Return the newest artifact of that name of a run."""
        found = [one["path"] for one in view["artifacts"] if one["name"] == name]
        return Path(found[-1])


@pytest.fixture(scope="session")
def make_lab(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Lab]:
    """A maker of homes, each with an empty folder; descriptors of plugins are known in all."""
    known = tmp_path_factory.mktemp("known")
    Lab(known / "home", known)("plugin", "list", code=0)

    def make() -> Lab:
        place = tmp_path_factory.mktemp("lab")
        (place / "work").mkdir()
        made = Lab(place / "home", place / "work")
        made("list", code=0)
        shutil.copytree(
            known / "home/plugins/descriptors",
            made.home / "plugins/descriptors",
            dirs_exist_ok=True,
        )
        return made

    return make


@pytest.fixture
def lab(make_lab: Callable[[], Lab]) -> Lab:
    """A home of its own and an empty folder."""
    return make_lab()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A maker of folders with a program compiled from a source of ``programs``."""

    def make(source: str, *compilers: str) -> Path:
        compiler = next((path for name in compilers if (path := shutil.which(name))), None)
        if compiler is None:
            pytest.skip(f"none of {', '.join(compilers)} is installed here")
        folder = tmp_path_factory.mktemp("solver") / "solver"
        (folder / "bin").mkdir(parents=True)
        program = folder / "bin" / "solve"
        command = [compiler, "-O1", "-o", program, DATA / source, "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        return folder

    return make


@pytest.fixture(scope="session")
def make_solver() -> Callable[..., Solver]:
    """A maker of a folder with its `solver:` block."""
    return Solver


@pytest.fixture(scope="session")
def spring(built: Callable[..., Path]) -> Solver:
    """A C program: the response of a driven spring, with a table in and out."""
    block = {
        "executable": "bin/solve",
        "command": ["{executable}", "-i", "{input}", "-o", "{output}"],
        "table": {"inputs": ["frequency", "damping"], "outputs": ["response"]},
        "smoke": {"args": ["--version"]},
    }
    return Solver(built("spring.c", "cc", "gcc", "clang"), block)


RANGES = {"frequency": [0.2, 1.6], "damping": [0.4, 1.0]}


@pytest.fixture(scope="session")
def hybrid_steps() -> list[Json]:
    """The steps of a small hybrid of the spring."""
    sample = {"ranges": RANGES, "count": 240}
    solver = {"solver": "solver"}
    return [
        {"id": "samples", "use": "file_solver.sample", "inputs": solver, "with": sample},
        {
            "id": "fast",
            "use": "file_solver.train",
            "inputs": {"data": "samples", **solver},
            "with": {"families": ["polynomial"]},
        },
        {
            "id": "bench",
            "use": "file_solver.benchmark",
            "inputs": {"predictor": "fast", **solver},
            "with": {"queries": 400, "compared": 200},
        },
    ]
