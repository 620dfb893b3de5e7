from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sciharness_catalog.digest import implementation_digest
from sciharness_catalog.metadata import Metadata
from sciharness_catalog.verify import digest_of_tree
from sciharness_catalog.wheels import digest_of_wheel

VECTOR = Path(__file__).parent / "vector"
BACKENDS = ("flit", "hatchling", "setuptools")
FILES = {"p/__init__.py": b"x = 1\n", "p/a.py": b"", "p/β.txt": b"\xff"}
METADATA = Metadata("p", "1.0", ("numpy>=1",), {"g": {"n": "p:f"}})


@pytest.fixture(scope="module")
def vector() -> Any:  # Any: parsed JSON
    return json.loads((VECTOR / "vector.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return {name: build(name, tmp_path_factory.mktemp(name)) for name in BACKENDS}


def build(backend: str, folder: Path) -> Path:
    shutil.copytree(VECTOR / "src", folder / "src")
    shutil.copy(VECTOR / f"{backend}.toml", folder / "pyproject.toml")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *options, str(folder)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_published_vector_is_the_hash_of_its_own_text(vector: Any) -> None:
    text = "\n".join([vector["first"], *vector["lines"], vector["last"]])

    assert hashlib.sha256(text.encode()).hexdigest() == vector["digest"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_published_digest(
    backend: str, wheels: Mapping[str, Path], vector: Any
) -> None:
    assert digest_of_wheel(wheels[backend]) == vector["digest"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_installed_tree_gives_the_published_digest(
    backend: str, wheels: Mapping[str, Path], vector: Any, tmp_path: Path
) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(tmp_path), str(wheels[backend])], check=True)

    assert list(tmp_path.rglob("*.pyc"))  # pip compiled it, and that does not count
    assert digest_of_tree(tmp_path, "Vector_Plugin") == vector["digest"]


def test_wheels_of_two_backends_differ_as_archives(wheels: Mapping[str, Path]) -> None:
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels.values()}

    assert len(hashes) == len(BACKENDS)


@pytest.mark.parametrize(
    "files",
    [
        FILES | {"p/a.py": b" "},
        FILES | {"p/c.py": b""},
        {name: data for name, data in FILES.items() if name != "p/a.py"},
        {name.replace("a.py", "b.py"): data for name, data in FILES.items()},
        FILES | {"p/__init__.py": b"", "p/a.py": b"x = 1\n"},
    ],
    ids=["changed", "added", "removed", "renamed", "swapped"],
)
def test_any_change_of_files_changes_the_digest(files: Mapping[str, bytes]) -> None:
    assert implementation_digest(files, METADATA) != implementation_digest(FILES, METADATA)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "q"},
        {"version": "1.0.1"},
        {"requires": ()},
        {"entry_points": {"g": {"n": "p:g"}}},
        {"entry_points": {"g": {"m": "p:f"}}},
        {"entry_points": {"h": {"n": "p:f"}}},
    ],
)
def test_any_change_of_metadata_changes_the_digest(change: Mapping[str, Any]) -> None:
    changed = evolve(METADATA, **change)

    assert implementation_digest(FILES, changed) != implementation_digest(FILES, METADATA)
