"""Fixtures: homes with the toy plugin in which the real `harness` command runs.

A folder's conftest imports the ones it needs; pytest finds this module by
``pythonpath`` in pyproject.toml.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness as command
import interfaces
import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the toy plugin installed from its built wheel."""
    found: Path = command.toy_site(tmp_path_factory.mktemp("toy"))
    return found


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Install a plugin of one module, given its name and text, into a folder of its own."""

    def make(name: str, text: str, plugin_id: str = "") -> Path:
        scratch = tmp_path_factory.mktemp(name)
        found: Path = command.plugin_site(scratch, name, text, plugin_id)
        return found

    return make


@pytest.fixture(scope="session")
def prepared(site: Path, tmp_path_factory: pytest.TempPathFactory) -> command.Harness:
    """A home in which the toy plugin is admitted; tests work with copies of it."""
    return command.prepared(tmp_path_factory.mktemp("prepared"), site)


@pytest.fixture(scope="session")
def fresh(
    prepared: command.Harness, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., command.Harness]:
    """A maker of homes and folders of their own, the toy plugin admitted."""

    def make(name: str = "case") -> command.Harness:
        scratch = tmp_path_factory.mktemp(name)
        shutil.copytree(prepared.home, scratch / "home")
        (scratch / "work").mkdir()
        return prepared.moved(home=scratch / "home", folder=scratch / "work")

    return make


@pytest.fixture
def harness(fresh: Callable[..., command.Harness]) -> command.Harness:
    """A home and a folder of its own, the toy plugin admitted."""
    return fresh()


@pytest.fixture(scope="session")
def conforms() -> Callable[[str, Any], None]:
    """A check that a value has the documented shape; it says where it has not."""
    from jsonschema import Draft202012Validator

    def check(name: str, value: Any) -> None:
        found = Draft202012Validator(interfaces.SCHEMAS[name]).iter_errors(value)
        assert [f"{error.json_path}: {error.message}" for error in found] == []

    return check


@pytest.fixture
def confined() -> None:
    """Skip where workers cannot be confined."""
    from sciharness.workers.confinement import probe

    if probe() == "none":
        pytest.skip("no Landlock here: nothing confines a worker")
