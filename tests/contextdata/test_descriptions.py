"""Descriptions changed in place."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contextdata import (
    ContextManifestError,
    describe,
    inspect_context_data,
    load_context_data,
)
from sciharness.errors import DataError


def manifest_of(path: Path) -> str:
    return (path / "manifest.json").read_text("utf-8")


def test_without_texts_the_descriptions_are_told(network: Any) -> None:
    path = network.write()

    assert describe(path) == load_context_data(path)["descriptions"]


def test_a_description_changes_and_nothing_else(network: Any) -> None:
    path = network.write()
    (path / "manifest.json").write_text(
        '{ "num_nodes":4,\t"axes": {"s": {"values": [1.50, 2e0], "description" :"old" } },\n'
        '"variables":{"x\\u00b5":{"axes":["s"],"description":"x \\"description\\": y",\r\n'
        '"file":"x\\u00b5.npy"}} }\n',
        encoding="utf-8",
    )
    before = manifest_of(path)

    told = describe(path, {"s": "  Länge in m.\n", "xµ": 'say "x"'})

    assert told == {"s": "Länge in m.", "xµ": 'say "x"'}
    after = before.replace('"old"', '"Länge in m."')
    assert manifest_of(path) == after.replace('"x \\"description\\": y"', '"say \\"x\\""')


def test_a_missing_description_is_put_in(network: Any) -> None:
    del network.variables["g"]["description"]
    network.axes["node"] = {}
    path = network.write()

    describe(path, {"g": "Gravity.", "node": "Label."})

    assert describe(path)["g"] == "Gravity."
    assert '"node": {"description": "Label."}' in manifest_of(path)


def test_a_dry_run_writes_nothing(network: Any) -> None:
    path = network.write()
    before = manifest_of(path)

    told = describe(path, {"g": "Gravity."}, dry_run=True)

    assert told["g"] == "Gravity."
    assert manifest_of(path) == before


def test_all_refused_changes_are_told_and_none_is_made(network: Any) -> None:
    network.axes["A"] = {"size": 5, "description": ""}
    path = network.write()
    before = manifest_of(path)

    with pytest.raises(DataError) as caught:
        describe(path, {"g": "Gravity.", "thetta": "x", "A": "x", "w": "\ud800", "other": "x"})

    assert [problem.path for problem in caught.value.problems] == ["thetta", "A", "w", "other"]
    assert "'theta'" in str(caught.value)
    assert manifest_of(path) == before


@pytest.mark.parametrize("text", ["", "[]", '{"axes": [], "axes": []}', '{"variables": {"g": 3}}'])
def test_a_manifest_without_entries_is_refused(network: Any, text: str) -> None:
    path = network.write()
    (path / "manifest.json").write_text(text)

    with pytest.raises((ContextManifestError, DataError)):
        describe(path, {"g": "x"})

    assert manifest_of(path) == text


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContextManifestError, match="readable directory"):
        describe(tmp_path / "none")


def test_mode_and_link_of_the_manifest_stay(network: Any, tmp_path: Path) -> None:
    path = network.write()
    os.rename(path / "manifest.json", tmp_path / "shared.json")
    (path / "manifest.json").symlink_to(tmp_path / "shared.json")
    (tmp_path / "shared.json").chmod(0o640)

    describe(path, {"g": "Gravity."})

    assert (path / "manifest.json").is_symlink()
    assert (tmp_path / "shared.json").stat().st_mode & 0o777 == 0o640
    assert describe(path)["g"] == "Gravity."
    assert sorted(os.listdir(path)) == sorted(
        [*(f"{n}.npy" for n in network.arrays), "manifest.json"]
    )


def test_writers_at_one_time_lose_nothing(network: Any) -> None:
    path = network.write()
    names = [*network.axes, *network.variables]
    writers = [threading.Thread(target=describe, args=(path, {n: f"new {n}"})) for n in names]

    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert describe(path) == {name: f"new {name}" for name in names}


def test_a_writer_that_is_killed_leaves_a_sound_directory(network: Any) -> None:
    path = network.write()
    program = (
        "import os, sys\n"
        "from sciharness.contextdata import _write, describe\n"
        "_write.os.replace = lambda *a: os.kill(os.getpid(), 9)\n"
        "describe(sys.argv[1], {'g': 'Gravity.'})\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)

    assert inspect_context_data(path)["errors"] == []
    assert describe(path)["g"] == "A scalar."


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["theta", "g", "time", "node", "A"]),
        st.text(st.characters(exclude_categories=["Cs"])),
    )
)
def test_any_text_comes_back(new_network: Any, texts: dict[str, str]) -> None:
    path = new_network().write()
    expected = describe(path) | {name: text.strip() for name, text in texts.items()}

    assert describe(path, texts) == expected
    assert load_context_data(path)["descriptions"] == expected
