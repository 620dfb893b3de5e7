from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import attr
import attrs
import packaging
import pytest
import rfc8785

from sciharness_catalog.wheels import read_wheel

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The command and two members of this repository, in a folder of this test's own."""
    copy = tmp_path / "checkout"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / ".ci", copy / ".ci", ignore=ignore)
    for member in ("catalog", "capabilities/evaluation"):
        shutil.copytree(ROOT / member, copy / member, ignore=ignore)
    approvals = copy / "catalog/src/sciharness_catalog/approvals"
    for path in approvals.glob("*.json"):
        if path.stem != "sciharness-evaluation":
            path.unlink()
    (approvals / "sciharness-evaluation.json").write_text(true_approval(copy), "utf-8")
    return copy


def true_approval(checkout: Path) -> str:
    code = (
        "import sys, pathlib; sys.path.insert(0, '.ci'); import members as m;"
        "out = pathlib.Path('wheels'); out.mkdir();"
        "[one] = m.build_all(m.choose(['evaluation']), out)[0];"
        "print(m.approval_text(m.approval_for(one)), end='')"
    )
    return subprocess.check_output([sys.executable, "-c", code], cwd=checkout, text=True)


def run(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(checkout / ".ci" / "members.py"), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_true_approvals_pass_the_check(checkout: Path) -> None:
    done = run(checkout, "--check")

    assert (done.returncode, done.stdout) == (0, "1 approvals are true\n")


def test_a_changed_source_makes_its_approval_stale(checkout: Path) -> None:
    source = checkout / "capabilities/evaluation/src/sciharness_evaluation/__init__.py"
    source.write_text(source.read_text("utf-8") + "# changed\n", "utf-8")

    done = run(checkout, "--check")

    assert done.returncode == 1
    assert "sciharness-evaluation: its approval is not true" in done.stderr


def test_trust_that_nobody_reviewed_makes_an_approval_stale(checkout: Path) -> None:
    path = checkout / "catalog/src/sciharness_catalog/approvals/sciharness-evaluation.json"
    path.write_text(
        path.read_text("utf-8").replace('"trusted_labels": false', '"trusted_labels": true')
    )

    assert run(checkout, "--check").returncode == 1


def test_an_approval_without_a_member_is_stale(checkout: Path) -> None:
    folder = checkout / "catalog/src/sciharness_catalog/approvals"
    shutil.copy(folder / "sciharness-evaluation.json", folder / "gone.json")

    done = run(checkout, "--check")

    assert done.returncode == 1
    assert "gone: its approval is not true" in done.stderr


def test_a_member_that_cannot_be_built_is_named(checkout: Path) -> None:
    settings = checkout / "capabilities/evaluation/pyproject.toml"
    settings.write_text("[project]\nname = 'sciharness-evaluation'\n", "utf-8")

    done = run(checkout, "--check")

    assert done.returncode == 1
    assert "sciharness-evaluation: cannot be built" in done.stderr


def test_wheels_depend_on_the_source_alone(checkout: Path, tmp_path: Path) -> None:
    run(checkout, "--wheels", str(tmp_path / "one"), TZ="UTC", LC_ALL="C", PYTHONHASHSEED="1")
    moved = checkout.rename(tmp_path / "moved")
    for path in moved.rglob("*.py"):
        os.utime(path, (0, 0))
    run(moved, "--wheels", str(tmp_path / "two"), TZ="Asia/Tokyo", PYTHONHASHSEED="2")

    assert hashes(tmp_path / "one") == hashes(tmp_path / "two") != {}


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")
    }


def test_the_catalog_wheel_carries_the_approvals(checkout: Path, tmp_path: Path) -> None:
    run(checkout, "--wheels", str(tmp_path / "out"), "catalog")
    (wheel,) = (tmp_path / "out").glob("*.whl")

    assert "sciharness_catalog/approvals/sciharness-evaluation.json" in read_wheel(wheel).files


def test_an_unknown_name_is_refused_with_the_known_ones(checkout: Path) -> None:
    done = run(checkout, "nothing")

    assert done.returncode == 1
    assert "no member 'nothing'; there are catalog, evaluation" in done.stderr


LEASE = """
import sqlite3, sys
from sciharness_catalog.admission import create_tables
from sciharness_catalog.leasing import lease
conn = sqlite3.connect(":memory:", isolation_level=None)
create_tables(conn)
try:
    said = lease(conn, "evaluation").admission
    print(said.state, said.origin, said.trusted_metrics, "sciharness_evaluation" in sys.modules)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_pip_install_of_a_capability_is_all_it_takes_to_lease_it(
    checkout: Path, tmp_path: Path
) -> None:
    run(checkout, "--wheels", str(tmp_path / "out"))
    catalog, evaluation = sorted((tmp_path / "out").glob("*.whl"))
    python = fresh_environment(tmp_path / "venv")

    pip_into(python, str(catalog))
    before = subprocess.check_output([python, "-c", LEASE], text=True)
    pip_into(python, str(evaluation))
    after = subprocess.check_output([python, "-c", LEASE], text=True)

    assert before.startswith("NotInstalledError")
    assert "pip install sciharness-evaluation" in before
    assert after == "admitted first_party True False\n"


def fresh_environment(folder: Path) -> Path:
    """An environment of its own that sees the third-party libraries of this one, last."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    libraries = [Path(module.__file__ or "").parent for module in (attr, packaging, rfc8785)]
    for library in (*libraries, Path(attrs.__file__).parent):
        (site / library.name).symlink_to(library)
    return folder / "bin" / "python"


def pip_into(python: Path, wheel: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
