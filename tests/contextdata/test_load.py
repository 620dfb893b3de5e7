"""What loading gives: the arrays as stored, private to the caller, with their metadata."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.contextdata import ContextManifestError, load_context_data

BOTH = pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])


@BOTH
def test_arrays_and_metadata_come_ready_to_use(network: Any, mmap: bool) -> None:
    loaded = load_context_data(network.write(), mmap=mmap)

    data = loaded["data"]
    assert list(data) == [*network.axes, *network.variables]
    for name, array in network.arrays.items():
        np.testing.assert_array_equal(data[name], array)
        assert data[name].dtype == array.dtype
    assert data["node"].tolist() == ["a", "b", "c", "d"]
    assert data["edge"].dtype == np.int64
    assert data["edge"].tolist() == [0, 1, 2, 3, 4]
    assert loaded["variable_axes"]["w"] == ["time", "edge"]
    assert loaded["variable_axes"]["g"] == []
    assert loaded["relation_names"] == ["A"]
    assert loaded["num_nodes"] == 4
    assert loaded["structures"] == {"w": "A"}
    assert loaded["descriptions"]["theta"] == "Phase."
    assert loaded["descriptions"]["time"] == "Time in s."
    assert loaded["descriptions"].keys() == data.keys()


def storages() -> dict[str, Any]:
    grid = np.arange(24.0).reshape(4, 6)
    return {
        "row order": grid,
        "column order": np.asfortranarray(grid),
        "big-endian": grid.astype(">f8"),
        "column order, big-endian": np.asfortranarray(grid.astype(">i2")),
        "column order in three": np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
        "scalar": np.array(3.5),
        "empty": np.zeros((0, 3)),
        "text": np.array(["ä", "bcd", ""]),
        "bytes": np.array([b"x", b"yz"]),
        "bool": np.array([True, False]),
        "complex": grid * 1j,
        "time": np.array(["2020-01-01", "NaT"], "M8[D]"),
        "fields": np.zeros(3, [("a", "<f8"), ("b", "<i4", (2,))]),
        "long": np.arange(50_000.0),
        "long in columns": np.asfortranarray(np.arange(60_000.0).reshape(300, 200)),
    }


@BOTH
@pytest.mark.parametrize("stored", storages().values(), ids=list(storages()))
def test_an_array_comes_as_it_is_stored(
    directory: Callable[..., Path], stored: Any, mmap: bool
) -> None:
    names = [f"a{position}" for position in range(stored.ndim)]
    axes = {name: {"file": f"{name}.npy"} for name in names}
    labels = {name: np.zeros(length) for name, length in zip(names, stored.shape, strict=True)}
    path = directory({"v": stored, **labels}, {"v": names}, axes)

    array = load_context_data(path, mmap=mmap)["data"]["v"]

    np.testing.assert_array_equal(array, stored)
    assert array.dtype == stored.dtype
    assert array.dtype.byteorder == np.load(path / "v.npy").dtype.byteorder
    assert array.strides == np.load(path / "v.npy").strides or not stored.size
    assert array.flags.writeable
    assert isinstance(array, np.memmap) == (mmap and stored.size > 0)


@BOTH
@pytest.mark.parametrize("count", [10, 100_000], ids=["small", "large"])
def test_what_is_written_into_an_array_stays_with_the_caller(
    directory: Callable[..., Path], count: int, mmap: bool
) -> None:
    path = directory({"v": np.zeros(count)}, {"v": ["t"]}, {"t": {"size": count}})
    before = (path / "v.npy").read_bytes()

    array = load_context_data(path, mmap=mmap)["data"]["v"]
    array += 1.0
    del array
    gc.collect()

    assert (path / "v.npy").read_bytes() == before
    assert load_context_data(path)["data"]["v"].sum() == 0


@pytest.mark.parametrize("count", [10, 100_000], ids=["small", "large"])
def test_a_copy_does_not_follow_the_file(directory: Callable[..., Path], count: int) -> None:
    path = directory({"v": np.zeros(count)}, {"v": ["t"]}, {"t": {"size": count}})
    array = load_context_data(path)["data"]["v"]

    with (path / "v.npy").open("r+b") as file:  # as an agent rewrites it in place
        file.seek(-8, os.SEEK_END)
        file.write(np.array(7.0).tobytes())
    with (path / "v.npy").open("r+b") as file:
        file.truncate(128)

    assert array.sum() == 0


def test_more_files_than_a_process_may_open_are_mapped_or_read(
    directory: Callable[..., Path], few_descriptors: None
) -> None:
    arrays = {f"v{number}": np.full(3000, float(number)) for number in range(100)}
    along = {name: ["t"] for name in arrays}
    path = directory(arrays, along, {"t": {"size": 3000}})

    data = load_context_data(path, mmap=True)["data"]

    assert all(data[f"v{number}"].mean() == number for number in range(100))
    os.close(os.open(path, os.O_RDONLY))  # there is one left for the caller


def test_a_file_that_shrinks_between_check_and_reading_is_refused(
    directory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciharness.contextdata import load

    path = directory({"v": np.zeros(100_000)}, {"v": ["t"]}, {"t": {"size": 100_000}})
    checked = load.survey

    def shrink_after(*arguments: Any) -> Any:
        found = checked(*arguments)
        os.truncate(path / "v.npy", 4096)
        return found

    monkeypatch.setattr(load, "survey", shrink_after)
    with pytest.raises(ContextManifestError, match="changed while it was read"):
        load_context_data(path)


@pytest.mark.parametrize("dtype", ["<f8", "|i1"], ids=["variable", "axis"])
def test_data_beyond_memory_is_refused_not_a_memory_error(
    directory: Callable[..., Path], dtype: str
) -> None:
    count = 2**31 if dtype == "<f8" else 2**27  # as int64 positions, the axis takes 1 GiB
    path = directory({"v": np.zeros(1)}, {"v": ["t"]}, {"t": {"size": count}})
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}".ljust(117)
    with (path / "v.npy").open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.encode() + b"\n")
        file.truncate(128 + count * np.dtype(dtype).itemsize)  # sparse
    program = (
        "import resource, sys\n"
        "from sciharness.contextdata import ContextManifestError, load_context_data\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "try: load_context_data(sys.argv[1])\n"
        "except ContextManifestError as error: print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )

    assert "expected an array that fits into memory" in done.stdout, done.stderr
