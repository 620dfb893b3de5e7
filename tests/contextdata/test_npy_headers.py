"""NPY files that claim what is not there: an error, quickly and without memory."""

from __future__ import annotations

import io
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contextdata import ContextManifestError, inspect_context_data, load_context_data
from sciharness.contextdata._npy import MOST, Headers, NpyFault


def npy(header: str | bytes, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    raw = header if isinstance(header, bytes) else header.encode("latin1")
    length = len(raw).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + raw + data


def usual(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def archive() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, v=np.zeros(3))
    return stream.getvalue()


HOSTILE = {
    "empty": (b"", "expected an NPY file, found an empty file"),
    "text": (b"1,2,3\n", "bytes that begin with b'1,2,3\\n'"),
    "zip": (archive(), "a ZIP archive, as of numpy.savez"),
    "pickle": (b"\x80\x04\x95\x00", "a pickle"),
    "half a magic": (b"\x93NUM", "bytes that begin with"),
    "no version": (b"\x93NUMPY", "expected NPY version 1.0, 2.0 or 3.0, found no version"),
    "version 9": (b"\x93NUMPY\x09\x00" + bytes(100), "found 9.0"),
    "half a length": (b"\x93NUMPY\x01\x00\x76", "a file of 9 bytes"),
    "half a header": (npy(usual("(3,)"))[:40], "found 40 of"),
    "header of 4 GB": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "4294967307 bytes claimed"),
    "header beyond numpy's bound": (npy(usual("(3,)").ljust(20_000)), "20010 bytes claimed"),
    "no dict": (npy("[1, 2]\n"), "a header with descr, fortran_order and shape"),
    "call": (npy("__import__('os').system('true')\n"), "an NPY header that is a Python dict"),
    "deep": (npy("(" * 9000), "an NPY header that is a Python dict"),
    "unary": (npy("-" * 9000 + "1"), "an NPY header that is a Python dict"),
    "digits": (npy(usual("(" + "9" * 9000 + ",)")), "an NPY header that is a Python dict"),
    "key missing": (npy("{'descr': '<f8', 'shape': (3,)}\n"), "a header with descr"),
    "key more": (npy(usual("(3,)").replace("}", "'x': 1}")), "a header with descr"),
    "8 TB": (npy(usual(f"({10**12},)")), "expected 8000000000080 bytes, as its header claims"),
    "beyond 64 bits": (npy(usual(f"({2**62}, {2**62})")), "a shape that an array can have"),
    "empty beyond 64 bits": (npy(usual(f"(0, {2**62}, {2**62})")), "a shape that an array can"),
    "negative": (npy(usual("(-1,)"), bytes(24)), "a shape without negative lengths"),
    "true": (npy(usual("(True,)"), bytes(24)), "a shape of integers"),
    "float": (npy(usual("(3.0,)"), bytes(24)), "a shape of integers"),
    "no tuple": (npy(usual("(3)"), bytes(24)), "a shape of integers"),
    "list": (npy(usual("[3]"), bytes(24)), "a shape of integers"),
    "99 dimensions": (npy(usual(str((1,) * 99))), "dimensions"),
    "order": (npy(usual("(3,)", order="0"), bytes(24)), "fortran_order True or False"),
    "objects": (npy(usual("(3,)", "'|O'"), b"\x80\x04."), "found object dtype"),
    "object inside": (npy(usual("(3,)", "[('a', '<f8'), ('b', '|O')]"), bytes(48)), "object dtype"),
    "unknown dtype": (npy(usual("(3,)", "'<z8'"), bytes(24)), "expected a dtype"),
    "dtype of 9 bytes": (npy(usual("(3,)", "'<f9'"), bytes(27)), "expected a dtype"),
    "dtype of a number": (npy(usual("(3,)", "8"), bytes(24)), "expected a dtype"),
    "huge dtype": (npy(usual("(3,)", "'<U999999999'")), "expected a dtype"),
    "deep dtype": (
        npy(usual("(3,)", "[('a', " * 90 + "'<f8'" + ")]" * 90)),
        "as its header claims",
    ),
    "dtype without bytes": (
        npy(usual("(999999999999,)", "'<U0'")),
        "a dtype whose items have bytes",
    ),
    "dtype with dimensions": (
        npy(usual("(3,)", "('<f8', (2,))"), bytes(48)),
        "a dtype without dim",
    ),
    "truncated": (npy(usual("(3,)"), bytes(23)), "The file is truncated"),
}


def hostile_directory(path: Path, raw: bytes) -> Path:
    path.mkdir(exist_ok=True)
    (path / "v.npy").write_bytes(raw)
    (path / "manifest.json").write_text(
        '{"variables": {"v": {"file": "v.npy", "description": "", "axes": ["t"]}},'
        ' "axes": {"t": {"size": 3, "description": ""}}}'
    )
    return path


@pytest.mark.parametrize(("raw", "words"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_file_is_one_error_and_costs_nothing(
    tmp_path: Path, raw: bytes, words: str
) -> None:
    path = hostile_directory(tmp_path, raw)
    inspect_context_data(path)
    start = time.process_time()
    tracemalloc.start()

    report = inspect_context_data(path)
    with pytest.raises(ContextManifestError):
        load_context_data(path)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (error,) = report["errors"]
    assert error.startswith("v.npy: variables.v: expected ")
    assert words in error
    # A reader that believed the header would need gigabytes, or fail with MemoryError.
    assert peak < 4_000_000
    assert time.process_time() - start < 1.0


SOUND = {
    "as numpy writes": npy(usual("(3,)"), bytes(24)),
    "version 2": npy(usual("(3,)"), bytes(24), (2, 0)),
    "version 3": npy(usual("(3,)"), bytes(24), (3, 0)),
    "other order of keys": npy("{'shape': (3,), 'descr': '<f8', 'fortran_order': True}", bytes(24)),
    "Python 2": npy(usual("(3L,)"), bytes(24)),
    "no line end": npy(usual("(3,)").strip(), bytes(24)),
    "long header": npy(usual("(3,)").strip().ljust(9_000) + "\n", bytes(24)),
    "fields": npy(usual("(3,)", "[('a', '<f4'), ('b', '<f4')]"), bytes(24)),
    "native": npy(usual("(3,)", "'f8'"), bytes(24)),
}


@pytest.mark.filterwarnings("ignore:Reading `.npy`")  # numpy on headers of Python 2
@pytest.mark.parametrize("raw", SOUND.values(), ids=list(SOUND))
@pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])
def test_odd_headers_that_numpy_reads_are_read_alike(
    tmp_path: Path, raw: bytes, mmap: bool
) -> None:
    path = hostile_directory(tmp_path, raw[:-8] + b"\1" * 8)

    array = load_context_data(path, mmap=mmap)["data"]["v"]

    expected = np.load(path / "v.npy", allow_pickle=False)
    assert (array.dtype, array.shape, array.flags.writeable) == (expected.dtype, (3,), True)
    assert array.flags.aligned or mmap
    np.testing.assert_array_equal(array, expected)


def test_a_file_with_the_header_of_its_neighbour_and_less_data_is_truncated(network: Any) -> None:
    network.add("heavy", np.ones(4), ["node"])
    path = network.write()
    (path / "heavy.npy").write_bytes((path / "mass.npy").read_bytes()[:-1])

    (error,) = inspect_context_data(path)["errors"]

    assert "heavy.npy: variables.heavy: expected 160 bytes, as its header claims" in error


@given(st.binary(max_size=300))
def test_no_header_raises_anything_else(tail: bytes) -> None:
    for start in (b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00\x40\x00\x00\x00"):
        with suppress(NpyFault):
            Headers().parse((start + tail)[:MOST])


USUAL = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
PIECES = st.sampled_from(
    [
        *"{}()[],:'#*L\\\n",
        "'descr'",
        "'shape'",
        "'fortran_order'",
        "True",
        "None",
        "3",
        "-1",
        "1e5",
        "0x10",
        "b'a'",
        "9" * 30,
        "'<f8'",
        "'|O'",
        "'<U3'",
        "M8[ns]",
        "'V0'",
        USUAL,
        USUAL[:-9],
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_header_that_is_read_is_read_as_numpy_does(header: str) -> None:
    raw = npy(header)
    try:
        ours = Headers().parse(raw)
    except NpyFault:
        return
    version = np.lib.format.read_magic(stream := io.BytesIO(raw))
    assert version == (1, 0)
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)

    assert (ours.shape, ours.order == "F", ours.dtype) == (shape, fortran_order, dtype)


DESCRIPTIONS = st.recursive(
    st.one_of(st.text(max_size=8), st.integers(-9, 9), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=12,
)


@settings(max_examples=300)
@given(DESCRIPTIONS)
def test_no_dtype_raises_anything_else(descr: Any) -> None:
    with suppress(NpyFault):
        Headers().parse(npy(usual("(3,)", repr(descr)).encode("utf-8"), bytes(99), (3, 0)))
