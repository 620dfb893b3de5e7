from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sciharness_catalog.admission import admit
from sciharness_catalog.approvals import Approval
from sciharness_catalog.distributions import InstalledPlugin, find_plugins
from sciharness_catalog.errors import (
    DigestDiffersError,
    EditableError,
    NotAdmittedError,
    NotInstalledError,
    TwoClaimantsError,
    WrongVersionError,
)
from sciharness_catalog.leasing import lease, load_set
from sciharness_catalog.pins import Pin
from sciharness_catalog.verify import read_package, read_verified

Add = Callable[..., Path]
ID = "example.tiny"
NOBODY: dict[str, Approval] = {}


@pytest.fixture
def pin(conn: sqlite3.Connection, tiny: InstalledPlugin) -> Pin:
    """The pin of the tiny plugin, which is admitted."""
    package = read_verified(tiny)
    admit(conn, package, known=NOBODY)
    return Pin(ID, package.version, "work", package.digest)


def ours(distribution: str, site: Path, *plugins: str) -> dict[str, Approval]:
    package = read_package(site / f"{distribution}-1.0.dist-info")
    return {distribution: Approval(distribution, "1.0", package.digest, plugins=plugins)}


def test_an_admitted_plugin_is_leased_with_its_bytes(
    conn: sqlite3.Connection, site: Path, pin: Pin, source: Mapping[str, bytes]
) -> None:
    leased = lease(conn, ID, pin=pin, path=[site], known=NOBODY)

    assert leased.package.files == source
    assert leased.package.digest == leased.admission.digest == pin.digest
    assert leased.plugin.plugin_id == ID


def test_what_is_not_installed_names_the_pip_command(conn: sqlite3.Connection, site: Path) -> None:
    known = {"far": Approval("far", "1.0", "0" * 64, plugins=("far.away",))}

    with pytest.raises(NotInstalledError) as caught:
        lease(conn, "far.away", path=[site], known=known)

    assert str(caught.value).endswith("Run `pip install far`.")
    assert caught.value.exit_code == 3


def test_what_nobody_admitted_is_refused(conn: sqlite3.Connection, site: Path) -> None:
    with pytest.raises(NotAdmittedError, match="installed but not admitted"):
        lease(conn, ID, path=[site], known=NOBODY)


def test_another_version_than_pinned_is_refused(
    conn: sqlite3.Connection, site: Path, pin: Pin
) -> None:
    with pytest.raises(WrongVersionError, match=r"pinned 0\.9, installed 1\.0"):
        lease(conn, ID, pin=Pin(ID, "0.9", "work", pin.digest), path=[site], known=NOBODY)


def test_other_bytes_than_pinned_are_refused(
    conn: sqlite3.Connection, site: Path, pin: Pin
) -> None:
    with pytest.raises(DigestDiffersError, match="pinned 000000000000…, installed"):
        lease(conn, ID, pin=Pin(ID, "1.0", "work", "0" * 64), path=[site], known=NOBODY)


def test_a_changed_file_is_refused_before_import(
    conn: sqlite3.Connection, site: Path, pin: Pin, import_from: Callable[[Path, str], bool]
) -> None:
    with open(site / "tiny" / "work.py", "ab") as stream:
        stream.write(b"# changed\n")

    with pytest.raises(DigestDiffersError, match=r"tiny/work\.py changed") as caught:
        lease(conn, ID, pin=pin, path=[site], known=NOBODY)

    assert caught.value.exit_code == 7
    assert not (site.parent / "mark").exists()
    assert import_from(site, "tiny")  # the import that did not happen would have left its mark


def test_two_claimants_are_refused_even_if_one_is_admitted(
    conn: sqlite3.Connection, site: Path, pin: Pin, add: Add
) -> None:
    add({"rival/__init__.py": b""}, name="rival", plugins={ID: "rival"})

    with pytest.raises(TwoClaimantsError, match="rival and tiny-plugin"):
        lease(conn, ID, pin=pin, path=[site], known=NOBODY)


def test_an_editable_install_is_refused(conn: sqlite3.Connection, site: Path, pin: Pin) -> None:
    noted = site / "tiny_plugin-1.0.dist-info" / "direct_url.json"
    noted.write_text('{"url": "file:///x", "dir_info": {"editable": true}}')

    with pytest.raises(EditableError, match="example.tiny 1.0: is an editable install"):
        lease(conn, ID, pin=pin, path=[site], known=NOBODY)


@pytest.fixture
def writer(add: Add, site: Path) -> InstalledPlugin:
    """A plugin that needs ``writer``, which is ours, through ``middle``, which is not."""
    add({"writer/__init__.py": b"w = 1\n"}, name="writer", plugins={})
    add({"middle/__init__.py": b""}, name="middle", plugins={}, requires=("writer",))
    add(
        {"fitter/__init__.py": b""},
        name="fitter",
        plugins={"fit": "fitter"},
        requires=("middle==1.0",),
    )
    return next(plugin for plugin in find_plugins([site]) if plugin.plugin_id == "fit")


def test_ours_among_the_requirements_are_loaded_from_verified_bytes_too(
    writer: InstalledPlugin, site: Path
) -> None:
    loaded = load_set(writer, path=[site], known=ours("writer", site))

    assert [package.distribution for package in loaded] == ["fitter", "writer"]
    assert loaded[0].digest == read_verified(writer).digest
    assert loaded[1].files == {"writer/__init__.py": b"w = 1\n"}


def test_a_changed_requirement_of_ours_is_refused(writer: InstalledPlugin, site: Path) -> None:
    known = ours("writer", site)
    (site / "writer" / "__init__.py").write_bytes(b"evil = 1\n")

    with pytest.raises(DigestDiffersError, match=r"writer/__init__\.py changed"):
        load_set(writer, path=[site], known=known)


def test_an_editable_requirement_of_ours_is_refused(writer: InstalledPlugin, site: Path) -> None:
    known = ours("writer", site)
    noted = site / "writer-1.0.dist-info" / "direct_url.json"
    noted.write_text('{"dir_info": {"editable": true}}')

    with pytest.raises(EditableError, match="writer"):
        load_set(writer, path=[site], known=known)
