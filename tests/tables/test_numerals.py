from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sciharness.tables.blocks import Block, block_of_rows
from sciharness.tables.numerals import parse, to_float
from sciharness.tables.records import Dialect

NEAR_NUMBERS = st.text(st.sampled_from("0123456789" * 2 + ".,eE+- \t"), max_size=9)
ODD = st.text(st.sampled_from("01.eE+-nNaAiIfFxX_'\u00a0\uff11\v\f\x1c "), max_size=7)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(repr)
LONG = st.from_regex(r"\A[+-]?[0-9]{1,40}\.[0-9]{0,40}(e[+-]?[0-9]{1,4})?\Z")


def block(cells: list[str], dialect: Dialect) -> Block:
    rows = "".join(f"0{dialect.delimiter}{cell}\n" for cell in cells)
    return block_of_rows(rows.encode(), dialect)


def quickly_and_slowly(
    cells: list[str], delimiter: str, decimal: str, *, gaps: bool
) -> tuple[list[float], list[float]]:
    dialect = Dialect(("a", "b"), 0, delimiter, decimal)
    quick = parse(block(cells, dialect), [1], dialect, fast=True, gaps=gaps)
    slow = parse(block(cells, dialect), [1], dialect, fast=False, gaps=gaps)
    return quick[:, 0].tolist(), slow[:, 0].tolist()


@pytest.mark.parametrize("gaps", [False, True], ids=["refuse", "drop"])
@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
@given(text=st.one_of(NEAR_NUMBERS, ODD, FLOATS, LONG))
@example(text="1e 5")
@example(text="1E\t\t2")
@example(text="infinity")
@example(text="-nan")
@example(text="1e400")
@example(text="0e99999999999999999999")
@example(text="")
@settings(max_examples=150, deadline=None)
def test_both_ways_of_reading_agree_on_every_text(
    text: str, delimiter: str, decimal: str, gaps: bool
) -> None:
    cell = text.replace(delimiter, "").replace("\v", "").replace("\f", "")

    # As in a table, one odd field is among others that are plain.
    quick, slow = quickly_and_slowly(["1", cell, "2"], delimiter, decimal, gaps=gaps)

    assert np.array_equal(quick, slow, equal_nan=True)


@given(st.lists(st.one_of(FLOATS, LONG), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_numbers_are_rounded_as_python_rounds_them(texts: list[str]) -> None:
    wanted = [float(text) for text in texts]
    wanted = [value if math.isfinite(value) else math.nan for value in wanted]

    quick, slow = quickly_and_slowly(texts, ",", ".", gaps=False)

    assert np.array_equal(quick, wanted, equal_nan=True)
    assert np.array_equal(slow, wanted, equal_nan=True)


@given(st.text(st.sampled_from("0123456789.eE+-"), max_size=9).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_of_plain_characters_a_number_is_what_python_takes(cell: bytes) -> None:
    try:
        wanted = float(cell)
    except ValueError:
        wanted = math.nan

    value = to_float(cell, ".")

    assert value == wanted or (math.isnan(value) and not math.isfinite(wanted))


@pytest.mark.parametrize(
    "cell", [b"1_000", b"nan", b"inf", b"0x10", b" 1", b"1,5", "\uff11".encode()]
)
def test_more_that_python_takes_is_no_number(cell: bytes) -> None:
    assert math.isnan(to_float(cell, "."))


def test_importing_the_table_reader_loads_no_scientific_library() -> None:
    import subprocess
    import sys

    import sciharness.tables

    folder = Path(sciharness.tables.__file__).parent
    modules = [f"sciharness.tables.{path.stem}" for path in folder.glob("*.py")]
    program = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        "print(sorted({'numpy', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
