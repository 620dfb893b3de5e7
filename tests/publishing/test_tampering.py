"""Packages and installations that somebody has changed: refused, naming what differs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.errors import HarnessError, IntegrityError
from sciharness.generated.packages import read_generated
from sciharness_catalog.canonical import canonical_json
from sciharness_publisher.wheels import WheelPlan, build_wheel

Run = Callable[..., tuple[int, Any]]
Forge = Callable[..., Path]


def alterations(statement: Any, path: str = "") -> list[tuple[str, Callable[[Any], None]]]:
    """Return a change for every leaf of a statement."""
    found: list[tuple[str, Callable[[Any], None]]] = []
    pairs = statement.items() if isinstance(statement, dict) else enumerate(statement)
    for key, value in pairs:
        here = f"{path}/{key}"
        if isinstance(value, dict | list):
            inner = alterations(value, here)
            found += [
                (name, lambda root, k=key, change=change: change(root[k])) for name, change in inner
            ]
        else:
            found.append((here, lambda root, k=key: root.__setitem__(k, _other(root[k]))))
    return found


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return value + 1.0


def test_every_item_of_the_statement_beside_is_compared(wheel: Path) -> None:
    beside = wheel.with_name(f"{wheel.name}.attestation.json")
    content = beside.read_bytes()
    changes = alterations(json.loads(content))

    unnoticed = []
    for name, change in changes:
        said = json.loads(content)
        change(said)
        beside.write_bytes(canonical_json(said))
        if not refused(wheel):
            unnoticed.append(name)

    print(f"altered items noticed: {len(changes) - len(unnoticed)} of {len(changes)}")
    assert unnoticed == []


def test_every_item_of_the_statement_inside_is_compared(
    wheel: Path, tmp_path: Path, forge: Forge
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read("example_line/attestation.json")
    changes = alterations(json.loads(content))

    unnoticed = []
    for place, (name, change) in enumerate(changes):
        said = json.loads(content)
        change(said)
        # The statement beside fits the altered package, so that only the one inside is wrong.
        altered = {"example_line/attestation.json": canonical_json(said)}
        if not refused(forge(wheel, tmp_path / str(place), members=altered)):
            unnoticed.append(name)

    print(f"altered items inside noticed: {len(changes) - len(unnoticed)} of {len(changes)}")
    assert unnoticed == []


def refused(wheel: Path) -> bool:
    """Whether a package is refused."""
    try:
        read_generated(wheel)
    except HarnessError:
        return True
    return False


def test_a_forged_package_that_fits_in_all_is_read(
    wheel: Path, tmp_path: Path, forge: Forge
) -> None:
    """What the other tests here build is refused for its fault alone."""
    assert read_generated(forge(wheel, tmp_path / "f")).statement.plugin_id == "example.line"


@pytest.mark.parametrize(
    "plugin_id",
    ["../../up", "Example", "a b", "a..b", "x" * 101, "/tmp/x", "a\n.b", "evaluation", "runtime.x"],
)
def test_a_hostile_plugin_id_is_refused(
    wheel: Path, empty: Path, tmp_path: Path, run: Run, forge: Forge, plugin_id: str
) -> None:
    before = {path for path in empty.rglob("*") if "plugins/generated" in str(path)}
    try:
        hostile = forge(wheel, tmp_path / "f", plugin_id=plugin_id)
    except (ValueError, OSError):
        hostile = forge(wheel, tmp_path / "g", version="0.1.0")
        beside = hostile.with_name(f"{hostile.name}.attestation.json")
        said = json.loads(beside.read_bytes())
        said["predicate"]["buildDefinition"]["externalParameters"]["pluginId"] = plugin_id
        beside.write_bytes(canonical_json(said))

    code, told = run(empty, "plugin", "install", hostile, "--json")

    assert code == 7, told
    after = {path for path in empty.rglob("*") if "plugins/generated" in str(path)}
    assert not [path for path in after - before if path.is_file()]


@pytest.mark.parametrize(
    "member",
    [
        "../escape.py",
        "/tmp/escape.py",
        "start.pth",
        "other_package/__init__.py",
        "sitecustomize.py",
        "attestation.json",
        "example_line-0.1.0.data/purelib/example_line/more.py",
        "example_line-0.1.0.data/scripts/tool",
        "Example_Line/inference.py",
        "example_line/../../up.py",
        "example_line\\inference.py",
    ],
)
def test_a_hostile_path_is_refused(
    wheel: Path, empty: Path, tmp_path: Path, run: Run, forge: Forge, member: str
) -> None:
    hostile = forge(wheel, tmp_path / "f", members={member: b"raise SystemExit\n"})

    code, said = run(empty, "plugin", "install", hostile, "--json")

    assert (code, said["error"]["kind"]) == (7, "integrity")
    assert not [path for path in (empty / "plugins/generated").rglob("*") if path.is_file()]


@pytest.mark.parametrize("how", ["flip", "append", "remove", "add"])
def test_a_changed_wheel_is_refused_and_nothing_is_installed(
    wheel: Path, empty: Path, run: Run, how: str
) -> None:
    content = wheel.read_bytes()
    if how == "flip":
        middle = len(content) // 2
        wheel.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif how == "append":
        wheel.write_bytes(content + b"\n")
    else:
        rewrite(wheel, how)

    code, said = run(empty, "plugin", "install", wheel, "--json")

    assert (code, said["error"]["kind"]) == (7, "integrity")
    assert not (empty / "plugins/generated/example.line").exists()


def rewrite(wheel: Path, how: str) -> None:
    """Take a member out of a wheel, or put one in, with a RECORD that fits."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    files = {name: data for name, data in members.items() if ".dist-info/" not in name}
    if how == "remove":
        del files["example_line/usage_guide.md"]
    else:
        files["example_line/extra.py"] = b"import os\n"
    points = {
        "console_scripts": {"example-line": "example_line:main"},
        "sciharness.plugins": {"example.line": "example_line"},
    }
    plan = WheelPlan("example.line", "0.1.0", "changed", files, ("numpy>=1.26",), points)
    wheel.write_bytes(build_wheel(plan))


def test_every_change_of_an_installed_file_is_noticed(home: Path) -> None:
    from sciharness.generated.installed import load
    from sciharness.store.home import Home

    place = home / "plugins/generated/example.line/0.1.0"
    files = sorted(path for path in place.rglob("*") if path.is_file())
    changes: list[tuple[Path, Callable[[bytes], bytes]]] = [
        (path, change)
        for path in files
        for change in (lambda data: data + b" ", lambda data: data[:-1], lambda data: b"")
        if not (change(b"x") == b"" and path.stat().st_size == 0)
    ]

    unnoticed = []
    with Home.open(home) as opened:
        load(opened, "example.line")
        for path, change in changes:
            content = path.read_bytes()
            path.write_bytes(change(content))
            try:
                load(opened, "example.line")
                unnoticed.append(str(path.relative_to(place)))
            except IntegrityError:
                pass
            path.write_bytes(content)

    print(f"changes noticed: {len(changes) - len(unnoticed)} of {len(changes)}")
    assert unnoticed == []


def test_a_planted_module_is_noticed(home: Path, tmp_path: Path, run: Run) -> None:
    place = home / "plugins/generated/example.line/0.1.0/example_line"
    (place / "planted.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    code, said = run(
        home, "predict", "example.line", tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--json"
    )

    assert code == 7
    assert "planted.py" in json.dumps(said)
