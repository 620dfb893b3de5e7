"""The real `harness` command in child processes, and wheels of plugins for it to find."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

TOY = Path(__file__).parent / "toy"
COMMAND = Path(sysconfig.get_path("scripts")) / "harness"
SECONDS = 120.0

TRUSTED = {"metric": "relative_rmse", "op": "<=", "value": 0.05, "trusted": True}
LINE: Mapping[str, Any] = {  # Any: the values of a contract
    "schema": "research-contract-v1",
    "title": "Line",
    "goal": "Find the line through the points.",
    "inputs": [{"name": "data", "path": "data.csv", "role": "labelled_table"}],
    "capabilities": ["toy.fit", "evaluation.regression"],
    "acceptance": [TRUSTED],
}
SMALL: Mapping[str, Any] = {
    "schema": "research-contract-v1",
    "title": "Small steps",
    "goal": "See each step run.",
    "capabilities": ["toy.nothing"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
    "holdout": "none",
}


@frozen
class Done:
    """A command that has ended: exit code and both outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: JSON values
        """What stands on standard output, which has to be one JSON document."""
        return json.loads(self.out, parse_constant=_refused)

    @property
    def text(self) -> str:
        """Both outputs."""
        return self.out + self.err


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@frozen
class Harness:
    """A home, a folder for contracts and data, and the command to use them."""

    home: Path
    folder: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str | Path, code: int | None = None, **environment: str) -> Done:
        """Run the command in the folder; with ``code`` it has to end with that exit code."""
        ended = subprocess.run(
            [COMMAND, *map(str, words)],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        done = Done(ended.returncode, ended.stdout, ended.stderr)
        assert code is None or done.code == code, done
        return done

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start the command without waiting for it, in a process group of its own."""
        return subprocess.Popen(
            [COMMAND, *map(str, words)],
            cwd=self.folder,
            env=dict(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def contract(self, base: Mapping[str, Any] = LINE, name: str = "c.yaml", **fields: Any) -> Path:
        """Write a contract with some fields replaced (``None`` leaves one out)."""
        values = {key: one for key, one in {**base, **fields}.items() if one is not None}
        path = self.folder / name
        path.write_text(json.dumps(values, indent=1, ensure_ascii=False), "utf-8")
        return path

    def table(self, rows: int = 60, name: str = "data.csv", seed: int = 1, **columns: Any) -> Path:
        """Write a table of ``y = 2 a - b + 0.5`` with small noise; further columns are lists."""
        draw = random.Random(seed)
        lines = [",".join([*columns, "a", "b", "y"])]
        for number in range(rows):
            a, b = draw.uniform(0.0, 5.0), draw.uniform(-3.0, 3.0)
            y = 2.0 * a - b + 0.5 + draw.gauss(0.0, 0.05)
            cells = [str(column[number]) for column in columns.values()]
            lines.append(",".join([*cells, repr(a), repr(b), repr(y)]))
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    def events(self, run: str = "1") -> list[dict[str, Any]]:
        """Return the events of a run as the command prints them."""
        return [json.loads(line) for line in self("events", run, "--json", code=0).out.splitlines()]

    def kinds(self, run: str = "1") -> list[str]:
        """Return the kinds of the events of a run."""
        return [event["kind"] for event in self.events(run)]

    def show(self, run: str = "1") -> dict[str, Any]:
        """Return a run as ``show --json`` prints it."""
        found: dict[str, Any] = self("show", run, "--json", code=0).json
        return found

    def moved(self, **changes: Any) -> Harness:
        """Return the same with another home or folder."""
        other = evolve(self, **changes)
        return evolve(other, environment={**other.environment, "HARNESS_HOME": str(other.home)})


def built(project: Path, wheels: Path) -> Path:
    """Build the wheel of a flit project and return it."""
    wheels.mkdir(exist_ok=True)
    build = (
        "import os, sys; from flit_core import buildapi; os.chdir(sys.argv[1]);"
        "print(buildapi.build_wheel(sys.argv[2]))"
    )
    command = [sys.executable, "-c", build, project, wheels]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return wheels / made.stdout.split()[-1]


def toy_site(scratch: Path) -> Path:
    """Build the toy plugin's wheel, install it with pip into a folder and return that."""
    project, found = scratch / "project", scratch / "site"
    shutil.copytree(TOY, project, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile"]
    wheel = built(project, scratch / "wheels")
    subprocess.run([*pip, "--quiet", "--target", found, wheel], check=True)
    return found


def plugin_site(scratch: Path, name: str, text: str, plugin_id: str = "") -> Path:
    """Build a plugin of one module, unpack its wheel into a folder and return that."""
    (scratch / f"{name}.py").write_text(text, "utf-8")
    (scratch / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core']\nbuild-backend = 'flit_core.buildapi'\n"
        f"[project]\nname = '{name}'\nversion = '1.0'\ndescription = 'for tests'\n"
        f"[project.entry-points.'sciharness.plugins']\n'{plugin_id or name}' = '{name}'\n",
        "utf-8",
    )
    with zipfile.ZipFile(built(scratch, scratch / "wheels")) as wheel:
        wheel.extractall(scratch / "site")
    return scratch / "site"


def prepared(scratch: Path, site: Path) -> Harness:
    """Return a home in which the plugin in ``site`` is admitted and all descriptors are known."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
    environment = {
        **kept,
        "HOME": str(scratch / "person"),
        "HARNESS_HOME": str(scratch / "home"),
        "PYTHONPATH": str(site),
    }
    made = Harness(scratch / "home", scratch, environment)
    made("plugin", "admit", "toy", code=0)
    made("plugin", "list", code=0)
    return made
