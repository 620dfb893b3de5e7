"""How much verified reading costs beside the plain reading and hashing it cannot do without."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness_catalog.distributions import find_plugins
from sciharness_catalog.verify import read_verified

FILES, SIZE, ROUNDS = 100, 20_000, 15


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A plugin of 100 files and 2 MB, as an installer leaves it."""
    package, info = tmp_path / "big", tmp_path / "big-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    names = ["__init__.py", *(f"part_{number}.py" for number in range(1, FILES))]
    for name in names:
        (package / name).write_bytes(b"x = 1  \n" * (SIZE // 8))
    (info / "METADATA").write_text("Name: big\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sciharness.plugins]\nbig = big\n")
    (info / "RECORD").write_text("".join(f"big/{name},,\n" for name in names))
    return tmp_path


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_package_of_2_mb_is_verified_in_30_ms(site: Path) -> None:
    def plain() -> None:
        for path in (site / "big").iterdir():
            hashlib.sha256(path.read_bytes()).hexdigest()

    def verified() -> None:
        (plugin,) = find_plugins([site])
        read_verified(plugin)

    rounds = [(cpu(plain), cpu(verified)) for _ in range(ROUNDS)]
    base, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"plain {base * 1e3:.1f} ms, verified {ours * 1e3:.1f} ms, ratio {ours / base:.2f}")

    # Listing, walk, metadata and 100 RECORD rows come on top of reading and hashing.
    assert ours < max(0.030, 4 * base)
