"""What starting, listing and running cost; BENCH_ROUNDS=3 for a quick look (default 9)."""

from __future__ import annotations

import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from harness import SMALL, prepared, toy_site

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "9"))
STEPS = 100
COMMITS = 200
NO_OPS = {
    "steps": [{"id": f"step{number}", "use": "toy.nothing"} for number in range(STEPS)],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The command with a home in which the toy plugin is admitted and described."""
    scratch = tmp_path_factory.mktemp("bench")
    made = prepared(scratch, toy_site(scratch))
    made.contract(SMALL, **NO_OPS)
    return made


def child_cpu(command: Sequence[str | Path], made: Any) -> float:
    """Return user and system seconds of a command and of what it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=made.environment, cwd=made.folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(made: Any, *commands: Sequence[str | Path]) -> list[float]:
    """Run all commands in turn, round after round, and return the median CPU of each."""
    for command in commands:
        child_cpu(command, made)  # not counted: fills caches
    rounds = [[child_cpu(command, made) for command in commands] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def command(*words: str) -> list[str | Path]:
    import sysconfig

    return [Path(sysconfig.get_path("scripts")) / "harness", *words]


def test_help_costs_little_more_than_the_import_of_click(harness: Any) -> None:
    click, ours = medians(harness, [sys.executable, "-c", "import click"], command("--help"))

    print(f"\nharness --help: {ours * 1e3:.0f} ms CPU, {ours / click:.2f} of `import click`")
    assert ours <= 1.6 * click


def test_plugins_are_listed_in_half_a_second(harness: Any) -> None:
    start, ours = medians(harness, [sys.executable, "-c", "pass"], command("plugin", "list"))

    print(f"\nharness plugin list: {ours * 1e3:.0f} ms CPU, {ours / start:.1f} interpreter starts")
    assert ours <= 0.5


def durable_commit(folder: Path) -> float:
    """Return the median seconds of one row committed durably, in a file beside the home."""
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE IF NOT EXISTS events (body BLOB)")
    taken = []
    for _ in range(COMMITS):
        start = time.perf_counter()
        bare.execute("INSERT INTO events VALUES (?)", (os.urandom(400),))
        taken.append(time.perf_counter() - start)
    bare.close()
    return statistics.median(taken)


def per_action(made: Any) -> tuple[float, float]:
    """Run the contract anew; return seconds per action and until the first was finished."""
    made("run", "c.yaml", "--fresh", "--json", code=0)
    run = made("list", "--json", code=0).json["runs"][-1]["run_id"]
    events = made.events(run)
    times = [datetime.fromisoformat(event["time"]).timestamp() for event in events]
    finished = [
        at for at, event in zip(times, events, strict=True) if event["kind"] == "ActionFinished"
    ]
    started = times[[event["kind"] for event in events].index("RunStarted")]
    assert len(finished) == STEPS
    return (finished[-1] - finished[0]) / (STEPS - 1), finished[0] - started


def test_an_action_costs_little_more_than_its_durable_record(harness: Any) -> None:
    rounds = []
    for _ in range(ROUNDS):
        before = durable_commit(harness.home.parent)
        action, cold = per_action(harness)
        commit = (before + durable_commit(harness.home.parent)) / 2
        rounds.append((action, cold, commit, action - 4 * commit))

    action, cold, commit, rest = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(
        f"\n{STEPS} no-op actions: {action * 1e3:.2f} ms each with a durable commit of"
        f" {commit * 1e3:.2f} ms, {rest * 1e3:.2f} ms beside four of those;"
        f" start of the worker {cold * 1e3:.0f} ms"
    )
    assert rest <= 0.004
