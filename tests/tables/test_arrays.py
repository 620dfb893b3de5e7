from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.plugin import Input, Table
from sciharness.tables import (
    CheckedTable,
    Prepared,
    prepare_final,
    prepare_inputs,
    read_table,
    split_labels,
)

Write = Callable[..., Path]
Check = Callable[..., CheckedTable]
Prepare = Callable[..., Prepared]


def test_all_parts_of_a_table_come_as_arrays(table: Write, prepare: Prepare) -> None:
    rows = "".join(f"n{i},{i},{i % 3 + 1},{i / 8},{'pq'[i % 2]},{i * i}\n" for i in range(30))
    source = table("sample_id,x [m],w,s,site,y\n" + rows)
    prepared = prepare(
        source,
        Holdout(mode="group", group="site"),
        weights="w",
        ignore=["s"],
        units={"y": "Pa"},
    )
    assert prepared.train is not None

    arrays = read_table(Input("data", prepared.train, "DATASET", "labelled_table", prepared.table))

    assert arrays.features == ("x [m]",)
    assert arrays.X.dtype == np.float64
    assert arrays.X.shape == (15, 1)
    assert arrays.weights is not None
    assert arrays.sample_id is not None
    assert arrays.y is not None
    assert (arrays.weights == arrays.X[:, 0] % 3 + 1).all()
    assert (arrays.y == arrays.X[:, 0] ** 2).all()
    assert arrays.sample_id.tolist() == [f"n{int(x)}" for x in arrays.X[:, 0]]
    assert arrays.units == {"x [m]": "m", "y": "Pa"}
    assert arrays.sigma is None


def test_groups_and_errors_of_the_target_come_along(table: Write) -> None:
    rows = "".join(f"{i},{i + 0.5},{'pqr'[i % 3]},{i * i}\n" for i in range(9))
    record = Table(target="y", features=("x",), sigma="s", group="site")

    arrays = read_table(
        Input("data", table("x,s,site,y\n" + rows), "DATASET", "labelled_table", record)
    )

    assert arrays.sigma is not None
    assert arrays.group is not None
    assert (arrays.sigma == arrays.X[:, 0] + 0.5).all()
    assert arrays.group.tolist() == [0, 1, 2] * 3


def test_classes_are_numbered_as_in_the_record(table: Write) -> None:
    rows = "".join(f"{i},{'abz'[i % 3]}\n" for i in range(9))
    record = Table(target="y", features=("x",), task="classification", classes=("z", "b"))

    arrays = read_table(Input("data", table("x,y\n" + rows), "DATASET", "labelled_table", record))

    assert arrays.classes == ("z", "b", "a")
    assert arrays.y is not None
    assert arrays.y.tolist() == [2, 1, 0] * 3


def test_a_large_table_is_read_as_a_small_one(table: Write, prepare: Prepare) -> None:
    # Beyond 4 MiB pandas parses the numbers; the same text is read in both ways.
    generator = np.random.default_rng(3)
    values = generator.normal(size=(60_000, 4)) * 10.0 ** generator.integers(-9, 9, (60_000, 4))
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    source = table("a,b,c,y\n" + "\n".join(lines) + "\n")
    assert source.stat().st_size > 4 << 20

    prepared = prepare(source)

    assert prepared.train is not None
    assert prepared.final_inputs is not None
    train = read_table(Input("data", prepared.train, "DATASET", "labelled_table", prepared.table))
    assert prepared.rows_final == 12_000
    assert train.y is not None
    known = {row[3]: row[:3] for row in values.tolist()}
    assert [known[y] for y in train.y.tolist()] == train.X.tolist()
    with prepared.final_inputs.open(newline="") as file:
        final = [[float(row[name]) for name in "abc"] for row in csv.DictReader(file)]
    assert sorted(final + train.X.tolist()) == sorted(values[:, :3].tolist())


def test_a_fault_in_a_large_table_is_found(table: Write, check: Check) -> None:
    lines = [f"{i}.123456789012345,{i}.5,text {i},{i * 7}" for i in range(150_000)]
    lines[123_456] = "1e 5,2.5,text,5"
    source = table("a,b,note,y\n" + "\n".join(lines) + "\n")
    assert source.stat().st_size > 4 << 20

    (problem,) = check(source, ignore=["note"]).problems

    assert (problem.line, problem.column, problem.found) == (123_458, 1, "'1e 5'")


def test_visible_rows_are_split_for_an_evaluator(
    table: Write, prepare: Prepare, tmp_path: Path
) -> None:
    prepared = prepare(table("a;b;y\n" + "".join(f"{i},5;{i};{i},25\n" for i in range(30))))
    assert prepared.train is not None

    inputs, labels = split_labels(
        Input("data", prepared.train, "DATASET", "labelled_table", prepared.table), tmp_path
    )

    first = prepared.train.read_text().splitlines()[1].split(";")
    assert inputs.read_text().splitlines()[:2] == [
        "sample_id,a,b",
        f"0,{first[0].replace(',', '.')},{first[1]}",
    ]
    assert labels.read_text().splitlines()[1] == f"0,{first[2].replace(',', '.')}"
    assert len(labels.read_text().splitlines()) == 25


def test_generated_final_data_is_split_from_its_target(table: Write, tmp_path: Path) -> None:
    source = table("x,px,survived\n" + "".join(f"{i},{-i},{i % 2}\n" for i in range(12)))
    spec = ContractInput("final", "final.csv", task="classification", target="survived")

    prepared = prepare_final(source, spec, tmp_path)

    assert prepared.final_inputs is not None
    assert prepared.labels is not None
    assert prepared.rows_final == 12
    assert prepared.final_inputs.read_text().splitlines()[:2] == ["sample_id,x,px", "0,0,0"]
    assert prepared.labels.read_text().splitlines()[:2] == ["sample_id,survived", "0,0"]
    assert prepared.facts == {"rows": 12, "rows_dropped": 0}


@pytest.mark.parametrize(
    ("rows", "message"),
    [("1,0\n2,1\n3,0\n4,1\n", "at least 5, found 4 rows"), ("1,0\n" * 6, "at least two classes")],
    ids=["too few", "one class"],
)
def test_generated_final_data_is_checked(
    table: Write, tmp_path: Path, rows: str, message: str
) -> None:
    spec = ContractInput("final", "final.csv", task="classification")

    with pytest.raises(DataError, match=message):
        prepare_final(table("x,lost\n" + rows), spec, tmp_path)


def test_a_table_to_predict_becomes_strict_input(table: Write, tmp_path: Path) -> None:
    source = table("\ufeffb;sample_id;a;note\r\n1,5;p;2;x\r\n2,5;q;.5e1;y\r\n".replace(".5e1", "3"))

    path = prepare_inputs(source, ["a", "b"], tmp_path)

    assert path.read_text() == "sample_id,a,b\np,2,1.5\nq,3,2.5\n"
    assert [item.name for item in tmp_path.glob("*") if item != source] == ["final_inputs.csv"]


def test_a_table_to_predict_has_to_have_the_columns(table: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'c'"):
        prepare_inputs(table("a,b\n1,2\n"), ["a", "c"], tmp_path)


def test_reading_what_does_not_fit_its_record_is_refused(table: Write) -> None:
    record = Table(target="y", features=("x",))

    with pytest.raises(DataError, match=r"data: target: expected a column of data, found 'y'"):
        read_table(Input("data", table("x,z\n1,2\n"), "DATASET", "labelled_table", record))
