"""What has to agree across the members of this repository."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def settings(folder: Path) -> Any:  # Any: parsed TOML
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))


def members() -> list[Path]:
    return sorted(path.parent for path in ROOT.glob("*/pyproject.toml")) + sorted(
        path.parent for path in ROOT.glob("capabilities/*/pyproject.toml")
    )


@pytest.mark.parametrize("member", members(), ids=lambda path: path.name)
def test_a_member_has_the_one_version_and_is_installed_by_the_root(member: Path) -> None:
    root, own = settings(ROOT), settings(member)["project"]
    place = f"{own['name']} @ {{root:uri}}/{member.relative_to(ROOT).as_posix()}"
    extras = root["project"].get("optional-dependencies", {}).values()

    assert own["version"] == root["project"]["version"]
    assert place in [*root["project"]["dependencies"], *(one for extra in extras for one in extra)]


@pytest.mark.parametrize("member", members(), ids=lambda path: path.name)
def test_a_member_is_one_typed_package_under_the_layer_rules(member: Path) -> None:
    (package,) = (path for path in (member / "src").iterdir() if (path / "__init__.py").is_file())

    assert (package / "py.typed").is_file()
    assert package.name in settings(ROOT)["tool"]["importlinter"]["root_packages"]


@pytest.mark.parametrize("member", members(), ids=lambda path: path.name)
def test_first_party_requirements_are_exact(member: Path) -> None:
    own = settings(member)["project"]
    ours = [text for text in own["dependencies"] if text.startswith("sciharness")]

    assert all(text.endswith(f"=={own['version']}") for text in ours)


def test_the_tested_versions_name_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]

    assert pins
    assert all(line.count("==") == 1 and not set("/@:") & set(line) for line in pins)
