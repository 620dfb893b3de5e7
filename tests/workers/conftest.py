"""Real wheels for the worker tests: built by flit_core, installed by pip into a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from sciharness.descriptors import Operation
from sciharness.plugin import Input
from sciharness.workers.pool import Job, JobResult, LoadSet, Workers
from sciharness_catalog.distributions import find_plugins
from sciharness_catalog.pins import Pin
from sciharness_catalog.verify import read_verified

SOURCES = Path(__file__).parent / "plugins"


def build_and_install(projects: Sequence[Path], site: Path) -> None:
    """Build a wheel of each project folder and install them into ``site``."""
    from flit_core.wheel import make_wheel_in

    wheels = site.parent / "wheels"
    wheels.mkdir(exist_ok=True)
    built = [str(make_wheel_in(project / "pyproject.toml", wheels).file) for project in projects]
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile"]
    options = ["--quiet", "--disable-pip-version-check", "--target", str(site)]
    subprocess.run([*pip, *options, *built], check=True)


def write_project(folder: Path, name: str, modules: Mapping[str, str], plugin: str = "") -> Path:
    """Write a flit project of one package and return its folder."""
    package = name.replace("-", "_")
    for relative, text in modules.items():
        path = folder / package / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    entry = f'[project.entry-points."sciharness.plugins"]\n{plugin}\n' if plugin else ""
    (folder / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core']\nbuild-backend = 'flit_core.buildapi'\n"
        f"[project]\nname = '{name}'\nversion = '1.0'\ndescription = 'for tests'\n{entry}",
        "utf-8",
    )
    return folder


def load_set(site: Path, plugin_id: str) -> LoadSet:
    """Return the verified bytes of an installed plugin."""
    (plugin,) = [one for one in find_plugins([site]) if one.plugin_id == plugin_id]
    return LoadSet(read_verified(plugin))


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """The functions above, for tests that build plugins of their own."""
    return SimpleNamespace(
        build_and_install=build_and_install, load_set=load_set, write_project=write_project
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugins ``tiny`` and ``liar`` installed."""
    scratch = tmp_path_factory.mktemp("built")
    projects = []
    for plugin in ("tiny", "liar"):
        modules = {
            str(path.relative_to(SOURCES / plugin)): path.read_text("utf-8")
            for path in sorted((SOURCES / plugin).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        entry_point = f'{plugin} = "harness_{plugin}.plugin"'
        projects.append(write_project(scratch / plugin, f"harness-{plugin}", modules, entry_point))
    build_and_install(projects, scratch / "site")
    return scratch / "site"


@pytest.fixture(scope="session")
def broken_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plugin that needs a library which is not there."""
    scratch = tmp_path_factory.mktemp("broken")
    modules = {"__init__.py": "'''Broken.'''", "plugin.py": "import no_such_library\n"}
    plugin = 'broken = "harness_broken.plugin"'
    project = write_project(scratch / "broken", "harness-broken", modules, plugin)
    build_and_install([project], scratch / "site")
    return scratch / "site"


@pytest.fixture(scope="session")
def tiny(site: Path) -> LoadSet:
    """The well-behaved plugin."""
    return load_set(site, "tiny")


@pytest.fixture(scope="session")
def liar(site: Path) -> LoadSet:
    """The plugin that breaks every rule once."""
    return load_set(site, "liar")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that stands for a home, with a vault that holds a secret."""
    folder = tmp_path_factory.mktemp("worker") / "home"
    (folder / "vault").mkdir(parents=True)
    (folder / "vault" / "labels.csv").write_text("sample_id,y\n0,SECRET-LABEL\n", "utf-8")
    return folder


@pytest.fixture(scope="session")
def workers(home: Path) -> Iterator[Workers]:
    """A pool whose workers may not see the home; one for all, since a start takes its time."""
    with Workers(home / "workspaces" / "run" / "workers", hidden=(home, home / "vault")) as pool:
        yield pool


@pytest.fixture(scope="session")
def operations(
    tmp_path_factory: pytest.TempPathFactory, tiny: LoadSet, liar: LoadSet
) -> Mapping[str, Operation]:
    """The described operations of both plugins by capability name."""
    with Workers(tmp_path_factory.mktemp("describe")) as pool:
        found = [pool.describe(one) for one in (tiny, liar)]
    return {operation.name: operation for one in found for operation in one.operations}


@pytest.fixture(scope="session")
def act(
    workers: Workers, tiny: LoadSet, liar: LoadSet, operations: Mapping[str, Operation], home: Path
) -> Callable[..., JobResult]:
    """Run ``plugin.operation`` with a request and inputs; further options are job fields."""
    packages = {"tiny": tiny, "liar": liar}
    pool = workers

    def run(
        name: str,
        request: Mapping[str, object] | None = None,
        inputs: Mapping[str, Path] | None = None,
        *,
        workers: Workers | None = None,
        on_event: Callable[[dict[str, object]], None] = lambda event: None,
        cancelled: Callable[[], bool] = lambda: False,
        workspace: str = "0",
        folder: Path | None = None,
        **fields: object,
    ) -> JobResult:
        plugin_id, _, operation = name.partition(".")
        package = packages[plugin_id]
        job = Job(
            pin=Pin(plugin_id, "1.0", operation, package.package.digest),
            operation=operations[name],
            package=package,
            request=request or {},
            inputs={key: Input(key, path, "DATASET") for key, path in (inputs or {}).items()},
            workspace=(folder or home / "workspaces" / "run") / workspace,
            **fields,  # type: ignore[arg-type]
        )
        return (workers or pool).run(job, on_event, cancelled)

    return run


@pytest.fixture
def confined(workers: Workers) -> None:
    """Skip where workers cannot be confined."""
    if workers.isolation != "landlock+seccomp":
        pytest.skip(f"isolation here is {workers.isolation}")
    os.environ.pop("HARNESS_READ_PATHS", None)
