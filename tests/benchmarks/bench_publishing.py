"""What a published predictor costs; BENCH_ROUNDS=3 for a quick look (default 9)."""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plane import write_contract

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "9"))
ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
HARNESS = Path(sysconfig.get_path("scripts")) / "harness"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a home, in which a published predictor is installed, and tables."""
    folder = tmp_path_factory.mktemp("bench")
    draw = random.Random(7)
    write_contract(folder)
    (folder / "one.csv").write_text("a,b\n1.5,2.0\n")
    text = "".join(f"{draw.uniform(0, 5)!r},{draw.uniform(1, 3)!r}\n" for _ in range(ROWS))
    (folder / "many.csv").write_text("a,b\n" + text)
    harness(folder, "run", "contract.yaml")
    wheel = next(folder.glob("home/exports/*/artifacts/predictor_plugin/*.whl"))
    harness(folder, "plugin", "install", wheel)
    return folder, wheel


def harness(folder: Path, *words: str | Path) -> None:
    """Run the command; it has to succeed."""
    subprocess.run(
        [HARNESS, "--home", folder / "home", *words], cwd=folder, check=True, capture_output=True
    )


def bare(folder: Path, table: str) -> None:
    """Run the inference script alone on a table."""
    package = folder / "home/plugins/generated/example.line/0.1.0/example_line"
    command = [sys.executable, "-I", "-B", package / "inference.py"]
    files = ["--model", package / "model.json", "--input", table, "--output", "bare.csv"]
    subprocess.run([*command, *files], cwd=folder, check=True, capture_output=True)


def seconds(work: Callable[[], None]) -> tuple[float, float]:
    """Return wall seconds and CPU seconds of children that some work takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu


def in_turn(rounds: int, *works: Callable[[], None]) -> list[tuple[float, float]]:
    """Do all works in turn, round after round; return the median wall and CPU seconds of each."""
    for work in works:
        work()  # not counted: fills caches
    taken = [[seconds(work) for work in works] for _ in range(rounds)]
    return [
        (statistics.median(w for w, _ in column), statistics.median(c for _, c in column))
        for column in zip(*taken, strict=True)
    ]


def test_predicting_costs_little_beyond_the_bare_script(made: Any) -> None:
    folder, _ = made
    (wall, cpu), (bare_wall, bare_cpu) = in_turn(
        ROUNDS,
        lambda: harness(folder, "predict", "example.line", "one.csv", "-o", "out.csv", "--force"),
        lambda: bare(folder, "one.csv"),
    )

    print(f"\npredict one row: {wall:.3f} s, bare script {bare_wall:.3f} s")
    print(f"overhead: {wall - bare_wall:.3f} s wall, {cpu - bare_cpu:.3f} s CPU (goal < 0.3)")
    # CPU time, since it does not depend on what else the machine does.
    assert cpu - bare_cpu < 0.3


def test_a_million_rows_cost_what_the_bare_script_costs(made: Any) -> None:
    folder, _ = made
    (wall, cpu), (bare_wall, bare_cpu) = in_turn(
        min(ROUNDS, 3),
        lambda: harness(folder, "predict", "example.line", "many.csv", "-o", "out.csv", "--force"),
        lambda: bare(folder, "many.csv"),
    )

    print(f"\npredict {ROWS} rows: {wall:.2f} s, bare script {bare_wall:.2f} s")
    print(f"ratio: {wall / bare_wall:.2f} wall, {cpu / bare_cpu:.2f} CPU (goal < 1.3)")
    assert cpu / bare_cpu < 1.3


def test_publish_install_and_predict_take_seconds(made: Any, tmp_path: Path) -> None:
    folder, wheel = made
    harness(folder, "plugin", "remove", "example.line", "--yes")

    install, cpu = seconds(lambda: harness(folder, "plugin", "install", wheel))
    predict, more = seconds(
        lambda: harness(folder, "predict", "example.line", "one.csv", "-o", "out.csv", "--force")
    )
    publish = published_seconds(folder)

    print(f"\npublish {publish:.2f} s, install {install:.2f} s, predict {predict:.2f} s")
    print(f"sum {publish + install + predict:.2f} s wall (goal < 5); CPU {cpu + more:.2f} s")
    assert cpu + more < 5


def published_seconds(folder: Path) -> float:
    """Return the seconds from the end of the research to the published package, by the record."""
    import json
    from datetime import datetime

    log = next(folder.glob("home/exports/*/events.jsonl"))
    times = {}
    for line in log.read_text().splitlines():
        row = json.loads(line)["event"]
        times[row["kind"]] = datetime.fromisoformat(row["time"])
    return (times["PackagePublished"] - times["RunFinished"]).total_seconds()
