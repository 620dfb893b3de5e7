from __future__ import annotations

import base64
import hashlib
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sciharness_catalog.admission import create_tables
from sciharness_catalog.distributions import InstalledPlugin, find_plugins

SOURCE = {
    "tiny/__init__.py": b'"""A plugin whose import leaves a mark."""\nimport tiny.work\n',
    "tiny/work.py": b"import os, pathlib\npathlib.Path(os.environ['MARK']).write_text('ran')\n",
    "tiny/data.txt": b"1 2 3\n",
}


def record_row(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def write_wheel(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    name: str = "tiny-plugin",
    version: str = "1.0",
    plugins: Mapping[str, str] | None = None,
    requires: tuple[str, ...] = (),
) -> Path:
    """Write a wheel as any build tool would."""
    points = {"example.tiny": "tiny"} if plugins is None else plugins
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    members = dict(files)
    members[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\nText: after\n".encode()
    )
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/entry_points.txt"] = (
        "[sciharness.plugins]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
    ).encode()
    record = "".join(record_row(path, data) for path, data in members.items())
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return path


def pip_install(site: Path, *what: str) -> None:
    """Install into ``site`` with pip, as a person would, bytecode included."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(site), *what]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the tiny plugin; copied by ``site``, never changed."""
    folder = tmp_path_factory.mktemp("pristine")
    site = folder / "site"
    pip_install(site, str(write_wheel(folder, SOURCE)))
    return site


@pytest.fixture
def site(pristine: Path, tmp_path: Path) -> Path:
    """A site folder of this test's own with the tiny plugin in it."""
    return Path(shutil.copytree(pristine, tmp_path / "site", symlinks=True))


@pytest.fixture
def tiny(site: Path) -> InstalledPlugin:
    (plugin,) = find_plugins([site])
    return plugin


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(connection)
    yield connection
    connection.close()


@pytest.fixture
def add(tmp_path: Path, site: Path) -> Callable[..., Path]:
    """Install another wheel into ``site`` by unpacking it; its ``RECORD`` already fits."""

    def unpack(files: Mapping[str, bytes], **fields: object) -> Path:
        wheel = write_wheel(tmp_path, files, **fields)  # type: ignore[arg-type]
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        return wheel

    return unpack


@pytest.fixture
def import_from(tmp_path: Path) -> Callable[[Path, str], bool]:
    """Import a module from a folder in an ordinary interpreter; tell whether it left its mark."""

    def run(folder: Path, module: str) -> bool:
        mark = tmp_path / "mark"
        code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module}"
        subprocess.run(
            [sys.executable, "-B", "-c", code], env={"MARK": str(mark)}, capture_output=True
        )
        return mark.exists()

    return run


@pytest.fixture(scope="session")
def source() -> Mapping[str, bytes]:
    """The files of the tiny plugin: importing it leaves a mark."""
    return dict(SOURCE)


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Write a wheel into this test's folder."""

    def make(files: Mapping[str, bytes], **fields: object) -> Path:
        return write_wheel(tmp_path, files, **fields)  # type: ignore[arg-type]

    return make
