"""Times bundles against `tar`, and profiles of attachments, on 512 files of 50 MB in all.

`tar` packs the same folder into a file, reads it once and unpacks it; we pack
(with digests, checks for changes and the rules), scan and materialise. Both run
in turn, from the page cache.

    python tests/benchmarks/bench_bundles.py

BENCH_ROUNDS sets the rounds (default 5); SCIHARNESS_BENCH_QUICK=1 takes 2.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.bundles import FolderLimits, pack_folder, unpack
from sciharness.profiles import profile

QUICK = os.environ.get("SCIHARNESS_BENCH_QUICK") == "1"
ROUNDS = 2 if QUICK else int(os.environ.get("BENCH_ROUNDS", "5"))
FILES, TOTAL = 512, 50 * 10**6
MOST_TIMES_TAR, MOST_SECONDS = 3.0, 1.0


def make_folder(folder: Path) -> Path:
    """Write 512 files in 16 folders, half of them text."""
    draw = random.Random(1)
    size = TOTAL // FILES
    for number in range(FILES):
        place = folder / f"part{number % 16}" / f"file{number}"
        place.parent.mkdir(parents=True, exist_ok=True)
        content = draw.randbytes(size) if number % 2 else b"0.123456789 " * (size // 12)
        place.write_bytes(content)
    return folder


def by_tar(folder: Path, scratch: Path) -> None:
    """Pack, list and unpack with tar."""
    archive, out = scratch / "a.tar", scratch / "out"
    out.mkdir()
    subprocess.run(["tar", "-cf", archive, "-C", folder, "."], check=True)
    subprocess.run(["tar", "-tf", archive], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "-xf", archive, "-C", out], check=True)


def by_bundle(folder: Path, scratch: Path) -> None:
    """Pack by the rules of chosen folders and materialise again."""
    archive = scratch / "a.bundle"
    with archive.open("wb") as sink:
        pack_folder(folder, sink, FolderLimits())
    unpack(archive, scratch / "out")


def seconds(work: Callable[[Path, Path], None], folder: Path) -> float:
    """Return how long one round takes, in a fresh folder."""
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    started = time.perf_counter()
    work(folder, scratch)
    taken = time.perf_counter() - started
    shutil.rmtree(scratch)
    return taken


def compare(folder: Path) -> float:
    """Print both medians and return how many times longer than tar we take."""
    pairs = [(seconds(by_tar, folder), seconds(by_bundle, folder)) for _ in range(ROUNDS)]
    tar, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"tar {tar:.3f} s, bundle {ours:.3f} s: {ours / tar:.2f} times (at most 3)")
    return ours / tar


def attachments(folder: Path) -> dict[str, Path]:
    """Write one large attachment of each kind, up to 10 MiB."""
    rows = "".join(f"{n},{n * 0.5},{n * 0.25}\n" for n in range(400_000))
    (folder / "rows.csv").write_text("a,b,c\n" + rows[: 9 * 2**20].rpartition("\n")[0] + "\n")
    (folder / "data.json").write_text("[" + ",".join(["[1.5, 2.5]"] * 700_000) + "]")
    source = "".join(f"def f{n}(x, y):\n    return x + y * {n}\n" for n in range(12_000))
    (folder / "tool.py").write_text(source)
    (folder / "ring.madx").write_text("".join(f"q{n}: quadrupole, l=1;\n" for n in range(200_000)))
    (folder / "noise.bin").write_bytes(random.Random(2).randbytes(10 * 2**20))
    shutil.copy(shutil.which("tar") or "/bin/sh", folder / "program")
    small = folder / "solver"
    for number in range(FILES):
        place = small / f"d{number % 16}" / f"f{number}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"text of a solver\n" * 1000)
    shutil.copy(folder / "program", small / "d0" / "f0")
    shutil.make_archive(str(folder / "solver"), "zip", small)
    names = ("rows.csv", "data.json", "tool.py", "ring.madx", "noise.bin", "program", "solver")
    return {name: folder / name for name in (*names, "solver.zip")}


def profiles(folder: Path) -> dict[str, float]:
    """Print the median seconds of a profile of each attachment; return those of CPU time.

    The worker's start is part of both; wall time also tells what else the machine does.
    """
    found = {}
    for name, path in attachments(folder).items():
        wall, cpu = [], []
        for _ in range(ROUNDS):
            started, spent = time.perf_counter(), cpu_of_children()
            kind = profile(path).kind
            wall.append(time.perf_counter() - started)
            cpu.append(cpu_of_children() - spent)
        found[name] = statistics.median(cpu)
        words = f"{found[name]:.2f} s of CPU (typically under 1), {statistics.median(wall):.2f} s"
        print(f"profile {name:10} {kind:16} {words}")
    return found


def cpu_of_children() -> float:
    """Return the CPU seconds of all ended children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that is packed."""
    return make_folder(tmp_path / "given")


def test_bundles_take_less_than_three_times_as_long_as_tar(folder: Path) -> None:
    assert compare(folder) < MOST_TIMES_TAR


def test_a_profile_typically_takes_less_than_a_second(tmp_path: Path) -> None:
    found = profiles(tmp_path)
    assert statistics.median(found.values()) < MOST_SECONDS


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        compare(make_folder(Path(place, "given")))
        (Path(place) / "attachments").mkdir()
        profiles(Path(place) / "attachments")
