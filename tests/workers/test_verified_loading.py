"""What was verified is what runs, whatever happens to the disk afterwards."""

from __future__ import annotations

import importlib.util
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciharness.descriptors import Operation
from sciharness.plugins import Plugins
from sciharness.store.home import Home
from sciharness.workers.pool import ActionFailed, ImportFailed, Job, JobResult, LoadSet, Workers
from sciharness_catalog.errors import DigestDiffersError, IntegrityError
from sciharness_catalog.pins import Pin
from sciharness_catalog.verify import read_package

PLUGIN = """
from attrs import frozen
from sciharness import Capability, Context, Outcome, hookimpl

@frozen
class Request:
    module: str = ""

def load(request: Request, context: Context) -> Outcome:
    import importlib
    return Outcome(notes=(str(importlib.import_module(request.module).WORDS),))

@hookimpl
def harness_capabilities() -> list[Capability]:
    return [Capability("load", load, Request, "imports a module", "analysis")]
"""
MODULES = {
    "__init__.py": '"""A plugin."""\n',
    "plugin.py": PLUGIN,
    "late.py": "WORDS = 'verified'\n",
    "failing.py": "def fail():\n    raise ValueError('verified line')\n\nWORDS = fail()\n",
    "uses.py": "from harness_library import WORDS\n",
    "folder/inside.py": "WORDS = 'inside'\n",
    "parted.py": (
        "from . import late\nfrom .folder import inside\nWORDS = late.WORDS + inside.WORDS\n"
    ),
}


@pytest.fixture(scope="module")
def built(tools: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin and a library beside it."""
    scratch = tmp_path_factory.mktemp("loading")
    plugin = tools.write_project(
        scratch / "plugin", "harness-loader", MODULES, 'loader = "harness_loader.plugin"'
    )
    library = tools.write_project(
        scratch / "library", "harness-library", {"__init__.py": '"""."""\nWORDS = "library"\n'}
    )
    tools.build_and_install([plugin, library], scratch / "site")
    return scratch / "site"


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may damage."""
    return Path(shutil.copytree(built, tmp_path / "site"))


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Workers]:
    """A pool of its own."""
    with Workers(tmp_path / "workers") as workers:
        yield workers


def load(pool: Workers, package: LoadSet, module: str) -> JobResult:
    operation = Operation("loader", "load", "capability", "", "analysis", {"type": "object"})
    job = Job(
        pin=Pin("loader", "1.0", "load", package.package.digest),
        operation=operation,
        package=package,
        request={"module": module},
        inputs={},
        workspace=pool.root.parent / "action",
    )
    return pool.run(job)


def test_relative_and_parted_imports_work(tools: Any, pool: Workers, site: Path) -> None:
    package = tools.load_set(site, "loader")

    assert load(pool, package, "harness_loader.parted").notes == ("verifiedinside",)


def test_a_file_changed_after_the_check_does_not_run(tools: Any, pool: Workers, site: Path) -> None:
    package = tools.load_set(site, "loader")
    (site / "harness_loader" / "late.py").write_text("WORDS = 'planted'\n", "utf-8")
    (site / "harness_loader" / "plugin.py").write_text("raise SystemExit('planted')", "utf-8")

    assert load(pool, package, "harness_loader.late").notes == ("verified",)


def test_a_file_added_after_the_check_is_not_found(tools: Any, pool: Workers, site: Path) -> None:
    package = tools.load_set(site, "loader")
    (site / "harness_loader" / "added.py").write_text("WORDS = 'planted'\n", "utf-8")

    with pytest.raises(ActionFailed, match="no verified module 'harness_loader.added'"):
        load(pool, package, "harness_loader.added")


def test_planted_bytecode_does_not_run(tools: Any, pool: Workers, site: Path) -> None:
    package = tools.load_set(site, "loader")
    planted = site / "planted.py"
    planted.write_text("WORDS = 'planted'\n", "utf-8")
    late = site / "harness_loader" / "late.py"
    cache = Path(importlib.util.cache_from_source(str(late)))
    cache.parent.mkdir(exist_ok=True)
    py_compile.compile(
        str(planted), str(cache), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )

    code = f"import sys; sys.path[:0] = [{str(site)!r}]; from harness_loader import late;"
    otherwise = subprocess.run(
        [sys.executable, "-I", "-c", code + "print(late.WORDS)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert otherwise.stdout == "planted\n"
    assert load(pool, package, "harness_loader.late").notes == ("verified",)


def test_a_traceback_shows_the_lines_that_ran(tools: Any, pool: Workers, site: Path) -> None:
    package = tools.load_set(site, "loader")
    (site / "harness_loader" / "failing.py").write_text("# another\n# line\n" * 9, "utf-8")

    with pytest.raises(ActionFailed) as caught:
        load(pool, package, "harness_loader.failing")

    assert "raise ValueError('verified line')" in caught.value.detail
    assert "# line" not in caught.value.detail


def test_a_library_of_ours_is_loaded_from_verified_bytes_too(
    tools: Any, pool: Workers, site: Path
) -> None:
    plugin = tools.load_set(site, "loader")
    library = read_package(site / "harness_library-1.0.dist-info")
    (site / "harness_library" / "__init__.py").write_text("WORDS = 'planted'\n", "utf-8")

    verified = load(pool, LoadSet(plugin.package, (library,)), "harness_loader.uses")
    with Workers(pool.root.parent / "others") as others:
        from_disk = load(others, plugin, "harness_loader.uses")

    assert (verified.notes, from_disk.notes) == (("library",), ("planted",))


def test_memory_gone_during_import_is_told(tools: Any, pool: Workers, site: Path) -> None:
    (site / "harness_loader" / "plugin.py").write_text("bytearray(64 << 30)", "utf-8")

    with pytest.raises(ActionFailed, match="during import") as caught:
        load(pool, tools.load_set(site, "loader"), "x")

    assert caught.value.reason == "memory"


def test_a_plugin_that_fails_to_import_is_an_installation_error(
    tools: Any, pool: Workers, site: Path
) -> None:
    (site / "harness_loader" / "plugin.py").write_text("import nowhere_to_be_found", "utf-8")

    with pytest.raises(ImportFailed, match="nowhere_to_be_found") as caught:
        load(pool, tools.load_set(site, "loader"), "x")

    assert (caught.value.reason, caught.value.exit_code) == ("import", 8)


def test_nothing_is_imported_before_it_is_admitted(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "harness_loader" / "plugin.py").write_text("raise OSError('MARK: imported')", "utf-8")
    monkeypatch.syspath_prepend(str(site))
    plugins = Plugins(Home.open(tmp_path / "home"))

    (before,) = [one for one in plugins.listing() if one.id == "loader"]
    after = plugins.admit("loader")

    assert (before.state, "MARK" in str(before.reason)) == ("installed", False)
    assert (after.state, "MARK" in str(after.reason)) == ("broken", True)


def test_a_changed_file_is_refused_before_import(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(site))
    plugins = Plugins(Home.open(tmp_path / "home"))
    plugins.admit("loader")
    (site / "harness_loader" / "plugin.py").write_text("raise OSError('MARK: imported')", "utf-8")

    with pytest.raises(DigestDiffersError):
        Plugins(plugins.home).lease("loader.load")
    (status,) = [one for one in plugins.listing() if one.id == "loader"]
    assert (status.state, "MARK" in str(status.reason)) == ("refused", False)


def test_a_file_nobody_listed_is_refused_before_import(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(site))
    plugins = Plugins(Home.open(tmp_path / "home"))
    plugins.admit("loader")
    (site / "harness_loader" / "added.py").write_text("WORDS = 'planted'\n", "utf-8")

    with pytest.raises(IntegrityError, match=r"added\.py"):
        Plugins(plugins.home).lease("loader.load")
