"""Third-party plugins as their authors ship them: wheels, installed by pip into a folder."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from sciharness.runtime.review import Review, review_contract
from sciharness.store.home import Home

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "plugins"
PLUGINS = Path(__file__).parent / "plugins"
OWN = ("odd", "odd_reviews")
TOY = ROOT / "tests" / "support" / "toy"
SECONDS = 180.0

LINE: Mapping[str, Any] = {  # Any: the values of a contract
    "schema": "research-contract-v1",
    "title": "Line",
    "goal": "Find the line through the points.",
    "inputs": [{"name": "data", "path": "data.csv", "role": "labelled_table"}],
    "capabilities": ["toy.fit", "evaluation.regression"],
    "acceptance": [{"metric": "relative_rmse", "op": "<=", "value": 0.05, "trusted": True}],
}


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
class Harness:
    """A home, a folder for contracts and data, and the command to use them."""

    home: Path
    folder: Path
    site: Path
    command: Path = Path(sysconfig.get_path("scripts")) / "harness"

    def __call__(self, *words: str | Path, code: int | None = None, **environment: str) -> Done:
        """Run the command in the folder; with ``code`` it has to end with that exit code."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
        own = {"HARNESS_HOME": str(self.home), "PYTHONPATH": str(self.site)}
        ended = subprocess.run(
            [self.command, *map(str, words)],
            cwd=self.folder,
            env={**kept, **own, **environment},
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
        """Start the command without waiting for it."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
        own = {"HARNESS_HOME": str(self.home), "PYTHONPATH": str(self.site)}
        return subprocess.Popen(
            [self.command, *map(str, words)],
            cwd=self.folder,
            env={**kept, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def contract(self, name: str = "c.yaml", **fields: Any) -> Path:
        """Write the contract of a line with some fields replaced (``None`` leaves one out)."""
        values = {key: one for key, one in {**LINE, **fields}.items() if one is not None}
        path = self.folder / name
        path.write_text(json.dumps(values, indent=1), "utf-8")
        return path

    def table(self, rows: int = 60) -> Path:
        """Write a table of ``y = 2 a - b + 0.5`` with small noise."""
        draw = random.Random(1)
        lines = ["a,b,y"]
        for _ in range(rows):
            a, b = draw.uniform(0.0, 5.0), draw.uniform(-3.0, 3.0)
            lines.append(f"{a!r},{b!r},{2.0 * a - b + 0.5 + draw.gauss(0.0, 0.05)!r}")
        path = self.folder / "data.csv"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    def events(self, kind: str, run: str = "1") -> list[dict[str, Any]]:
        """Return the bodies of one kind of event of a run."""
        lines = self("events", run, "--json", code=0).out.splitlines()
        events = [json.loads(line) for line in lines]
        return [event["body"] for event in events if event["kind"] == kind]

    def review(self, name: str) -> Review:
        """Return everything that can be said of a contract, in this process."""
        with self.opened() as home:
            return review_contract(home, self.folder / name)

    @contextmanager
    def opened(self) -> Iterator[Home]:
        """Give the home, with the plugins on this process's path."""
        sys.path.insert(0, str(self.site))
        try:
            with Home.open(self.home) as home:
                yield home
        finally:
            sys.path.remove(str(self.site))

    def state_of(self, plugin_id: str) -> str:
        """Return the state of a plugin as ``plugin list`` shows it."""
        entries = self("plugin", "list", "--json", code=0).json["plugins"]
        return str(next(one["state"] for one in entries if one["id"] == plugin_id))


def built(project: Path, wheels: Path) -> Path:
    """Build the wheel of a flit project from a copy of its folder."""
    wheels.mkdir(parents=True, exist_ok=True)
    copy = wheels / f"source-{project.name}"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("__pycache__"))
    build = (
        "import os, sys; from flit_core import buildapi; os.chdir(sys.argv[1]);"
        "print(buildapi.build_wheel(sys.argv[2]))"
    )
    command = [sys.executable, "-c", build, copy, wheels]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    shutil.rmtree(copy)
    return wheels / made.stdout.split()[-1]


def installed(wheels: list[Path], site: Path) -> Path:
    """Install wheels into a folder with pip, as a person would."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index"]
    options = ["--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, *options, *map(str, wheels)], check=True, capture_output=True)
    return site


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of all members, of the examples and of the plugins for tests, by project."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    members = [sys.executable, str(ROOT / ".ci" / "members.py"), "--wheels", str(folder)]
    subprocess.run(members, check=True, capture_output=True)
    wheels = {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}
    projects = [*(path.parent for path in EXAMPLES.glob("*/pyproject.toml")), TOY]
    projects += [PLUGINS / name for name in OWN]
    return wheels | {project.name: built(project, folder) for project in sorted(projects)}


@pytest.fixture(scope="session")
def site(wheelhouse: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples and the plugins for tests installed."""
    names = [path.parent.name for path in EXAMPLES.glob("*/pyproject.toml")]
    wheels = [wheelhouse[name] for name in (*sorted(names), *OWN, "toy")]
    return installed(wheels, tmp_path_factory.mktemp("plugins") / "site")


@pytest.fixture(scope="session")
def prepared(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """A home with the plugins for tests admitted; tests work with copies of it."""
    scratch = tmp_path_factory.mktemp("prepared")
    made = Harness(scratch / "home", scratch, site)
    for plugin_id in ("toy", "odd", "example.six"):
        made("plugin", "admit", plugin_id, code=0)
    made("plugin", "list", code=0)
    return made


@pytest.fixture
def harness(prepared: Harness, tmp_path: Path) -> Harness:
    """A home and a folder of its own, the plugins for tests admitted."""
    shutil.copytree(prepared.home, tmp_path / "home")
    (tmp_path / "work").mkdir()
    made = evolve(prepared, home=tmp_path / "home", folder=tmp_path / "work")
    made.table()
    return made


@pytest.fixture
def bare(site: Path, tmp_path: Path) -> Harness:
    """A home in which nothing is admitted, and a site folder of its own."""
    place = tmp_path / "bare"
    shutil.copytree(site, place / "site", symlinks=True)
    (place / "work").mkdir()
    made = Harness(place / "home", place / "work", place / "site")
    made.table()
    return made


@pytest.fixture(scope="session")
def tools() -> Mapping[str, Callable[..., Path]]:
    """The functions above that build and install, for tests with plugins of their own."""
    return {"built": built, "installed": installed}
