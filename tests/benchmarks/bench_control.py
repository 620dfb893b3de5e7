"""What looking at a large home and going on with a run cost; BENCH_ROUNDS=3 for a quick look."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from harness import COMMAND, SMALL, prepared, toy_site

from sciharness.store.chain import GENESIS, encode_record, hash_event
from sciharness.store.events import EventLog
from sciharness.store.home import Home

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "9"))
RUNS, EVENTS = 1000, 200
STEPS = [
    {"id": "one", "use": "toy.nothing"},
    {"id": "two", "use": "toy.note", "with": {"pause": 60}},
    {"id": "three", "use": "toy.nothing"},
]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The command with a home in which the toy plugin is admitted."""
    scratch = tmp_path_factory.mktemp("bench")
    return prepared(scratch, toy_site(scratch))


@pytest.fixture(scope="module")
def crowded(harness: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home with a thousand runs of two hundred events, each as a real one has them."""
    scratch = tmp_path_factory.mktemp("crowded")
    made = harness.moved(home=scratch / "home", folder=scratch)
    made("plugin", "admit", "toy", code=0)
    made.contract(SMALL)
    made("run", "c.yaml", code=0)
    with Home.open(made.home) as home:
        (real,) = (row[0] for row in home.connection().execute("SELECT run_id FROM runs"))
        events = [(one.kind, one.time, one.body) for one in EventLog(home).read(real)]
        body = {"index": 0, "fraction": 0.5, "message": "at work", "best": {}}
        progress = ("ActionProgress", events[0][1], body)
        whole = [*events[:-2], *[progress] * (EVENTS - len(events)), *events[-2:]]
        records = [encode_record(*event) for event in whole]
        with home.writing() as tx:
            for number in range(2, RUNS + 1):
                copy_of(records, f"{number:05d}-abcdef", events[0][1], tx)
    return made


def copy_of(records: list[bytes], run_id: str, created: str, tx: Any) -> None:
    """Store a run of these events as the log would have done, many at once."""
    head, rows = GENESIS, []
    for seq, record in enumerate(records, start=1):
        head = hash_event(run_id, seq, head, record)
        rows.append((run_id, seq, record, head))
    tx.connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
    tx.execute(
        "INSERT INTO runs VALUES (?, 'succeeded', 'Crowd', 'succeeded', '', ?, ?, ?, NULL)",
        (run_id, created, len(rows), head),
    )


def measured(made: Any, *words: str) -> tuple[float, float]:
    """Return median seconds and median CPU seconds of a command."""
    walls, cpus = [], []
    for _ in range(ROUNDS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [COMMAND, *words]
        subprocess.run(command, env=made.environment, check=True, capture_output=True)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(walls), statistics.median(cpus)


@pytest.mark.parametrize(
    "words",
    [("list",), ("list", "--json"), ("status", "500"), ("status", "500", "--json")],
    ids=" ".join,
)
def test_a_thousand_runs_are_looked_at_in_half_a_second(
    crowded: Any, words: tuple[str, ...]
) -> None:
    wall, cpu = measured(crowded, *words)

    print(f"\nharness {' '.join(words)}: {wall:.3f} s, {cpu:.3f} s CPU, {RUNS} x {EVENTS} events")
    assert cpu <= 0.5


@pytest.fixture
def paused(harness: Any) -> Iterator[str]:
    """A run that was stopped in its second action."""
    harness.contract(SMALL, capabilities=["toy.nothing", "toy.note"], steps=STEPS)
    process = harness.start("run", "c.yaml", "--fresh")
    while process.poll() is None:
        runs = harness("list", "--json").json["runs"]
        if runs and harness.kinds(runs[-1]["run_id"]).count("ActionStarted") == 2:
            break
    harness("pause", runs[-1]["run_id"], "--now", code=0)
    process.communicate(timeout=60)
    yield runs[-1]["run_id"]
    harness("cancel", runs[-1]["run_id"])


def test_resuming_takes_half_a_second_before_the_next_action(harness: Any, paused: str) -> None:
    taken = []
    for _ in range(ROUNDS):
        started = time.time()
        process = harness.start("resume", paused)
        while process.poll() is None:
            if harness("status", paused, "--json").json["status"] == "running":
                break
        harness("pause", paused, "--now", code=0)
        process.communicate(timeout=60)
        begun = [one for one in harness.events(paused) if one["kind"] == "ActionStarted"]
        taken.append(datetime.fromisoformat(begun[-1]["time"]).timestamp() - started)

    seconds = statistics.median(taken)
    print(f"\nharness resume: {seconds:.3f} s from the command to the action that goes on")
    assert seconds <= 0.5 or os.getloadavg()[0] > 2.0


def test_a_paused_run_has_no_process(harness: Any, paused: str) -> None:
    place = str(harness.home)
    living = [
        name
        for name in os.listdir("/proc")
        if name.isdigit() and place in _environment(Path("/proc", name))
    ]

    print(f"\na paused run: {len(living)} processes")
    assert living == []


def _environment(process: Path) -> str:
    try:
        return (process / "environ").read_text("utf-8", "replace")
    except OSError:
        return ""
