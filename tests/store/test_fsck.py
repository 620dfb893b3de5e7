"""Checking runs and whole homes: damage is found, harmless remains are told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.errors import IntegrityError
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.fsck import fsck, verify_run
from sciharness.store.home import Home
from sciharness.store.sqlite_facts import sqlite_facts

Tamper = Callable[[Home, str], None]


@pytest.fixture
def finished(home: Home) -> Home:
    """A home with one finished run that has one artifact."""
    blob = ArtifactStore(home).ingest_bytes(b"result")
    artifact = {"id": "i", "name": "a.csv", "type": "DATASET", "sha256": blob.sha256, "size": 6}
    log = EventLog(home)
    log.create("r1", [("RunCreated", {})], projection={})
    log.append("r1", [("Finished", {"artifacts": [artifact]})], projection={"status": "succeeded"})
    return home


def _object(home: Home) -> Path:
    return next(path for path in home.objects.rglob("*") if path.is_file())


def test_a_sound_run_and_home_pass(finished: Home) -> None:
    run, whole = verify_run(finished, "r1"), fsck(finished)

    assert (run.events, run.artifacts, run.bytes) == (2, 1, 6)
    assert whole.ok
    assert (whole.runs, whole.events, whole.objects, whole.bytes) == (1, 2, 1, 6)


@pytest.mark.parametrize("content", [b"", b"resul", b"Result"], ids=["emptied", "cut", "altered"])
def test_a_damaged_object_is_named(finished: Home, content: bytes) -> None:
    place = _object(finished)
    place.chmod(0o644)
    place.write_bytes(content)

    with pytest.raises(IntegrityError, match=r"a\.csv"):
        verify_run(finished, "r1")

    assert [place.name[:12] in problem.file for problem in fsck(finished).problems] == [True]


def test_a_missing_object_is_named(finished: Home) -> None:
    _object(finished).unlink()

    with pytest.raises(IntegrityError, match=r"a\.csv"):
        verify_run(finished, "r1")

    assert not fsck(finished).ok


def test_orphans_and_leftovers_are_no_damage(finished: Home) -> None:
    orphan = ArtifactStore(finished).ingest_bytes(b"never named")
    (finished.temporary / "broken-off").write_bytes(b"half")

    report = fsck(finished)

    assert report.ok
    assert report.orphans == (orphan.sha256,)
    assert report.leftovers == ("broken-off",)


def test_a_finished_run_that_was_cut_and_whose_row_fits_again_is_found(
    finished: Home, tamper: Tamper
) -> None:
    # The chain itself holds after this: only the catalog chain remembers the end.
    tamper(
        finished,
        "DELETE FROM events WHERE seq = 2; UPDATE runs SET count = 1, status = 'created',"
        " head = (SELECT hash FROM events WHERE seq = 1)",
    )
    assert EventLog(finished).verify("r1").count == 1

    with pytest.raises(IntegrityError, match="event 2"):
        verify_run(finished, "r1")

    assert not fsck(finished).ok


def test_every_broken_chain_is_told(finished: Home, tamper: Tamper) -> None:
    EventLog(finished).create("r2", [("RunCreated", {})], projection={})
    tamper(finished, "UPDATE events SET record = x'7b7d' WHERE seq = 1")

    assert {problem.file for problem in fsck(finished).problems} == {"run r1", "run r2"}


@pytest.mark.parametrize(
    ("version", "race"),
    [
        ((3, 6, 23), False),
        ((3, 40, 1), True),
        ((3, 44, 6), False),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
    ],
)
def test_the_race_of_some_sqlite_versions_is_known(
    version: tuple[int, int, int], race: bool
) -> None:
    facts = sqlite_facts(version)

    assert facts.wal_reset_race is race
    assert facts.version == ".".join(map(str, version))
