from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.contract.records import Holdout
from sciharness.errors import DataError
from sciharness.plugin import Input
from sciharness.tables import CheckedTable, Prepared, read_table

Check = Callable[..., CheckedTable]
Prepare = Callable[..., Prepared]
Store = Callable[..., Path]


@pytest.fixture
def stored(tmp_path: Path) -> Store:
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")

    def write(columns: dict[str, Any], name: str = "data.parquet") -> Path:
        parquet.write_table(arrow.table(columns), tmp_path / name)
        return tmp_path / name

    return write


X = [0.1 + i / 3 for i in range(30)]
Y = [1e-9 * i * i - 2.5 for i in range(30)]


def test_a_parquet_table_is_split_into_strict_csv(stored: Store, prepare: Prepare) -> None:
    source = stored({"x [m]": X, "n": list(range(30)), "note": ["a, b"] * 30, "y": Y})

    prepared = prepare(source, Holdout(mode="order"), ignore=["note"])

    assert prepared.train is not None
    assert prepared.final_inputs is not None
    assert prepared.labels is not None
    assert prepared.train.name == "train.csv"
    assert prepared.train.read_text() == "x [m],n,note,y\n" + "".join(
        f'{X[i]!r},{i},"a, b",{Y[i]!r}\n' for i in range(24)
    )
    assert prepared.labels.read_text() == "sample_id,y\n" + "".join(
        f"{i - 24},{Y[i]!r}\n" for i in range(24, 30)
    )
    assert prepared.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert prepared.size == source.stat().st_size


def test_its_parts_and_itself_are_read_as_arrays(stored: Store, prepare: Prepare) -> None:
    source = stored({"x": X, "y": Y})

    prepared = prepare(source, Holdout(mode="order"))

    assert prepared.train is not None
    whole = read_table(Input("data", source, "DATASET", "labelled_table"))
    part = read_table(Input("data", prepared.train, "DATASET", "labelled_table", prepared.table))
    assert whole.y is not None
    assert part.y is not None
    assert (np.array(X) == whole.X[:, 0]).all()
    assert (np.array(Y) == whole.y).all()
    assert (np.array(Y[:24]) == part.y).all()


def test_single_precision_keeps_its_exact_value(stored: Store) -> None:
    values = np.array([0.1 * i for i in range(30)], dtype=np.float32)

    arrays = read_table(Input("data", stored({"x": values, "y": Y}), "DATASET", "labelled_table"))

    assert (values.astype(np.float64) == arrays.X[:, 0]).all()


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_faults_are_placed_by_data_row(stored: Store, check: Check, value: float | None) -> None:
    values: list[float | None] = [*X]
    values[6] = value

    (problem,) = check(stored({"x": values, "y": Y})).problems

    assert problem.line is None
    assert problem.path == 'data row 7, column "x"'


def test_a_missing_value_may_be_dropped(stored: Store, prepare: Prepare) -> None:
    values: list[float | None] = [*X]
    values[6] = None

    prepared = prepare(stored({"x": values, "y": Y}), missing="drop")

    assert prepared.rows_dropped == 1


def test_truths_and_dates_are_text(stored: Store, check: Check) -> None:
    import datetime

    days = [datetime.date(2024, 1, 1 + i) for i in range(30)]
    source = stored({"on": [True, False] * 15, "day": days, "x": X, "y": Y})

    checked = check(source)

    assert [problem.path for problem in checked.problems] == [
        'data row 1, column "on"',
        'data row 1, column "day"',
    ]
    assert check(source, ignore=["on", "day"]).problems == ()


def test_a_damaged_parquet_file_is_refused(stored: Store, check: Check) -> None:
    source = stored({"x": X, "y": Y})
    content = source.read_bytes()

    refused = [check(source)]
    for damage in (content[:200], content[:4] + bytes(100) + content[104:], b"PAR1" + b"x" * 50):
        source.write_bytes(damage)
        refused.append(check(source))

    assert [bool(checked.problems) for checked in refused] == [False, True, True, True]


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "data.parquet"
    source.write_bytes(b"PAR1 and more")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(DataError, match=r"pip install \"sciharness\[parquet\]\""):
        prepare(source)
