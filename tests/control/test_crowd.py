"""Many processes at one home: nobody is locked out, nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sciharness.store.events import EventLog
from sciharness.store.fsck import fsck
from sciharness.store.home import Home
from sciharness.store.runs import Runs

SECONDS = float(os.environ.get("HARNESS_TEST_CROWD_SECONDS", "30"))

WRITER = """
import sys, time
from pathlib import Path
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

home = Home.open(Path(sys.argv[1]))
log, store, ends = EventLog(home), ArtifactStore(home), time.monotonic() + float(sys.argv[2])
with home.writing() as tx:
    run_id = Runs(home).new_run_id(tx)
    log.create(run_id, [("RunCreated", {})], projection={"status": "created"}, tx=tx)
owner = Runs(home).claim(run_id)
taken, seq = [], 1
while time.monotonic() < ends:
    blob = store.ingest_bytes(b"%d of " % seq + run_id.encode())
    entry = {"id": str(seq), "name": "a", "type": "OTHER", "sha256": blob.sha256}
    start = time.perf_counter()
    (event,) = log.append(run_id, [("Step", {"artifacts": [entry]})], owner=owner)
    taken.append(time.perf_counter() - start)
    assert event.seq == seq + 1, "an event of another run is among ours"
    seq = event.seq
Runs(home).release(run_id)
home.close()
taken.sort()
print(run_id, seq, taken[int(0.99 * len(taken))])
"""

READER = """
import sys, time
from pathlib import Path
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

ends, looks = time.monotonic() + float(sys.argv[2]), 0
with Home.open(Path(sys.argv[1])) as home:
    while time.monotonic() < ends:
        for run in Runs(home).listing():
            events = list(EventLog(home).read(run.run_id, after=max(0, run.count - 20)))
            assert [one.seq for one in events] == list(range(events[0].seq, events[-1].seq + 1))
            assert events[-1].seq >= run.count, "an acknowledged event is not seen"
            looks += 1
print(looks)
"""


@pytest.mark.slow
def test_eight_writers_and_two_readers_share_a_home(tmp_path: Path) -> None:
    with Home.open(tmp_path / "home"):
        pass

    def start(text: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", text, str(tmp_path / "home"), str(SECONDS)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    writers, readers = [start(WRITER) for _ in range(8)], [start(READER) for _ in range(2)]
    ended = [(one.communicate(timeout=SECONDS + 120), one.returncode) for one in writers]
    looked = [(one.communicate(timeout=120), one.returncode) for one in readers]

    assert [(code, err) for (_, err), code in (*ended, *looked)] == [(0, "")] * 10
    said = {out.split()[0]: int(out.split()[1]) for (out, _), _ in ended}
    with Home.open(tmp_path / "home") as home:
        report = fsck(home)
        assert report.problems == ()
        assert {run.run_id: run.count for run in Runs(home).listing()} == said
        assert sorted(int(run_id[:5]) for run_id in said) == list(range(1, 9))
        assert all(EventLog(home).verify(run_id).count == said[run_id] for run_id in said)
    slowest = max(float(out.split()[2]) for (out, _), _ in ended)
    looks = sum(int(out) for (out, _), _ in looked)
    print(
        f"\n8 writers, {SECONDS:g} s: {report.events} events, lost 0, locked errors 0,"
        f" p99 of a commit {slowest * 1e3:.0f} ms; 2 readers looked {looks} times"
    )
