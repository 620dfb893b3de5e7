"""Preparing a table of 2 million rows against `pandas.read_csv` of the same file, same run.

Every measurement is a process of its own, in turn, with warm page cache. With
``SCIHARNESS_BENCH_QUICK=1`` the table has 250,000 rows and there are 3 rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
ROUNDS = 3 if QUICK else 9
ROWS = 250_000 if QUICK else 2_000_000
COLUMNS = 10

# Each program prints the CPU seconds of the work itself, imports of the library
# that does it included, and the peak memory of the whole process in bytes.
HEAD = """
import json, resource, shutil, sys, time
from pathlib import Path
source, folder = Path(sys.argv[1]), Path(sys.argv[2])
"""
TAIL = """
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpu": cpu, "whole": usage.ru_utime + usage.ru_stime,
                  "memory": usage.ru_maxrss * 1024}))
"""
PANDAS = """
import pandas
start = time.process_time()
pandas.read_csv(source)
cpu = time.process_time() - start
"""
PREPARE = """
import pandas
from sciharness.contract.records import ContractInput, Holdout
from sciharness.store.home import Home
from sciharness.store.vault import Vault
from sciharness.tables import prepare_labelled
spec = ContractInput("data", source.name, "labelled_table")
with Home.open(folder / "home") as home:
    out = folder / "out"
    out.mkdir()
    start = time.process_time()
    prepared = prepare_labelled(source, spec, Holdout(), out)
    Vault(home).seal({"labels.csv": prepared.labels})
    cpu = time.process_time() - start
"""
READ = """
import pandas
from sciharness.plugin import Input
from sciharness.tables import read_table
start = time.process_time()
read_table(Input("data", source, "DATASET", "labelled_table"))
cpu = time.process_time() - start
"""
PROGRAMS = {"pandas": PANDAS, "prepare": PREPARE, "read_table": READ}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    import numpy as np

    path = tmp_path_factory.mktemp("table") / "data.csv"
    generator = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"c{place}" for place in range(COLUMNS)) + "\n")
        for _ in range(0, ROWS, 50_000):
            rows = generator.normal(size=(50_000, COLUMNS)).tolist()
            file.write("".join(",".join(map(repr, row)) + "\n" for row in rows))
    yield path
    path.unlink()


def measured(program: str, source: Path, folder: Path) -> dict[str, float]:
    folder.mkdir()
    command = [sys.executable, "-c", HEAD + program + TAIL, str(source), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    subprocess.run(["rm", "-r", str(folder)], check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def medians(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    base = tmp_path_factory.mktemp("work")
    rounds = [
        {name: measured(text, source, base / name) for name, text in PROGRAMS.items()}
        for _ in range(ROUNDS)
    ]
    size = source.stat().st_size
    found: dict[str, Any] = {"size": size}
    print(f"\n{ROWS} rows x {COLUMNS} columns, {size / 1e6:.0f} MB, medians of {ROUNDS} rounds")
    for name in PROGRAMS:
        parts = {
            part: statistics.median(one[name][part] for one in rounds)
            for part in ("cpu", "whole", "memory")
        }
        # Ratios within a round first: what slows the machine slows both.
        ratios = {
            part: statistics.median(one[name][part] / one["pandas"][part] for one in rounds)
            for part in ("cpu", "whole")
        }
        found[name] = {**parts, "ratio": ratios["cpu"], "whole_ratio": ratios["whole"]}
        print(
            f"{name:10} {parts['cpu']:6.2f} s CPU, {ratios['cpu']:5.2f} of pandas; whole process "
            f"{parts['whole']:6.2f} s, {ratios['whole']:5.2f}; "
            f"{parts['memory'] / size:5.2f} of the file in memory"
        )
    return found


def test_preparing_costs_at_most_three_reads_of_pandas(medians: dict[str, Any]) -> None:
    assert medians["prepare"]["ratio"] <= 3


def test_preparing_takes_at_most_six_times_the_file_in_memory(medians: dict[str, Any]) -> None:
    assert medians["prepare"]["memory"] <= 6 * medians["size"] + (300 << 20 if QUICK else 0)


def test_reading_for_an_operation_costs_at_most_three_reads_of_pandas(
    medians: dict[str, Any],
) -> None:
    assert medians["read_table"]["ratio"] <= 3
