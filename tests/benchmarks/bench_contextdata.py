"""Times context.data against the public reference loader, each call in a process of its own.

The reference is `sr-harness` 1.0.8, fetched into a temporary folder and run
from its file. Data sets of up to 1.5 GiB are made in the same folder and read
from the page cache. Both sides of a comparison run in turn.

    python tests/benchmarks/bench_contextdata.py            # medians of 15 runs
    python tests/benchmarks/bench_contextdata.py --quick    # small data, 3 runs
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

RUNS = 15
REFERENCE = "sr-harness==1.0.8"
MODULE = "sr_harness/core/context_data.py"
MEMORY_MIB = 5.0


@frozen
class Comparison:
    """Two ways to one result; ``target`` is the least ratio of the first's time to the second's."""

    name: str
    data: str
    reference: str
    ours: str
    target: float


COMPARISONS = (
    Comparison("inspect 200 x 1 MB", "many", "their_inspect", "inspect", 50),
    Comparison("inspect 1 GiB", "one", "their_inspect", "inspect", 100),
    Comparison("inspect 10,000 small", "small", "their_inspect", "inspect", 8),
    Comparison("inspect 10,000 + axes", "axes", "their_inspect", "inspect", 8),
    Comparison("inspect 1 GiB relation", "relation", "their_inspect", "inspect", 5),
    Comparison("load 10,000 small", "small", "their_load", "load", 8),
    Comparison("load 10,000 + axes", "axes", "their_load", "load", 8),
    Comparison("load 200 x 1 MB / np.load", "many", "numpy_load", "load", 1 / 1.10),
    Comparison("load 1 GiB / np.load", "one", "numpy_load", "load", 1 / 1.10),
    Comparison("load mmap 200 x 1 MB", "many", "their_load", "load_mmap", 20),
    Comparison("load mmap 1 GiB", "one", "their_load", "load_mmap", 100),
)


@frozen
class Measured:
    """Medians: seconds of both sides, and by how many MiB ours raised the peak of memory."""

    theirs: float
    ours: float
    grown_mib: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All data sets in full size, and the reference beside them; 3 GiB, removed afterwards."""
    path = tmp_path_factory.mktemp("contextdata")
    try:
        fetch_reference(path)
    except subprocess.CalledProcessError:
        pytest.skip(f"{REFERENCE} cannot be downloaded here")
    make_data(path, scale=1)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("item", COMPARISONS, ids=lambda item: item.name)
def test_it_is_as_much_faster_as_promised(folder: Path, item: Comparison) -> None:
    measured = measure(item, folder, RUNS, "wall")
    print(line(item, measured))

    assert measured.ratio >= item.target
    if item.ours == "inspect" and item.data == "one":
        assert measured.grown_mib < MEMORY_MIB


def main() -> None:
    """Print a line for each comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, 3 runs: only a trial")
    parser.add_argument("--runs", type=int, default=None, help=f"interleaved runs ({RUNS})")
    parser.add_argument("--only", default="", help="only comparisons whose name contains this")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--once", nargs=3, metavar=("WAY", "PATH", "MODULE"), help="one timing")
    options = parser.parse_args()
    if options.once:
        time_once(*options.once)
        return
    runs = options.runs or (3 if options.quick else RUNS)
    with tempfile.TemporaryDirectory(prefix="bench-contextdata-") as name:
        fetch_reference(Path(name))
        make_data(Path(name), scale=100 if options.quick else 1)
        for item in COMPARISONS:
            if options.only in item.name:
                print(line(item, measure(item, Path(name), runs, options.clock)), flush=True)


def fetch_reference(folder: Path) -> None:
    """Download the reference and unpack its loader."""
    command = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps"]
    command += ["--ignore-requires-python", "--dest", str(folder), REFERENCE]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extract(MODULE, folder)


def measure(item: Comparison, folder: Path, runs: int, clock: str) -> Measured:
    """Time both sides of ``item`` in turn."""
    path, module = folder / item.data, folder / MODULE
    for way in (item.reference, item.ours):
        timing(way, path, module)  # fills the page cache
    pairs = [
        (timing(item.reference, path, module), timing(item.ours, path, module)) for _ in range(runs)
    ]
    return Measured(
        statistics.median(theirs[clock] for theirs, _ in pairs),
        statistics.median(ours[clock] for _, ours in pairs),
        statistics.median(ours["grown_mib"] for _, ours in pairs),
    )


def line(item: Comparison, measured: Measured) -> str:
    """Return a line of the table."""
    return (
        f"{item.name:26} {measured.theirs * 1e3:8.2f} ms {measured.ours * 1e3:8.2f} ms, "
        f"{measured.grown_mib:6.1f} MiB, {measured.ratio:8.2f}x (target {item.target:.2f}x)"
    )


def timing(way: str, path: Path, module: Path) -> dict[str, float]:
    """Return what :func:`time_once` prints in a fresh process."""
    command = [sys.executable, __file__, "--once", way, str(path), str(module)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def time_once(way: str, path: str, module: str) -> None:
    """Print wall and CPU seconds of one call and by how much it raised the peak of memory."""
    call = way_to_call(way, module)
    peak_kib()
    before = peak_kib()
    wall, cpu = time.perf_counter(), time.process_time()
    held = call(Path(path))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    del held
    grown = (peak_kib() - before) / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "grown_mib": grown}))


def way_to_call(way: str, module: str) -> Callable[[Path], Any]:  # Any: held until timed
    """Return the function called ``way``, with everything imported that it needs."""
    if way == "numpy_load":
        return numpy_load
    if way.startswith("their_"):
        spec = importlib.util.spec_from_file_location("reference_loader", module)
        if spec is None or spec.loader is None:
            raise ImportError(module)
        reference = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reference)
        inspect: Callable[[Path], Any] = reference.inspect_context_data
        load: Callable[[Path], Any] = reference.load_context_data
        return inspect if way == "their_inspect" else load
    from sciharness.contextdata import inspect_context_data, load_context_data

    if way == "inspect":
        return inspect_context_data
    return lambda path: load_context_data(path, mmap=way == "load_mmap")


def numpy_load(folder: Path) -> list[Any]:
    """Load all arrays of a folder by ``numpy.load`` alone."""
    return [np.load(file, allow_pickle=False) for file in sorted(folder.glob("*.npy"))]


def peak_kib() -> int:
    """Return the peak of resident memory so far, in KiB; each call restarts it where it can."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak


def make_data(folder: Path, scale: int) -> None:
    """Write the five data sets, ``scale`` times smaller than in full."""
    rng = np.random.default_rng(0)
    count, items = max(10_000 // scale, 10), 128 * 1024**2 // scale
    rows = items // 1024
    small = {f"v{index}": rng.normal(size=100) for index in range(count)}
    write(folder / "small", small, {name: ["t"] for name in small}, {"t": {"size": 100}})

    own = {name: [f"a{name}"] for name in small}
    files = {f"a{name}": np.arange(100.0) for name in small}
    write(folder / "axes", small | files, own, {name: {"file": f"{name}.npy"} for name in files})

    many = {f"v{index}": rng.normal(size=131_072 // scale) for index in range(200)}
    along = {name: ["t"] for name in many}
    write(folder / "many", many, along, {"t": {"size": 131_072 // scale}})

    one = {"v": rng.normal(size=(rows, 1024))}
    write(folder / "one", one, {"v": ["t", "x"]}, {"t": {"size": rows}, "x": {"size": 1024}})

    edges = items // 2
    network = {"A": rng.integers(0, 1000, (edges, 2)), "w": rng.normal(size=edges)}
    names = {"A": ["edge", "endpoint"], "w": ["edge"]}
    labels: dict[str, dict[str, Any]] = {
        "edge": {"size": edges},
        "endpoint": {"values": ["target", "source"]},
    }
    more = {"A": {"kind": "relation"}, "w": {"structure": "A"}}
    write(folder / "relation", network, names, labels, more, {"num_nodes": 1000})


def write(
    folder: Path,
    arrays: dict[str, Any],
    variables: dict[str, list[str]],
    axes: dict[str, dict[str, Any]],
    more: dict[str, dict[str, str]] | None = None,
    root: dict[str, int] | None = None,
) -> None:
    """Write one data set."""
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    manifest = {
        "variables": {
            name: {"file": f"{name}.npy", "description": f"Variable {name}.", "axes": along}
            | (more or {}).get(name, {})
            for name, along in variables.items()
        },
        "axes": {name: {"description": f"Axis {name}."} | axis for name, axis in axes.items()},
    } | (root or {})
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


if __name__ == "__main__":
    main()
