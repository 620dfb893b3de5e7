"""A search on large tables as a real worker does it: memory, first formula, time limits.

Peak is the growth of worker and search children together over an idle worker, each page
counted once (PSS), relative to rows x columns x 8 bytes. Beside it pyoperon's own regressor on
the same table, in a process of its own. With ``SCIHARNESS_BENCH_QUICK=1`` the large table has
100,000 rows and there are fewer time limits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define, field

from sciharness.runtime.call import Given, call_capability
from sciharness.store.home import Home

QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
LARGE = 100_000 if QUICK else 1_000_000
COLUMNS = 10
LIMITS = [(1_000, 3.0), (LARGE, 3.0)] if QUICK else [
    (rows, limit) for rows in (1_000, 100_000, 1_000_000) for limit in (3.0, 10.0, 20.0)
]  # fmt: skip
SAMPLING = 0.02
LATE = 1.0  # seconds that a limit may be passed by

Json = Mapping[str, Any]  # Any: JSON values


@pytest.fixture(scope="module")
def table_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Give tables of ten columns and a noisy target, each made once."""
    folder = tmp_path_factory.mktemp("tables")

    def made(rows: int) -> Path:
        import pandas as pd

        path = folder / f"{rows}.csv"
        if not path.exists():
            draw = np.random.default_rng(0)
            x = draw.uniform(1.0, 3.0, (rows, COLUMNS))
            law = 2 * x[:, 0] * x[:, 1] / (1 + x[:, 2]) + np.sin(x[:, 3]) * x[:, 4]
            names = [f"x{place}" for place in range(COLUMNS)]
            noisy = law + 0.05 * draw.normal(size=rows)
            pd.DataFrame(x, columns=names).assign(y=noisy).to_csv(path, index=False)
        return path

    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home of its own, in which a first small search has warmed everything up."""
    with Home.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@define
class Watched:
    """What was seen of one search from outside; seconds count from its first word."""

    started: float = 0.0
    ended: float = 0.0
    first_formula: float = float("inf")
    idle: int = 0
    peak: int = 0
    told: list[tuple[float, Json]] = field(factory=list)

    @property
    def seconds(self) -> float:
        """Seconds until everything was handed over."""
        return self.ended - self.started

    def hear(self, event: Json) -> None:
        """Take an event of the worker."""
        now = time.monotonic()
        if "progress" not in event:
            return
        if not self.told:
            self.started = now
            self.idle = memory_below(os.getpid())
        self.told.append((now - self.started, event["progress"]))
        if "formula" in event["progress"]["best"]:
            self.first_formula = min(self.first_formula, now - self.started)


def searched(home: Home, data: Path, out: Path, workers: int, **request: Any) -> Watched:
    """Run a search in a worker and watch it."""
    seen = Watched()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(SAMPLING):
            seen.peak = max(seen.peak, memory_below(os.getpid()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        call_capability(
            home,
            "symbolic_regression.search",
            {"data": Given(data)},
            request,
            out,
            workers=workers,
            on_event=seen.hear,
        )
        seen.ended = time.monotonic()
    finally:
        over.set()
        watcher.join()
    return seen


def memory_below(parent: int) -> int:
    """Return the bytes that all processes below one take, pages that they share counted once."""
    return sum(proportional(pid) for pid in below(parent))


def below(parent: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            children = [int(word) for word in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *below(child)]
    return found


def proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # ended meanwhile
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


RAW = """
import resource, sys, threading, time
import numpy as np, pandas as pd
from pyoperon.sklearn import SymbolicRegressor
def memory():
    lines = open("/proc/self/status").read().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line[:2] == "Vm"}
import pyarrow
idle = memory()["VmRSS"]
began = time.monotonic()
table = pd.read_csv(sys.argv[1])
x, y = table.iloc[:, :-1].to_numpy(), table.iloc[:, -1].to_numpy()
del table
kept = np.random.default_rng(0).permutation(len(y)) % 4 == 0
found = SymbolicRegressor(
    max_time=round(float(sys.argv[2])), max_evaluations=10**9, n_threads=int(sys.argv[3]),
    generations=10**6, random_state=0, allowed_symbols=sys.argv[4],
)
found.fit(x[~kept], y[~kept])
seconds = time.monotonic() - began
error = float(np.sqrt(np.mean((found.predict(x[kept]).ravel() - y[kept]) ** 2)))
print(seconds, memory()["VmHWM"] - idle, error)
"""
SYMBOLS = "add,sub,mul,div,square,sqrt,sin,exp,log,constant,variable"


def raw(data: Path, limit: float, workers: int) -> tuple[float, float, float]:
    """Return seconds, growth in bytes and error on rows kept back of pyoperon's regressor."""
    words = [RAW, data, limit, workers, SYMBOLS]
    ended = subprocess.run(
        [sys.executable, "-c", *map(str, words)], capture_output=True, text=True, check=True
    )
    seconds, growth, error = map(float, ended.stdout.split()[-3:])
    return seconds, growth, error


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_large_table_takes_little_memory_and_gives_a_formula_soon(
    home: Home, table_of: Callable[[int], Path], tmp_path: Path, workers: int
) -> None:
    data, unit = table_of(LARGE), LARGE * COLUMNS * 8
    idle = searched(home, table_of(20), tmp_path / "small", 1, max_evaluations=10_000).idle

    seen = searched(home, data, tmp_path / "large", workers)
    growth = seen.peak - idle

    print(
        f"\n{LARGE:,} x {COLUMNS}, {workers} workers: first formula after "
        f"{seen.first_formula:.1f} s, all after {seen.seconds:.1f} s, peak {growth / 1e6:.0f} MB "
        f"= {growth / unit:.2f} of rows x columns x 8 over {idle / 1e6:.0f} MB idle"
    )
    assert seen.first_formula <= 10.0
    if not QUICK:
        assert growth <= 4 * unit


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("rows", "limit"), LIMITS)
def test_a_time_limit_holds(
    home: Home,
    table_of: Callable[[int], Path],
    tmp_path: Path,
    rows: int,
    limit: float,
    workers: int,
) -> None:
    seen = searched(
        home, table_of(rows), tmp_path / "out", workers, time_limit=limit, max_evaluations=10**9
    )

    print(
        f"\n{rows:,} rows, {workers} workers, limit {limit:g} s: {seen.seconds - limit:+.2f} s, "
        f"first formula after {seen.first_formula:.1f} s"
    )
    assert seen.seconds <= limit + LATE


def test_beside_raw_pyoperon(home: Home, table_of: Callable[[int], Path], tmp_path: Path) -> None:
    import json

    data, limit = table_of(LARGE), 10.0 if QUICK else 30.0
    seconds, growth, error = raw(data, limit, 2)
    seen = searched(home, data, tmp_path / "out", 2, time_limit=limit)
    found = json.loads((tmp_path / "out" / "formulas.json").read_text("utf-8"))
    ours = found["candidates"][found["chosen"]]["metrics"]["validation"]["rmse"]

    print(
        f"\nraw pyoperon: rmse {error:.4f} after {seconds:.1f} s, {growth / 1e6:.0f} MB; "
        f"search: {ours:.4f} after {seen.seconds:.1f} s, "
        f"{(seen.peak - seen.idle) / 1e6:.0f} MB; noise 0.05"
    )
    assert ours <= 1.1 * error
