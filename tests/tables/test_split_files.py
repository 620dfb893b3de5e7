from __future__ import annotations

import csv
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.tables import Prepared, prepare_labelled

Write = Callable[..., Path]
Prepare = Callable[..., Prepared]


def plain(rows: int, start: int = 0) -> str:
    lines = [f"{i},{i * i % 17}.5,{i}e-1\n" for i in range(start, start + rows)]
    return "a,b,y\n" + "".join(lines)


def records(path: Path | None) -> list[list[str]]:
    assert path is not None
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_train_holds_byte_slices_and_final_files_the_rest(table: Write, prepare: Prepare) -> None:
    source = table("a ; b;y\r\n" + "".join(f" {i},5;+{i}; {i}E0\r\n" for i in range(30)))

    prepared = prepare(source)

    lines = source.read_bytes().splitlines(keepends=True)
    assert prepared.train is not None
    train = prepared.train.read_bytes().splitlines(keepends=True)
    inputs, labels = records(prepared.final_inputs), records(prepared.labels)
    final = [line for line in lines if line not in train]
    assert train[0] == lines[0]
    assert train == [line for line in lines if line in train]
    assert len(final) == prepared.rows_final == 6
    numbers = [int(line.split(b",")[0]) for line in final]
    assert inputs == [["sample_id", "a", "b"]] + [
        [str(row), f"{number}.5", f"+{number}"] for row, number in enumerate(numbers)
    ]
    assert labels == [["sample_id", "y"]] + [
        [str(row), f"{number}E0"] for row, number in enumerate(numbers)
    ]


def test_no_final_label_is_in_a_visible_file(table: Write, prepare: Prepare) -> None:
    source = table("a,y,b\n" + "".join(f"{i},{7919 * (i + 1)},{i}\n" for i in range(50)))

    prepared = prepare(source, Holdout(verification=0.2), target="y")

    labels = [row[1] for row in records(prepared.labels)[1:]]
    assert len(labels) == 10
    assert prepared.train is not None
    assert prepared.verification is not None
    assert prepared.final_inputs is not None
    visible = b"".join(
        path.read_bytes() for path in (prepared.train, prepared.verification, prepared.final_inputs)
    )
    assert not [label for label in labels if label.encode() in visible]


def test_labels_are_for_the_owner_only(table: Write, prepare: Prepare) -> None:
    prepared = prepare(table(plain(30)))

    assert prepared.labels is not None
    assert stat.S_IMODE(os.stat(prepared.labels).st_mode) == 0o600


def test_sample_ids_go_along_wherever_their_column_is(table: Write, prepare: Prepare) -> None:
    rows = "".join(f'{i};"p ""{i}"", x";{2 * i}\n' for i in range(25))
    source = table("a;sample_id;y\n" + rows)

    prepared = prepare(source)

    inputs, labels = records(prepared.final_inputs), records(prepared.labels)
    assert [row[0] for row in inputs] == [row[0] for row in labels]
    assert all(row[0] == f'p "{row[1]}", x' for row in inputs[1:])
    assert prepared.target == "y"
    assert prepared.table.features == ("a",)


def test_columns_of_final_inputs_are_in_the_order_of_the_features(
    table: Write, prepare: Prepare
) -> None:
    source = table("a,y,b,c\n" + "".join(f"{i},{i},1{i},2{i}\n" for i in range(30)))

    prepared = prepare(source, target="y", features=("c", "a", "b"))

    inputs = records(prepared.final_inputs)
    assert inputs[0] == ["sample_id", "c", "a", "b"]
    assert all(row[1:] == [f"2{row[2]}", row[2], f"1{row[2]}"] for row in inputs[1:])


def test_a_last_row_without_line_end_stays_as_it_is(table: Write, prepare: Prepare) -> None:
    source = table(plain(30).rstrip("\n"))

    prepared = prepare(source, Holdout(mode="none"))

    assert prepared.train is not None
    assert prepared.train.read_bytes() == source.read_bytes()


def test_blank_lines_at_the_end_are_no_rows(table: Write, prepare: Prepare) -> None:
    source = table(plain(30) + "\n\r\n\n")

    prepared = prepare(source, Holdout(mode="none"))

    assert prepared.train is not None
    assert prepared.rows_train == 30
    assert prepared.train.read_text() == plain(30)


def test_digest_and_size_are_those_of_the_source(table: Write, prepare: Prepare) -> None:
    import hashlib

    source = table("\ufeff" + plain(30) + "\n\n")

    prepared = prepare(source)

    assert prepared.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert prepared.size == source.stat().st_size


def test_rows_with_a_missing_feature_are_in_no_file(table: Write, prepare: Prepare) -> None:
    gaps = ["", " ", "NA", "n/a", "NaN", "null"]
    rows = [f"{i},{gaps[i // 5] if i % 5 == 0 else i},{i}\n" for i in range(30)]
    source = table("a,b,y\n" + "".join(rows))

    prepared = prepare(source, missing="drop")

    kept = {str(i) for i in range(30) if i % 5}
    shown = [row[0] for row in records(prepared.train)[1:]]
    sealed = [row[1] for row in records(prepared.final_inputs)[1:]]
    assert prepared.rows_dropped == 6
    assert prepared.rows_train + prepared.rows_final == 24
    assert set(shown) | set(sealed) == kept
    assert prepared.warnings == ("6 rows are left out: a feature is missing in them",)


def test_a_source_that_changes_between_the_passes_is_refused(
    table: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciharness.tables import prepare as preparing
    from sciharness.tables.slices import write_split

    source, out = table(plain(30)), tmp_path / "out"
    out.mkdir()

    def change_first(*arguments: object) -> object:
        source.write_text(plain(30).replace("8.5", "9.5"))
        return write_split(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(preparing, "write_split", change_first)

    with pytest.raises(DataError, match="changed while it was being read"):
        prepare_labelled(source, ContractInput("data", "data.csv"), Holdout(), out)

    assert list(out.iterdir()) == []


def test_files_do_not_depend_on_how_much_is_read_at_once(
    table: Write, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(plain(400).rstrip("\n"))
    usual = prepare(source)
    monkeypatch.setattr("sciharness.tables.again.BLOCK_BYTES", 100)

    piecewise = prepare(source)

    for name in ("train", "final_inputs", "labels"):
        assert getattr(usual, name).read_bytes() == getattr(piecewise, name).read_bytes()


def test_facts_tell_of_the_target_what_visible_rows_tell(table: Write, prepare: Prepare) -> None:
    import numpy as np

    prepared = prepare(table(plain(40, start=3)))

    visible = np.array([float(row[2]) for row in records(prepared.train)[1:]])
    facts = prepared.facts
    metrics = facts["baseline"]["metrics"]
    rmse = float(np.sqrt(np.mean((visible - visible.mean()) ** 2)))
    # A few roundings of numbers near 1: 1e-14 is generous.
    assert facts["train_mean"] == pytest.approx(visible.mean(), rel=1e-14)
    assert metrics["rmse"] == pytest.approx(rmse, rel=1e-14)
    assert metrics["relative_rmse"] == pytest.approx(
        rmse / float(np.sqrt(np.mean(visible**2))), rel=1e-14
    )
    assert metrics["r2"] == 0
    assert metrics["nrmse_std"] == 1


def test_the_majority_class_is_the_baseline_of_classes(table: Write, prepare: Prepare) -> None:
    rows = "".join(f"{i},{'lost' if i % 4 == 0 else 'kept'}\n" for i in range(100))

    prepared = prepare(table("x,fate\n" + rows), task="classification")

    assert prepared.table.classes == ("kept", "lost")
    assert prepared.facts["majority_class"] == "kept"
    assert prepared.facts["class_counts"] == {"kept": 60, "lost": 20}
    assert prepared.facts["baseline"]["metrics"] == {
        "accuracy": 0.75,
        "balanced_accuracy": 0.5,
        "auc": 0.5,
        "brier": 0.75 * 0.25,
    }
