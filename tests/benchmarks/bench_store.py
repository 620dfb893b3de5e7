"""The store against the plainest code that does the same: ratios of one batch, medians printed."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

ROUNDS = 11
BODY = {"fraction": 0.5, "message": "x" * 200, "best": {"complexity": 7, "rmse": 0.0123}}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home") as opened:
        yield opened


def _cpu(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _wall(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _medians(
    measure: Callable[[Callable[[], object]], float], *works: Callable[[], object]
) -> list[float]:
    """Run all works in turn, round after round, and return the median of each."""
    rounds = [[measure(work) for work in works] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


@pytest.mark.slow
def test_ingest_of_a_gigabyte_costs_little_more_than_digest_and_copy(
    home: Home, tmp_path: Path
) -> None:
    source, copy, store = tmp_path / "source", tmp_path / "copy", ArtifactStore(home)
    _write_gigabyte(source)

    digests: list[str] = []

    def plain() -> None:
        with source.open("rb") as file:
            hashlib.file_digest(file, "sha256")
        shutil.copyfile(source, copy)

    def ingest() -> None:
        digests.append(store.ingest(source).sha256)

    def tidy() -> None:
        # Not measured: a file that was synced costs more to remove.
        copy.unlink()
        store.path(digests[-1]).unlink()

    rounds = [(_cpu(plain), _cpu(ingest), tidy()) for _ in range(ROUNDS)]
    usual, ours = (statistics.median(times) for times in list(zip(*rounds, strict=True))[:2])

    print(f"\ningest 1 GB: {ours:.2f} s CPU, {ours / usual:.2f} of digest and copy {usual:.2f} s")
    assert ours <= 1.3 * usual


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    _write_gigabyte(tmp_path / "source")
    (tmp_path / "small").write_bytes(b"small")
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from sciharness.store.artifacts import ArtifactStore\n"
        "from sciharness.store.home import Home\n"
        "with Home.open(Path(sys.argv[1])) as home: ArtifactStore(home).ingest(Path(sys.argv[2]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    peaks = [
        int(subprocess.check_output([sys.executable, "-c", code, tmp_path / "home", file]))
        for file in (tmp_path / "small", tmp_path / "source")
    ]

    print(f"\npeak memory: {peaks[0] / 1024:.1f} MiB for 5 bytes, {peaks[1] / 1024:.1f} for 1 GB")
    assert peaks[1] - peaks[0] < 4096


def test_ten_thousand_events_are_verified_in_twice_a_plain_read(home: Home) -> None:
    log = EventLog(home)
    log.create("r1", [("RunCreated", {})], projection={})
    log.append("r1", [("Progress", BODY) for _ in range(9999)])
    query = "SELECT * FROM events WHERE run_id = 'r1' ORDER BY seq"

    def read() -> None:
        # Plain: all columns of all rows into memory, nothing parsed.
        home.connection().execute(query).fetchall()

    plain, ours = _medians(_cpu, read, lambda: log.verify("r1"))

    print(f"\nverify 10,000 events: {ours * 1e3:.1f} ms CPU, {ours / plain:.2f} of a plain read")
    assert ours <= 2 * plain


def test_an_append_costs_little_more_than_the_commit_that_makes_it_durable(
    home: Home, tmp_path: Path
) -> None:
    log = EventLog(home)
    log.create("r1", [("RunCreated", {})], projection={})
    bare = sqlite3.connect(tmp_path / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE events (body BLOB)")
    row = (os.urandom(400),)

    def commit() -> None:
        for _ in range(50):
            bare.execute("INSERT INTO events VALUES (?)", row)

    def append() -> None:
        for _ in range(50):
            log.append("r1", [("Progress", BODY)])

    plain, ours = (seconds / 50 for seconds in _medians(_wall, commit, append))
    cpu = _medians(_cpu, append)[0] / 50

    print(
        f"\nappend: {ours * 1e3:.3f} ms ({cpu * 1e3:.3f} ms CPU),"
        f" {ours / plain:.2f} of a durable commit {plain * 1e3:.3f} ms"
    )
    bare.close()
    assert ours <= 4 * plain


def test_a_thousand_runs_of_two_hundred_events_are_listed_at_once(home: Home) -> None:
    log, first = EventLog(home), [("Progress", BODY)]
    with home.writing() as tx:
        for number in range(1, 1001):
            log.create(f"{number:05d}-aaaaaa", first, projection={"title": "t"}, tx=tx)
        # The further events are not chained: only their number matters here.
        tx.execute(
            "INSERT INTO events SELECT run_id, seq + number, record, hash FROM events,"
            " (WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n"
            " WHERE number < 199) SELECT number FROM n)"
        )
    home.close()

    def listing() -> None:
        with Home.open(home.path) as opened:
            assert len(Runs(opened).listing()) == 1000

    (seconds,) = _medians(_wall, listing)

    print(f"\nopen a home and list 1,000 runs of 200 events: {seconds * 1e3:.1f} ms")
    assert seconds < 0.1


def _write_gigabyte(path: Path) -> None:
    block = os.urandom(1_000_000)
    with path.open("wb") as file:
        for _ in range(1000):
            file.write(block)
