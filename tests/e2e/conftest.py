"""A home with the toy plugin for each test, and the shapes that commands print."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SUPPORT = Path(__file__).parent.parent / "support"


def support(name: str) -> ModuleType:
    """Import a module of the support folder, which is no package."""
    full = f"sciharness_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, SUPPORT / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the toy plugin installed from its built wheel."""
    found: Path = support("harness").toy_site(tmp_path_factory.mktemp("toy"))
    return found


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Install a plugin of one module, given its name and text, into a folder of its own."""

    def make(name: str, text: str, plugin_id: str = "") -> Path:
        scratch = tmp_path_factory.mktemp(name)
        found: Path = support("harness").plugin_site(scratch, name, text, plugin_id)
        return found

    return make


@pytest.fixture(scope="session")
def prepared(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home in which the toy plugin is admitted; tests work with copies of it."""
    return support("harness").prepared(tmp_path_factory.mktemp("prepared"), site)


@pytest.fixture(scope="session")
def fresh(prepared: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """A maker of homes and folders of their own, the toy plugin admitted."""

    def make(name: str = "case") -> Any:
        scratch = tmp_path_factory.mktemp(name)
        shutil.copytree(prepared.home, scratch / "home")
        (scratch / "work").mkdir()
        return prepared.moved(home=scratch / "home", folder=scratch / "work")

    return make


@pytest.fixture
def harness(fresh: Callable[..., Any]) -> Any:
    """A home and a folder of its own, the toy plugin admitted."""
    return fresh()


@pytest.fixture(scope="session")
def conforms() -> Callable[[str, Any], None]:
    """A check that a value has the documented shape; it says where it has not."""
    from jsonschema import Draft202012Validator

    schemas = support("interfaces").SCHEMAS

    def check(name: str, value: Any) -> None:
        found = Draft202012Validator(schemas[name]).iter_errors(value)
        assert [f"{error.json_path}: {error.message}" for error in found] == []

    return check


@pytest.fixture
def confined() -> None:
    """Skip where workers cannot be confined."""
    from sciharness.workers.confinement import probe

    if probe() == "none":
        pytest.skip("no Landlock here: nothing confines a worker")
