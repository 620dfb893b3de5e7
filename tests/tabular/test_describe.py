"""Descriptions of tables, against pandas and against counts made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness import Input, Table
from sciharness.errors import DataError
from sciharness_tabular.description.pairs import pearson, ranks, spearman
from sciharness_tabular.hashing import row_hashes
from sciharness_tabular.plugin import harness_capabilities

Describe = Callable[..., Any]
Labelled = Callable[..., Input]
Waves = Callable[..., dict[str, Any]]

MIXED = """sample_id;reading [V];count;grade;note
a;1,5;3;good;
b;2,5;3;"bad; very";x
c;;3;good;
d;4,5;3; good ;
e;1,5;3;good;
f;2,5;3;good;
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Input:
    """A table without a target: decimal commas, quotes, gaps, blanks, a repeated row."""
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED, "utf-8")
    return Input("data", path, "DATASET", "table", read_dialect(path))


def read_dialect(path: Path, role: str = "table", **fields: Any) -> Table:
    """Return the record that the kernel makes of a file."""
    from sciharness.contract.records import ContractInput
    from sciharness.tables import check_table

    checked = check_table(path, ContractInput("data", path.name, role, **fields))
    assert not checked.problems
    assert checked.table is not None
    return checked.table


def column(ran: Any, name: str) -> Any:
    return next(one for one in ran.json("description.json")["columns"] if one["name"] == name)


def test_a_table_as_scientists_have_it_is_told_column_by_column(
    run_describe: Describe, mixed: Input
) -> None:
    ran = run_describe(mixed)

    reading, grade = column(ran, "reading [V]"), column(ran, "grade")
    assert (reading["kind"], reading["unit"], reading["missing"]) == ("real", "V", 1)
    assert (reading["min"], reading["max"], reading["quantiles"]["0.5"]) == (1.5, 4.5, 2.5)
    assert grade["values"] == [{"value": "good", "count": 5}, {"value": "bad; very", "count": 1}]
    assert column(ran, "count")["kind"] == "integer"
    assert ran.outcome.metrics == {
        "rows": 6.0, "columns": 4.0, "number_columns": 2.0, "text_columns": 2.0,
        "duplicates": 1.0, "missing_cells": 6.0, "constant_columns": 2.0,
        "near_constant_columns": 0.0, "strong_pairs": 0.0,
    }  # fmt: skip


def test_what_is_reported_and_written_was_declared(run_describe: Describe, mixed: Input) -> None:
    ran = run_describe(mixed)

    (capability,) = (one for one in harness_capabilities() if one.operation == "describe")
    assert set(ran.files) == {output.name for output in capability.outputs}
    assert set(ran.outcome.metrics) <= set(capability.metrics)
    assert capability.group == "analysis"


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["full", "with-gaps"])
def test_correlations_are_those_of_pandas(gaps: float) -> None:
    draw = np.random.default_rng(0)
    values = draw.normal(size=(200, 5)) @ draw.normal(size=(5, 5)) * [1, 1e-200, 1e200, 1, 1]
    values[:, 3] = np.round(values[:, 3])
    values[draw.uniform(size=values.shape) < gaps] = np.nan
    frame = pd.DataFrame(values / [1, 1e-200, 1e200, 1, 1])

    linear, ranked = pearson(values), spearman(values)

    # pandas ranks each pair anew where cells are missing; here a column has one ranking.
    assert linear == pytest.approx(frame.corr().to_numpy(), abs=1e-10)
    near = 1e-10 if gaps == 0 else 0.05
    assert ranked == pytest.approx(frame.corr("spearman").to_numpy(), abs=near)


def test_equal_values_share_their_mean_rank() -> None:
    found = ranks(np.array([5.0, 1.0, np.nan, 5.0, 7.0, 5.0]))

    assert found[[0, 1, 3, 4, 5]].tolist() == [3.0, 1.0, 3.0, 5.0, 3.0]
    assert np.isnan(found[2])


def test_a_constant_column_has_no_correlation(run_describe: Describe, labelled: Labelled) -> None:
    data = labelled({"c": [0.1] * 30, "x": range(30), "y": range(30)})

    ran = run_describe(data)

    matrix = ran.json("description.json")["correlations"]
    assert matrix["columns"] == ["c", "x", "y"]
    assert matrix["pearson"][0] == [None, None, None]
    assert ran.json("description.json")["pairs"] == [
        {"first": "x", "second": "y", "pearson": pytest.approx(1.0), "spearman": pytest.approx(1.0)}
    ]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=60))
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_hashes_are_equal_exactly_where_rows_are(cells: list[tuple[int, int]]) -> None:
    hashes = row_hashes(np.array(cells, dtype=np.float64))

    assert len(set(hashes.tolist())) == len(set(cells))


def test_rows_that_contradict_each_other_are_counted(
    run_describe: Describe, labelled: Labelled
) -> None:
    data = labelled({"x": [1, 1, 2, 2, 3, 3, 3], "y": [5, 6, 7, 7, 8, 8, 9]})

    ran = run_describe(data)

    # both rows of x = 1, all three of x = 3; 2 repeats itself, so does 3 with 8.
    assert ran.json("description.json")["conflicting_rows"] == 5
    assert ran.outcome.metrics["duplicates"] == 2.0


def test_a_nearly_constant_column_is_named(run_describe: Describe, labelled: Labelled) -> None:
    data = labelled({"flag": [0] * 199 + [1], "x": range(200), "y": range(200)})

    ran = run_describe(data)

    assert ran.json("description.json")["near_constant"] == ["flag"]
    assert ran.outcome.metrics["near_constant_columns"] == 1.0
    assert "nearly constant: 'flag'" in ran.outcome.notes


def test_the_balance_of_text_classes_is_told(run_describe: Describe, labelled: Labelled) -> None:
    data = labelled({"x": range(8), "kind": ["a"] * 6 + ["b|c"] * 2}, task="classification")

    ran = run_describe(data)

    assert ran.json("description.json")["target"]["classes"] == [
        {"class": "a", "count": 6, "share": 0.75}, {"class": "b|c", "count": 2, "share": 0.25},
    ]  # fmt: skip
    assert ran.outcome.metrics["smallest_class_share"] == 0.25
    assert "| b\\|c | 2 | 25 % |" in (ran.folder / "description.md").read_text("utf-8")


def test_features_are_ranked_by_how_they_go_with_the_target(
    run_describe: Describe, labelled: Labelled
) -> None:
    x = np.linspace(0, 3, 50)
    noise = np.random.default_rng(1).normal(size=50)
    data = labelled({"noise": noise, "x": x, "w": [1] * 50, "y": np.exp(3 * x)}, weights="w")

    target = run_describe(data).json("description.json")["target"]

    assert [one["feature"] for one in target["correlations"]] == ["x", "noise"]
    assert target["correlations"][0]["spearman"] == pytest.approx(1.0)
    assert target["correlations"][0]["pearson"] < 0.9


def test_gaps_that_a_training_drops_are_still_told(run_describe: Describe, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,y\n1,1\n,2\nNA,3\n4,4\n5,5\n6,6\n", "utf-8")
    table = read_dialect(path, "labelled_table", missing="drop")

    ran = run_describe(Input("data", path, "DATASET", "labelled_table", table))

    assert column(ran, "a")["missing"] == 2
    assert ran.outcome.metrics["rows"] == 6.0


def test_parquet_is_read_as_the_same_table_in_text(
    run_describe: Describe, mixed: Input, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(mixed.path, sep=";", decimal=",", skipinitialspace=True)
    frame["grade"] = frame["grade"].str.strip()
    frame.to_parquet(tmp_path / "mixed.parquet")
    path = tmp_path / "mixed.parquet"

    text = run_describe(mixed, name="text")
    packed = run_describe(
        Input("data", path, "DATASET", "table", read_dialect(path)), name="packed"
    )

    assert packed.files == text.files


def test_a_table_of_texts_alone_is_described(run_describe: Describe, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("first,second\na,b\na,c\n", "utf-8")

    ran = run_describe(Input("data", path, "DATASET", "table"))

    assert ran.outcome.metrics["text_columns"] == 2.0
    assert ran.json("description.json")["correlations"] is None


def test_names_and_texts_cannot_write_markup(run_describe: Describe, tmp_path: Path) -> None:
    path = tmp_path / "evil.csv"
    path.write_text('"a|b<img src=x>",t\n1,[x](javascript:y)\n2,`z`\n3,#\n', "utf-8")

    page = (
        run_describe(Input("data", path, "DATASET", "table")).folder / "description.md"
    ).read_text("utf-8")

    row = next(line for line in page.splitlines() if "img" in line)
    assert row.startswith("| a\\|b\\<img src=x\\> |")
    assert "[x](javascript" not in page


def test_equal_seeds_give_equal_bytes_and_ranks_come_from_a_sample(
    run_describe: Describe, labelled: Labelled, waves: Waves
) -> None:
    data = labelled(waves(500))

    one, same, other = (
        run_describe(data, name=f"run-{number}", seed=seed, rank_rows=100)
        for number, seed in enumerate((0, 0, 1))
    )

    assert one.files == same.files
    first, second = (ran.json("description.json")["correlations"] for ran in (one, other))
    assert first["pearson"] == second["pearson"]
    assert first["spearman"] != second["spearman"]


def test_a_file_that_is_no_table_is_refused(run_describe: Describe, tmp_path: Path) -> None:
    path = tmp_path / "image.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))

    with pytest.raises(DataError):
        run_describe(Input("data", path, "DATASET", "table"))


@pytest.mark.slow
def test_two_million_rows_are_described_in_a_few_gigabytes_at_most(
    run_describe: Describe, tmp_path: Path
) -> None:
    import resource

    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(2_000_000, 6)).round(4), columns=list("abcdef"))
    frame["kind"] = np.array(["red", "green", "blue"])[draw.integers(0, 3, len(frame))]
    frame.to_csv(tmp_path / "large.csv", index=False)

    ran = run_describe(Input("data", tmp_path / "large.csv", "DATASET", "table"))

    assert ran.outcome.metrics["rows"] == 2e6
    assert column(ran, "kind")["distinct"] == 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3_000_000  # kilobytes
