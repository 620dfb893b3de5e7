"""Exports and homes: verified anywhere, and any change to them is found."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def run(fresh: Callable[..., Any]) -> Any:
    made = fresh("run")
    made.table()
    made.contract()
    return made, made("run", "c.yaml", "--json", "--export", "asked.zip", code=0).json


@pytest.fixture
def exported(run: Any, tmp_path: Path) -> Path:
    """A copy of the run's export that a test may change."""
    _, view = run
    shutil.copytree(view["export"], tmp_path / "export")
    return tmp_path / "export"


def test_an_export_holds_what_was_done(run: Any) -> None:
    _, view = run
    names = {path.name for path in Path(view["export"]).rglob("*") if path.is_file()}

    assert {
        "report.md",
        "c.yaml",
        "contract.lock",
        "model.json",
        "inference.py",
        "model_card.json",
        "evaluation.json",
        "final_inputs.csv",
        "train-data.csv",
    } <= names
    assert {"events.jsonl", "MANIFEST.json"} <= names
    assert "labels.csv" not in names and "data.csv" not in names


def test_an_export_verifies_without_its_home(run: Any, exported: Path) -> None:
    made, view = run
    elsewhere = made.moved(home=exported.parent / "no home", folder=exported.parent)

    report = elsewhere("verify", exported, "--json", code=0).json

    assert report["run_id"] == view["run_id"]
    assert report["status"] == "succeeded"
    assert report["artifacts"] == len(view["artifacts"])
    assert not (exported.parent / "no home").exists()


def test_a_zip_verifies_as_its_folder_does(run: Any, exported: Path) -> None:
    made, _ = run
    asked = made("verify", "asked.zip", "--json", code=0).json
    folder = made("verify", exported, "--json", code=0).json

    assert asked["events"] > folder["events"]  # the delivery itself is on record by then
    assert asked["artifacts"] == folder["artifacts"]
    made("export", "1", "--out", "late.zip", code=0)
    made("export", "1", "--out", "late", "--json", code=0)
    late = made("verify", "late.zip", "--json", code=0).json
    assert late["head"] == made("verify", "late", "--json", code=0).json["head"]
    assert late["events"] == len(made.events())


def replace(path: Path, content: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(content)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    replace(path, bytes(content))


def test_any_changed_file_of_an_export_is_named(run: Any, exported: Path) -> None:
    made, _ = run
    names = sorted(path for path in exported.rglob("*") if path.is_file())

    for path in names:
        before = path.read_bytes()
        flip(path)
        refused = made("verify", exported, code=7)
        path.write_bytes(before)
        relative = path.relative_to(exported).as_posix()
        assert relative in refused.err or path.name == "MANIFEST.json"
    assert len(names) >= 11
    made("verify", exported, code=0)


def test_an_added_or_missing_file_is_named(run: Any, exported: Path) -> None:
    made, _ = run
    (exported / "extra.txt").write_text("more", "utf-8")
    (exported / "report.md").unlink()

    refused = made("verify", exported, "--json", code=7)

    assert {"extra.txt", "report.md"} <= {item["file"] for item in refused.json["problems"]}


def test_a_rewritten_event_is_found_even_with_a_new_manifest(run: Any, exported: Path) -> None:
    made, _ = run
    events, manifest = exported / "events.jsonl", exported / "MANIFEST.json"
    before = events.read_bytes()
    after = before.replace(b'\\"succeeded', b'\\"Succeeded').replace(b'"succeeded', b'"Succeeded')
    replace(events, after)
    digests = [sha256(text).hexdigest().encode() for text in (before, after)]
    replace(manifest, manifest.read_bytes().replace(*digests))

    refused = made("verify", exported, code=7)

    assert before != after
    assert "events.jsonl" in refused.err and "event " in refused.err


def test_what_is_no_export_is_refused(run: Any, tmp_path: Path) -> None:
    made, _ = run
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("no archive", "utf-8")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")

    for name in ("empty", "text.zip", "other.zip"):
        assert made("verify", tmp_path / name, "--json").code in (3, 7)


@pytest.fixture
def copied(run: Any, tmp_path: Path) -> Any:
    """A copy of the home at another place."""
    made, _ = run
    shutil.copytree(made.home, tmp_path / "moved")
    return made.moved(home=tmp_path / "moved")


def test_a_moved_home_works(run: Any, copied: Any) -> None:
    _, view = run
    shown = copied.show()

    assert shown["criteria"] == view["criteria"]
    assert all(Path(item["path"]).is_relative_to(copied.home) for item in shown["artifacts"])
    assert Path(shown["export"]).is_relative_to(copied.home)
    copied("verify", "1", code=0)
    assert copied("doctor", "--fsck", "--json", code=0).json["home"]["problems"] == []
    replayed = copied("run", "c.yaml", "--json", code=0).json
    assert replayed["holdout_queries"][0]["replayed"] is True


def test_a_changed_object_is_noticed(copied: Any) -> None:
    (model,) = [item for item in copied.show()["artifacts"] if item["name"] == "model.json"]
    flip(Path(model["path"]))

    assert model["sha256"][:12] in copied("verify", "1", code=7).err
    assert model["sha256"][:12] in copied("doctor", "--fsck", code=7).out


def test_a_missing_object_is_noticed(copied: Any) -> None:
    (model,) = [item for item in copied.show()["artifacts"] if item["name"] == "model.json"]
    Path(model["path"]).unlink()

    assert "is missing" in copied("verify", "1", code=7).err


def changed(home: Path, statement: str) -> None:
    with sqlite3.connect(home / "harness.db") as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in rows.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET record = CAST(replace(record, 'fit', 'fat') AS BLOB) WHERE seq = 4",
        "DELETE FROM events WHERE seq = 4",
        "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
    ],
    ids=["changed", "removed", "cut off"],
)
def test_a_changed_event_is_noticed(copied: Any, statement: str) -> None:
    changed(copied.home, statement)

    assert copied("verify", "1").code == 7
    assert copied("doctor", "--fsck").code == 7


def test_events_cannot_be_changed_by_accident(copied: Any) -> None:
    with sqlite3.connect(copied.home / "harness.db") as connection:
        for statement in ("DELETE FROM events", "UPDATE events SET seq = seq + 100"):
            with pytest.raises(sqlite3.DatabaseError):
                connection.execute(statement)
