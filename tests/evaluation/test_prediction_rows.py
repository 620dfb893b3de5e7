"""Predictions that are not exactly the rows asked for fail; nothing is dropped or filled in."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_evaluation.columns import read_columns

Judge = Callable[..., Any]

LABELS = "sample_id,target\na,1.0\nb,2.0\nc,4.0\n"
HEAD = "sample_id,prediction\n"


def test_matching_rows_are_judged(judge_texts: Judge) -> None:
    judged = judge_texts(HEAD + "a,1.0\nb,2.0\nc,3.0\n", LABELS)

    assert judged.outcome.metrics["mae"] == pytest.approx(1 / 3)
    assert judged.record["rows"] == 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,1\nb,2\n", r"1 missing \('c'\)"),
        ("a,1\nb,2\nc,3\nd,4\n", r"1 not asked for or repeated \('d'\)"),
        ("a,1\nb,2\nb,2\nc,3\n", r"1 not asked for or repeated \('b'\)"),
        ("b,2\na,1\nc,3\n", "the same rows in another order"),
        ("a,1\nb,2\nx,3\n", r"1 missing \('c'\); 1 not asked for or repeated \('x'\)"),
        (
            "a,1\nb,\nc,3\n",
            r"1 of 3 cells of 'prediction' .* '' in data row 2",
        ),
        ("a,1\nb,two\nc,3\n", "'two' in data row 2"),
        ("a,1\nb,nan\nc,inf\n", "2 of 3 cells"),
        ("a,1\nb,1e999\nc,3\n", "'1e999' in data row 2"),
        ("a,1\nb,1_000\nc,3\n", "'1_000' in data row 2"),
        ("a,1\nb, 2\nc,3\n", "' 2' in data row 2"),
        ("a,1\nb,2-3\nc,3\n", "'2-3' in data row 2"),
        ("a,1\nb,\u0661\nc,3\n", "in data row 2"),
        ("a,1\nb,2,9\nc,3\n", "data row 2 has not the 2 cells"),
        ("a,1\nb\nc,3\n", "data row 2 has not the 2 cells"),
        ("a,1\n\nb,2\nc,3\n", "data row 2 has not the 2 cells"),
        ('a,1\n"b,2\nc,3\n', "strict CSV"),
        ("", "at least one row"),
    ],
)
def test_other_rows_fail_the_evaluation(judge_texts: Judge, rows: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        judge_texts(HEAD + rows, LABELS)


@pytest.mark.parametrize(
    "predictions",
    [
        b"",
        b"\n",
        b"sample_id,value\na,1\nb,2\nc,3\n",
        b"prediction\n1\n2\n3\n",
        b"\x00\xff,\n1,2\n",
    ],
    ids=["empty", "blank", "no prediction", "no sample_id", "binary"],
)
def test_a_file_without_the_columns_fails_the_evaluation(
    judge_texts: Judge, predictions: bytes
) -> None:
    with pytest.raises(DataError):
        judge_texts(predictions, LABELS)


def test_messages_do_not_tell_labels(judge_texts: Judge) -> None:
    with pytest.raises(DataError) as refused:
        judge_texts(HEAD + "a,1\nb,2\n", "sample_id,target\na,1\nb,secret-73\n")

    assert "labels" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_quoted_sample_ids_match_plain_ones(judge_texts: Judge) -> None:
    judged = judge_texts(HEAD + '"a",1\n"b",2\n"c",4\n', LABELS)

    assert judged.outcome.metrics["rmse"] == 0.0


cells = st.text(st.sampled_from('ab,"\n 1.é'), max_size=4)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_columns_read_back_as_written(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("one", "two"), *rows])

    read = read_columns(path, "table")

    columns = [[cell.decode() for cell in read.column(name)] for name in ("one", "two")]
    assert columns == [list(column) for column in zip(*rows, strict=True)]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=40) | st.text(st.sampled_from('a1,"\n'), max_size=12).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "bytes.csv"
    path.write_bytes(raw)

    try:
        read = read_columns(path, "bytes")
    except DataError:
        return

    assert {len(cells) for cells in read.cells.values()} == {read.rows}
