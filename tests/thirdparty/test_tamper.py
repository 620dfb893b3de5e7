"""Every kind of change to every file of an installed plugin is seen before it could load.

The plugins are installed by pip, bytecode included, and admitted; then one
thing is changed at a time, and leasing has to refuse. The counts are printed.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import py_compile
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import frozen

from sciharness import testkit
from sciharness_catalog.admission import admit, create_tables
from sciharness_catalog.approvals import Approval, approvals
from sciharness_catalog.distributions import find_plugins
from sciharness_catalog.errors import HarnessError
from sciharness_catalog.leasing import lease
from sciharness_catalog.verify import read_verified

SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]

Change = Callable[[Path], None]


@frozen
class Installed:
    """An admitted plugin in a site folder of its own."""

    site: Path
    plugin_id: str
    known: dict[str, Approval]
    conn: sqlite3.Connection

    @property
    def info(self) -> Path:
        """Its metadata folder."""
        (found,) = self.site.glob("*.dist-info")
        return found

    @property
    def files(self) -> list[Path]:
        """The files that pip installed of its package, without bytecode."""
        found = self.site.rglob("*")
        return sorted(
            path
            for path in found
            if path.is_file() and "__pycache__" not in path.parts and ".dist-info" not in str(path)
        )

    def refusal(self) -> str:
        """Return why it may not load, empty if it may."""
        try:
            held = lease(self.conn, self.plugin_id, path=[self.site], known=self.known)
        except HarnessError as error:
            return f"{error} (exit code {error.exit_code})"
        return "" if held.package.files else "no files"


@pytest.fixture(scope="module", params=["first_party", "third_party"])
def pristine(
    request: pytest.FixtureRequest,
    wheelhouse: dict[str, Path],
    tools: dict[str, Callable[..., Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Installed:
    first = request.param == "first_party"
    name = "sciharness_reporting" if first else "robust_line"
    site = tools["installed"]([wheelhouse[name]], tmp_path_factory.mktemp(name) / "site")
    conn = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(conn)
    (plugin,) = find_plugins([site])
    package = read_verified(plugin)
    known: dict[str, Approval] = {}
    if first:  # an approval that is true for the wheel of today
        found = approvals()[package.distribution]
        known = {found.distribution: Approval(found.distribution, found.version, package.digest)}
        known = {key: Approval(one.distribution, one.version, one.digest, plugins=found.plugins)
                 for key, one in known.items()}  # fmt: skip
    else:
        admit(conn, package, known=known)
    return Installed(site, plugin.plugin_id, known, conn)


@pytest.fixture
def fresh(pristine: Installed, tmp_path: Path) -> Callable[[], Installed]:
    """A maker of copies that a test may damage."""
    count = iter(range(10_000))

    def make() -> Installed:
        site = tmp_path / f"site-{next(count)}"
        shutil.copytree(pristine.site, site, symlinks=True)
        return Installed(site, pristine.plugin_id, pristine.known, pristine.conn)

    return make


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name(f"moved_{path.name}"))


def link(path: Path) -> None:
    site = next(parent for parent in path.parents if any(parent.glob("*.dist-info")))
    aside = site.parent / "aside"
    shutil.copyfile(path, aside)
    path.unlink()
    path.symlink_to(aside)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES: dict[str, Change] = {
    one.__name__: one for one in (flip, append, truncate, empty, delete, rename, link, folder, pipe)
}


def changes(installed: Installed) -> Iterator[tuple[str, Path, Change]]:
    for path in installed.files:
        relative = path.relative_to(installed.site)
        for name, change in CHANGES.items():
            # An empty file has no byte to flip, to cut or to empty.
            if path.stat().st_size or name not in ("flip", "truncate", "empty"):
                yield f"{name} {relative}", relative, change


def test_every_change_of_every_file_is_seen(
    pristine: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pristine.refusal() == ""
    site = tmp_path / "site"
    shutil.copytree(pristine.site, site, symlinks=True)
    damaged = Installed(site, pristine.plugin_id, pristine.known, pristine.conn)
    tried, unseen, unnamed = 0, [], []

    for what, relative, change in changes(pristine):
        path = site / relative
        change(path)
        said = damaged.refusal()
        tried += 1
        unseen += [] if said else [what]
        moved = f"moved_{path.name}"
        unnamed += [] if relative.name in said or moved in said else [f"{what}: {said}"]
        for left in (path, path.with_name(moved)):
            if left.is_dir() and not left.is_symlink():
                left.rmdir()
            else:
                left.unlink(missing_ok=True)
        shutil.copyfile(pristine.site / relative, path)

    with capsys.disabled():
        seen = tried - len(unseen)
        print(f"\n{pristine.plugin_id}: {seen} of {tried} changes of files seen", end=" ")
    assert damaged.refusal() == ""  # everything was put back
    assert (unseen, unnamed) == ([], [])
    assert tried >= len(CHANGES) * 3


def additions(installed: Installed) -> Iterator[tuple[str, bytes]]:
    folders = sorted({path.parent for path in installed.files} - {installed.site})
    for place in folders:
        relative = place.relative_to(installed.site)
        for name in ("added.py", "added.pyc", "added.pth", f"added{SUFFIX}", "added.txt"):
            yield f"{relative}/{name}", b""
        yield f"{relative}/folder/__init__.py", b""
        yield f"{relative}/folder/data.bin", b""
        yield f"{relative}/__pycache__/added.so", b""
        yield f"{relative}/__pycache__/folder/added.pyc", b""
    for path in installed.files:
        if path.suffix == ".py":
            stem = path.relative_to(installed.site).with_suffix("")
            yield f"{stem}{SUFFIX}", b""  # found before the module of the same name
            yield f"{stem}.pyc", b""
            if path.stem != "__init__":
                yield f"{stem}/__init__.py", b""
    (top,) = {path.relative_to(installed.site).parts[0] for path in installed.files}
    yield f"{top}{SUFFIX}", b""
    yield f"{top}.py", b""
    yield f"{top}.pyc", b""


def test_every_added_file_is_seen(
    pristine: Installed, fresh: Callable[[], Installed], capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = fresh()
    tried, unseen = 0, []

    for relative, data in additions(pristine):
        path = damaged.site / relative
        made = [parent for parent in path.parents if not parent.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        said = damaged.refusal()
        tried += 1
        unseen += [] if Path(relative).name in said or "folder" in said else [f"{relative}: {said}"]
        path.unlink()
        for parent in made:
            parent.rmdir()

    with capsys.disabled():
        print(f"\n{pristine.plugin_id}: {tried - len(unseen)} of {tried} added files seen", end=" ")
    assert unseen == []
    assert damaged.refusal() == ""


def replaced(name: str, old: str, new: str) -> Callable[[Installed], None]:
    def change(installed: Installed) -> None:
        path = installed.info / name
        text = path.read_text("utf-8")
        assert old in text, text
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


def removed(name: str) -> Callable[[Installed], None]:
    return lambda installed: (installed.info / name).unlink()


def unlisted(installed: Installed) -> None:
    """Take one file out of RECORD, which then no longer lists it."""
    record = installed.info / "RECORD"
    lines = record.read_text("utf-8").splitlines(keepends=True)
    record.write_text("".join(line for line in lines if "plugin.py," not in line), "utf-8")


def relisted(installed: Installed) -> None:
    """Add a file and a row of RECORD that fits it: only the digest tells."""
    (package,) = {path.relative_to(installed.site).parts[0] for path in installed.files}
    (installed.site / package / "added.py").write_bytes(b"")
    with (installed.info / "RECORD").open("a", encoding="utf-8") as record:
        record.write(f"{package}/added.py,,\n")


def twin(installed: Installed) -> None:
    """Put a second metadata folder of the same distribution beside the first."""
    name = installed.info.name.replace("-", "-9", 1)
    shutil.copytree(installed.info, installed.info.with_name(name))


METADATA: dict[str, Callable[[Installed], None]] = {
    "entry point moved": replaced("entry_points.txt", ".plugin", ".other"),
    "entry point added": replaced("entry_points.txt", "\n", "\nother.id = os\n"),
    "entry points gone": removed("entry_points.txt"),
    "another group added": replaced("entry_points.txt", "[", "[console_scripts]\nx = os:abort\n["),
    "version changed": replaced("METADATA", "\nVersion: ", "\nVersion: 9."),
    "name changed": replaced("METADATA", "\nName: ", "\nName: x-"),
    "requirement changed": replaced("METADATA", "Requires-Dist: ", "Requires-Dist: x-"),
    "requirement added": replaced("METADATA", "\nName: ", "\nRequires-Dist: evil\nName: "),
    "metadata gone": removed("METADATA"),
    "record gone": removed("RECORD"),
    "a file unlisted": unlisted,
    "a file added and listed": relisted,
    "a second metadata folder": twin,
}


@pytest.mark.parametrize("what", METADATA)
def test_changed_metadata_is_seen(fresh: Callable[[], Installed], what: str) -> None:
    damaged = fresh()

    METADATA[what](damaged)

    assert damaged.refusal() != ""


def test_planted_bytecode_runs_nowhere(
    pristine: Installed, fresh: Callable[[], Installed], capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytecode is not read at all, so planting it for each module changes nothing."""
    damaged = fresh()
    evil = damaged.site.parent / "evil.py"
    evil.write_text("raise SystemExit('planted code ran')\n", "utf-8")
    planted = 0
    for path in damaged.files:
        if path.suffix == ".py":
            cache = Path(importlib.util.cache_from_source(str(path)))
            cache.parent.mkdir(exist_ok=True)
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(evil), str(cache), invalidation_mode=mode)
            planted += 1
    (top,) = {path.relative_to(damaged.site).parts[0] for path in damaged.files}
    code = f"import sys; sys.path.insert(0, {str(damaged.site)!r}); import {top}"
    ordinary = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    (plugin,) = find_plugins([damaged.site])

    with testkit.Bench.on(plugin) as bench:
        names = [one.operation for one in bench.descriptor.operations]

    with capsys.disabled():
        print(f"\n{pristine.plugin_id}: {planted} planted bytecode files not read", end=" ")
    assert b"planted code ran" in ordinary.stderr  # an ordinary import does run it
    assert names
    assert damaged.refusal() == ""
