"""What the store survives: kills, full disks, write limits, many processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sciharness.store.errors import DiskFullError
from sciharness.store.events import EventLog
from sciharness.store.fsck import fsck
from sciharness.store.home import Home

# Appends events with an artifact each and says so once they are durable.
WRITER = """
import resource, sys
from pathlib import Path
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home

path, run_id, count, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
home = Home.open(path)
log, store = EventLog(home), ArtifactStore(home)
if not home.connection().execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone():
    log.create(run_id, [("RunCreated", {})], projection={})
for number in range(count):
    blob = store.ingest_bytes(b"%d of " % number + run_id.encode())
    entry = {"id": f"{number}", "name": "a", "type": "OTHER", "sha256": blob.sha256}
    event, = log.append(run_id, [("Step", {"artifacts": [entry], "filler": "x" * 500})])
    print(event.seq, flush=True)
print("done", flush=True)
"""


def _start(home: Path, run_id: str, count: int, limit: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(home), run_id, str(count), str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _acknowledged(text: str) -> int:
    numbers = [int(line) for line in text.split() if line.isdecimal()]
    return max(numbers, default=0)


def test_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    moments = random.Random(0)
    with Home.open(tmp_path / "home"):
        pass
    acknowledged = 0

    for _ in range(20):
        child = _start(tmp_path / "home", "r1", 10_000)
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(moments.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        said, _ = child.communicate()
        acknowledged = max(acknowledged, _acknowledged(first + said))

    with Home.open(tmp_path / "home") as home:
        report = fsck(home)
        assert report.problems == ()
        assert report.events >= acknowledged >= 20


@pytest.mark.parametrize("limit", [4096, 50_000, 120_000, 200_000, 1_000_000])
def test_a_write_that_fails_is_no_success_and_the_home_stays_usable(
    tmp_path: Path, limit: int
) -> None:
    # A limit on file sizes makes the k-th write fail with EFBIG, for any user.
    with Home.open(tmp_path / "home") as home:
        EventLog(home).create("r1", [("RunCreated", {})], projection={})
    child = _start(tmp_path / "home", "r1", 3000, limit)
    said, errors = child.communicate()

    assert child.returncode != 0
    assert "done" not in said
    assert "StorageError" in errors or "DiskFullError" in errors
    with Home.open(tmp_path / "home") as home:
        report = fsck(home)
        assert report.problems == ()
        assert report.events >= max(1, _acknowledged(said))
        EventLog(home).append("r1", [("Later", {})])


def test_on_a_full_disk_the_last_event_is_written_from_the_reserve(
    tmp_path: Path, mounted: Callable[..., None]
) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mounted(place, "-t", "tmpfs", "-o", "size=24m", "none")
    with Home.open(place / "home") as home:
        log = EventLog(home)
        log.create("r1", [("RunCreated", {})], projection={"status": "running"})
        acknowledged = _fill(place, log)

        log.append("r1", [("RunFailed", {"reason": "disk full"})], projection={"status": "failed"})

        assert not home.reserve.exists()
        assert log.verify("r1").count == acknowledged + 1
    (place / "filler").unlink()
    with Home.open(place / "home") as home:
        assert home.reserve.exists()
        assert fsck(home).ok


def _fill(place: Path, log: EventLog) -> int:
    """Fill the disk, then append until that fails; return how many events there are."""
    with (place / "filler").open("wb", buffering=0) as filler:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while filler.write(os.urandom(size)) == size:
                    pass
            except OSError:
                continue
    count = 1
    with suppress(DiskFullError):
        while count < 1000:
            count = log.append("r1", [("Progress", {"filler": "x" * 3000})])[-1].seq
    assert count < 1000, "the disk never filled up"
    return count


def test_many_processes_share_one_home_without_a_locked_error(tmp_path: Path) -> None:
    with Home.open(tmp_path / "home"):
        pass

    children = [_start(tmp_path / "home", f"r{number}", 40) for number in range(8)]
    with Home.open(tmp_path / "home") as home:
        log = EventLog(home)
        while any(child.poll() is None for child in children):
            for number in range(8):
                list(log.read(f"r{number}"))
    results = [(child.returncode, *child.communicate()) for child in children]

    assert [(code, errors) for code, _, errors in results] == [(0, "")] * 8
    with Home.open(tmp_path / "home") as home:
        report = fsck(home)
        assert report.problems == ()
        assert report.events == 8 * 41
