"""A new plugin project: complete, installable, conforming, and it works as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sciharness.errors import UsageError
from sciharness.scaffold import project_files, write_project


@pytest.fixture
def project(harness: Any) -> Path:
    harness("plugin", "new", "acme.rows", code=0)
    return Path(harness.folder) / "acme-rows"


def test_it_holds_all_that_a_plugin_needs(project: Path) -> None:
    found = sorted(str(path.relative_to(project)) for path in project.rglob("*") if path.is_file())

    assert found == [
        "README.md",
        "pyproject.toml",
        "src/acme_rows/__init__.py",
        "src/acme_rows/plugin.py",
        "tests/test_acme_rows.py",
    ]
    lines = (project / "src/acme_rows/plugin.py").read_text("utf-8").splitlines()
    code = [line for line in lines if line.strip()]
    assert len(code) < 35


def test_it_is_installed_admitted_and_called(
    project: Path, harness: Any, tools: Any, tmp_path: Path
) -> None:
    wheel = tools["built"](project, tmp_path / "wheels")
    tools["installed"]([wheel], tmp_path / "site")
    path = f"{tmp_path / 'site'}{os.pathsep}{harness.site}"

    before = harness("plugin", "show", "acme.rows", "--json", PYTHONPATH=path, code=0).json
    harness("plugin", "admit", "acme.rows", PYTHONPATH=path, code=0)
    called = harness(
        "call", "acme.rows.count", "--input", "data=data.csv", "--json", PYTHONPATH=path, code=0
    ).json

    assert (before["state"], before["capabilities"]) == ("installed", [])
    assert called["metrics"] == {"rows": 60.0}


@pytest.mark.slow
def test_its_own_tests_pass(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "3 passed" in done.stdout, done.stdout


def test_it_is_formatted_and_typed(project: Path) -> None:
    words = [[sys.executable, "-m", "ruff", "format", "--check", "--line-length", "100"]]
    words += [[sys.executable, "-m", "ruff", "check", "--select", "E,F,I,D1", "--ignore", "D100"]]

    results = [
        subprocess.run([*one, project / "src"], capture_output=True, text=True, check=False)
        for one in words
    ]

    assert [done.stdout for done in results if done.returncode] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Rows", "is no plugin ID"),
        ("acme rows", "is no plugin ID"),
        ("../acme", "is no plugin ID"),
        ("", "is no plugin ID"),
        ("runtime.rows", "kept for first-party"),
        ("json", "is taken here"),
        ("numpy", "is taken here"),
        ("class", "is taken here"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        project_files(name)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")

    with pytest.raises(UsageError, match="is there already"):
        write_project("acme.rows", tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_dry_run_lists_and_writes_nothing(harness: Any) -> None:
    done = harness("plugin", "new", "acme.rows", "--dry-run", code=0)

    assert "acme-rows/src/acme_rows/plugin.py" in done.out
    assert not (harness.folder / "acme-rows").exists()
