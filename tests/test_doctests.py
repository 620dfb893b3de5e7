"""Every example in a docstring of a member, run against the installed package."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def packages() -> Iterator[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    yield from settings["tool"]["importlinter"]["root_packages"]


def modules_with_examples() -> Iterator[str]:
    for package in packages():
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.py")):
            if ">>> " in path.read_text("utf-8"):
                parts = path.relative_to(folder.parent).with_suffix("").parts
                yield ".".join(parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", tuple(modules_with_examples()))
def test_the_examples_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))

    assert result.attempted > 0
    assert result.failed == 0
