"""Keeping a home: what no run needs goes, damage is noticed and mended, copies work elsewhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sciharness.store.artifacts import ArtifactStore
from sciharness.store.collection import collect
from sciharness.store.home import Home
from sciharness.store.vault import Vault

SMALL: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.note"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}
DAY = 24 * 3600.0


def age(*places: Path, days: float = 2.0) -> None:
    moment = time.time() - days * DAY
    for place in places:
        for path in (*place.rglob("*"), place):
            os.utime(path, (moment, moment), follow_symlinks=False)


@pytest.fixture
def littered(steered: Any) -> Any:
    """A home with a finished run and litter of every kind, all of it two days old."""
    steered.harness.contract(**SMALL)
    steered.harness("run", "c.yaml", code=0)
    home_path = steered.harness.home
    with Home.open(home_path) as home:
        stray = ArtifactStore(home).ingest_bytes(b"nobody names this")
        (home_path / "tmp" / "labels").write_text("secret", "utf-8")
        key = Vault(home).seal({"labels.csv": home_path / "tmp" / "labels"})
    for name in ("workspaces/00007-abcdef", "exports/00009-abcdef", "tmp/stage-x"):
        (home_path / name).mkdir()
    (home_path / "workspaces/00007-abcdef" / "left").mkdir(mode=0)
    age(home_path)
    return steered, stray.sha256, key


def test_gc_removes_what_no_run_needs(littered: Any) -> None:
    steered, stray, key = littered
    before = steered.artifacts()

    found = steered.harness("gc", "--json", code=0).json

    assert found["objects"] == [stray]
    assert found["sealed"] == [key]
    assert found["workspaces"] == ["00007-abcdef"]
    assert found["exports"] == ["00009-abcdef"]
    assert set(found["leftovers"]) == {"labels", "stage-x"}
    assert steered.artifacts() == before
    assert "would remove 0 entries" in steered.harness("gc", "-n", code=0).err
    steered.harness("verify", "1", code=0)
    steered.sound()


def test_a_dry_run_of_gc_removes_nothing(littered: Any) -> None:
    steered, stray, key = littered

    shown = steered.harness("gc", "-n", code=0)

    assert f"objects: {stray}" in shown.out
    assert (steered.harness.home / "vault" / key).is_dir()
    assert steered.harness("gc", "-n", code=0).out == shown.out


def test_what_is_younger_than_a_day_stays(littered: Any) -> None:
    steered, stray, _ = littered
    with Home.open(steered.harness.home) as home:
        # Stored again by a writer that has not named it yet: from now on it is young.
        ArtifactStore(home).ingest_bytes(b"nobody names this")

    found = steered.harness("gc", "--json", code=0).json

    assert found["objects"] == []
    assert (steered.harness.home / "objects" / stray[:2] / stray).is_file()


def test_gc_leaves_a_running_run_alone(steered: Any) -> None:
    steps = [{"id": n, "use": "toy.note", "with": {"pause": 2, "text": n}} for n in ("a", "b")]
    steered.harness.contract(**SMALL, steps=steps)
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted")
    with Home.open(steered.harness.home) as home:
        # As if all had been there for long.
        collect(home, now=lambda: time.time() + 2 * DAY)
    process.communicate(timeout=60)

    assert process.returncode == 0
    assert steered.settled() == ["a", "b"]
    steered.sound()


def test_gc_keeps_a_paused_run_whole(steered: Any) -> None:
    steps = [{"id": "a", "use": "toy.note"}, {"id": "b", "use": "toy.note", "with": {"pause": 60}}]
    steered.harness.contract(**SMALL, steps=steps)
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted", times=2)
    steered.harness("pause", "1", "--now", code=0)
    process.communicate(timeout=60)
    age(steered.harness.home)

    found = steered.harness("gc", "--json", code=0).json

    assert found["objects"] == found["workspaces"] == found["sealed"] == []
    steered.sound()


def test_gc_refuses_a_record_that_was_set_back(steered: Any, tmp_path: Path) -> None:
    steered.harness.contract(**SMALL)
    steered.harness("run", "c.yaml", code=0)
    shutil.copy(steered.harness.home / "harness.db", tmp_path / "old.db")
    steered.harness("run", "c.yaml", "--fresh", code=0)
    shutil.copy(tmp_path / "old.db", steered.harness.home / "harness.db")
    age(steered.harness.home)

    refused = steered.harness("gc", code=7)

    # The objects of the second run would have been taken for strays.
    assert "set back" in refused.err


def test_a_database_that_was_set_back_is_refused_until_accepted(
    steered: Any, tmp_path: Path
) -> None:
    harness = steered.harness
    harness.contract(**SMALL)
    harness("run", "c.yaml", code=0)
    shutil.copy(harness.home / "harness.db", tmp_path / "old.db")
    harness("run", "c.yaml", "--fresh", code=0)
    shutil.copy(tmp_path / "old.db", harness.home / "harness.db")

    told = harness("doctor", code=7)
    refused = harness("run", "c.yaml", "--fresh", code=7)
    harness("doctor", "--accept-catalog", code=0)

    assert "set back" in told.out
    assert "--accept-catalog" in refused.text
    assert harness("run", "c.yaml", "--fresh", "--json", code=0).json["status"] == "succeeded"


@pytest.fixture(scope="module")
def judged(fresh: Callable[..., Any]) -> Any:
    made = fresh("judged")
    made.table()
    made.contract()
    made("run", "c.yaml", code=0)
    return made


def test_a_home_copied_elsewhere_works(judged: Any, tmp_path: Path) -> None:
    shutil.copytree(judged.home, tmp_path / "copy")
    copied = judged.moved(home=tmp_path / "copy")

    copied("verify", "1", code=0)
    copied("replay", "1", code=0)
    again = copied("run", "c.yaml", "--json", code=0).json

    assert copied.show("1")["export"].startswith(str(tmp_path / "copy"))
    assert again["criteria"] == copied.show("1")["criteria"]  # replayed, no second look
    assert judged("list", "--json", code=0).json["runs"][-1]["run_id"].startswith("00001")


def test_a_backup_taken_while_a_run_writes_is_sound(steered: Any, tmp_path: Path) -> None:
    harness = steered.harness
    harness.contract(**SMALL, steps=[{"id": "a", "use": "toy.note", "with": {"pause": 3}}])
    process = steered.start("run", "c.yaml")
    steered.until("ActionProgress")

    # As the README says, in this order: head, database by SQLite's backup, files.
    copy = tmp_path / "backup"
    copy.mkdir()
    shutil.copy(harness.home / "catalog.head", copy / "catalog.head")
    source, target = (sqlite3.connect(one / "harness.db") for one in (harness.home, copy))
    with closing(source), closing(target):
        source.backup(target)
    for name in ("objects", "vault", "plugins", "exports"):
        shutil.copytree(harness.home / name, copy / name)
    process.communicate(timeout=60)

    kept = harness.moved(home=copy)
    kept("doctor", "--fsck", code=0)
    assert kept.show("1")["status"] == "interrupted"
    assert kept("resume", "1", "--json", code=0).json["status"] == "succeeded"


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


HARM: dict[str, Callable[[Path], None]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "altered": flip,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize(
    "how",
    ["altered", *(pytest.param(how, marks=pytest.mark.slow) for how in HARM if how != "altered")],
)
def test_a_damaged_object_is_noticed_and_mended_by_the_same_file(
    judged: Any, tmp_path: Path, how: str
) -> None:
    shutil.copytree(judged.home, tmp_path / "home")
    harness = judged.moved(home=tmp_path / "home")
    (damaged,) = [one for one in harness.show("1")["artifacts"] if one["name"] == "train-data.csv"]
    path = Path(damaged["path"])
    path.chmod(0o600)
    HARM[how](path)

    noticed = harness("verify", "1", code=7)
    used = harness("replay", "1")
    harness("new", "c.yaml", code=0)  # stores the same input anew

    assert damaged["sha256"][:12] in noticed.err
    assert used.code == 7  # the damaged rows were not fitted
    harness("verify", "1", code=0)
    harness("doctor", "--fsck", code=0)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "UPDATE events SET record ="
            " CAST(replace(CAST(record AS TEXT), 'RunStarted', 'RunStartet') AS BLOB)",
            "event 3",
        ),
        ("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)", "is missing"),
        (
            "UPDATE events SET seq = 1000 WHERE seq = 4;"
            "UPDATE events SET seq = 4 WHERE seq = 5;"
            "UPDATE events SET seq = 5 WHERE seq = 1000",
            "event 4",
        ),
    ],
    ids=["changed", "last one dropped", "two reordered"],
)
def test_verify_names_the_first_bad_event(
    judged: Any, tmp_path: Path, statement: str, named: str
) -> None:
    shutil.copytree(judged.home, tmp_path / "home")
    harness = judged.moved(home=tmp_path / "home")
    with closing(sqlite3.connect(tmp_path / "home" / "harness.db")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.executescript(statement)
        connection.commit()

    noticed = harness("verify", "1", code=7)

    assert named in noticed.err
