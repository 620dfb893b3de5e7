"""Cells of a target as rows: which columns they have, and which of them are final."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.tables import Prepared, check_table, prepare_labelled


@pytest.fixture
def prepare(tmp_path: Path) -> Any:
    """Split a directory; the files of the split lie in a folder of their own."""

    def run(path: Path, holdout: Holdout | None = None, **fields: Any) -> Prepared:
        out = tmp_path / "split"
        out.mkdir()
        spec = ContractInput("data", path.name, "labelled_table", **fields)
        return prepare_labelled(path, spec, holdout or Holdout(), out)

    return run


def problems(path: Path, holdout: Holdout | None = None, **fields: Any) -> list[str]:
    spec = ContractInput("data", path.name, "labelled_table", **fields)
    return [str(problem) for problem in check_table(path, spec, holdout or Holdout()).problems]


def rows(path: Path | None) -> list[dict[str, str]]:
    assert path is not None
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def column(path: Path | None, name: str) -> list[float]:
    return [float(row[name]) for row in rows(path)]


def test_features_are_repeated_along_the_axes_of_the_target(cooling: Path, prepare: Any) -> None:
    made = prepare(cooling, Holdout(mode="none"), target="temperature")

    rate, temperature = (np.load(cooling / f"{name}.npy") for name in ("rate", "temperature"))
    assert list(rows(made.train)[0]) == ["time", "rate", "start", "temperature"]
    assert column(made.train, "rate") == np.tile(rate, 12).tolist()
    assert column(made.train, "time") == np.repeat(np.arange(12) * 0.5, 5).tolist()
    assert column(made.train, "temperature") == temperature.ravel().tolist()


def test_axes_are_told_apart_by_name_whatever_their_order(directory: Any, prepare: Any) -> None:
    square = np.arange(36.0).reshape(6, 6)
    variables = {"turned": (square, ["b", "a"]), "y": (square + 0.5, ["a", "b"])}
    path = directory(variables, {"a": 6, "b": 6})

    made = prepare(path, Holdout(mode="none"), target="y")

    assert column(made.train, "turned") == square.T.ravel().tolist()


def test_the_last_entries_of_the_first_axis_are_final(cooling: Path, prepare: Any) -> None:
    made = prepare(cooling, target="temperature", features=("time", "rate"))

    temperature = np.load(cooling / "temperature.npy")  # a fifth of 12 times: 2.4, so 2
    assert column(made.train, "temperature") == temperature[:10].ravel().tolist()
    assert column(made.labels, "temperature") == temperature[10:].ravel().tolist()
    assert list(rows(made.final_inputs)[0]) == ["sample_id", "time", "rate"]
    assert made.split == "the last 0.2 of the entries of axis 'time'"
    assert (made.rows_train, made.rows_final) == (50, 10)


@pytest.mark.parametrize("mode", ["fraction", "order"])
def test_at_least_one_entry_is_final(directory: Any, prepare: Any, mode: str) -> None:
    y = np.random.default_rng(2).normal(size=(2, 30))
    path = directory({"x": (y + 1, ["a", "b"]), "y": (y, ["a", "b"])}, {"a": 2, "b": 30})

    made = prepare(path, Holdout(mode=mode, fraction=0.2), target="y")

    assert (made.rows_train, made.rows_final) == (30, 30)


def test_verification_takes_the_entries_before_the_final_ones(cooling: Path, prepare: Any) -> None:
    holdout = Holdout(fraction=0.25, verification=0.25)

    made = prepare(cooling, holdout, target="temperature")

    assert set(column(made.verification, "time")) == {3.0, 3.5, 4.0}
    assert set(column(made.final_inputs, "time")) == {4.5, 5.0, 5.5}


@pytest.mark.parametrize("group", ["plate", "rate"], ids=["an axis", "a variable"])
def test_groups_stay_whole(cooling: Path, prepare: Any, group: str) -> None:
    holdout = Holdout(mode="group", group=group, fraction=0.4, seed=1)

    made = prepare(cooling, holdout, target="temperature", features=("time", "start"))

    final = set(column(made.final_inputs, "start"))
    assert len(final) == 2
    assert final.isdisjoint(column(made.train, "start"))
    assert made.rows_final == 24


TABLE_RULES = [
    Holdout(),
    Holdout(seed=7, fraction=0.3),
    Holdout(mode="order", fraction=0.25),
    Holdout(mode="group", group="batch", fraction=0.3, seed=2),
    Holdout(verification=0.2),
]


@pytest.mark.parametrize("holdout", TABLE_RULES, ids=lambda rule: f"{rule.mode} {rule.seed}")
def test_a_table_is_split_as_its_csv_is(
    directory: Any, prepare: Any, tmp_path: Path, holdout: Holdout
) -> None:
    draw = np.random.default_rng(3)
    day, batch, x = np.arange(40.0) * 1.5, np.arange(40) // 4, draw.normal(size=40)
    y = 2 * x + draw.normal(size=40)
    columns = {"batch": (batch, ["day"]), "x": (x, ["day"]), "y": (y, ["day"])}
    path = directory(columns, {"day": day})
    lines = ["day,batch,x,y", *(f"{a!r},{b},{c!r},{d!r}" for a, b, c, d in zip(
        day.tolist(), batch.tolist(), x.tolist(), y.tolist(), strict=True
    ))]  # fmt: skip
    source = tmp_path / "same.csv"
    source.write_text("\n".join(lines) + "\n")
    spec = ContractInput("data", "same.csv", "labelled_table", target="y")
    (tmp_path / "plain").mkdir()

    made = prepare(path, holdout, target="y")
    plain = prepare_labelled(source, spec, holdout, tmp_path / "plain")

    assert made.split == plain.split
    for view in ("train", "verification", "final_inputs", "labels"):
        mine, theirs = getattr(made, view), getattr(plain, view)
        assert (mine is None) == (theirs is None)
        for name in rows(mine)[0] if mine else ():
            assert column(mine, name) == column(theirs, name)


def test_a_table_without_a_named_target_ends_with_it(directory: Any, prepare: Any) -> None:
    draw = np.random.default_rng(4)
    variables = {name: (draw.normal(size=30), ["row"]) for name in ("b", "a", "z")}
    path = directory(variables, {"row": 30})

    made = prepare(path)

    assert (made.target, made.reason) == ("z", "the last variable of the manifest")
    assert list(rows(made.train)[0]) == ["b", "a", "z"]  # positions are no feature


def test_names_of_samples_go_with_the_rows(directory: Any, prepare: Any) -> None:
    draw = np.random.default_rng(5)
    names = [f"s{number:02}" for number in range(30)]
    variables = {"x": (draw.normal(size=30), ["sample_id"]), "y": (np.arange(30.0), ["sample_id"])}
    path = directory(variables, {"sample_id": names})

    made = prepare(path, target="y")

    assert {row["sample_id"] for row in rows(made.labels)} <= set(names)
    assert made.table.features == ("x",)


def test_classes_may_be_text(directory: Any, prepare: Any) -> None:
    draw = np.random.default_rng(6)
    kind = np.array(["odd", "even"] * 12).reshape(6, 4)
    variables = {"x": (draw.normal(size=(6, 4)), ["a", "b"]), "kind": (kind, ["a", "b"])}
    path = directory(variables, {"a": 6, "b": 4})

    made = prepare(path, Holdout(fraction=0.3), target="kind", task="classification")

    assert made.table.classes == ("even", "odd")
    assert {row["kind"] for row in rows(made.labels)} == {"even", "odd"}


def test_numbers_of_any_width_and_order_arrive(directory: Any, prepare: Any) -> None:
    values = np.linspace(0.1, 5.0, 20)
    variables = {
        "half": (values.astype("f2"), ["row"]),
        "single": (values.astype(">f4"), ["row"]),
        "turned": (np.asfortranarray(values[::-1]), ["row"]),
        "count": (np.arange(20, dtype="u1"), ["row"]),
        "flag": (values > 2, ["row"]),
        "y": (values, ["row"]),
    }
    path = directory(variables, {"row": 20})

    made = prepare(path, Holdout(mode="none"), target="y")

    for name in ("half", "single", "turned", "count", "flag"):
        assert column(made.train, name) == np.load(path / f"{name}.npy").astype(float).tolist()


def test_what_lies_along_another_axis_is_refused_by_name(cooling: Path) -> None:
    found = problems(cooling, target="rate", features=("temperature", "start"))

    assert found == [
        "cooling: features: expected only axes of the target: plate, "
        "found 'temperature', which lies along time, plate"
    ]


def test_all_wrong_names_are_told_at_once_with_the_nearest(cooling: Path) -> None:
    found = problems(
        cooling,
        Holdout(mode="group", group="plates"),
        target="temperature",
        features=("tme", "rate"),
        sigma="strat",
        ignore=("airs",),
        units={"rates": "K/s"},
    )

    hints = ("`plate`", "`time`", "`start`", "`air`", "`rate`")
    assert len(found) == 5
    assert all(any(f"Did you mean {hint}?" in text for text in found) for hint in hints)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("time", "found the axis 'time'"),
        ("temprature", "Did you mean `temperature`?"),
        ("air", "'air', a scalar"),
        ("links", "'links', a relation"),
        ("twice", "'twice', along plate, plate"),
        ("wave", "'wave', of dtype complex128"),
    ],
)
def test_what_can_be_no_target_is_refused(directory: Any, target: str, message: str) -> None:
    variables = {
        "temperature": (np.ones((3, 4)), ["time", "plate"]),
        "air": (np.array(1.0), []),
        "links": (np.zeros((6, 2), int), ["link", "end"]),
        "twice": (np.ones((4, 4)), ["plate", "plate"]),
        "wave": (np.ones(3, complex), ["time"]),
    }
    axes = {"time": 3, "plate": 4, "link": 6, "end": ["target", "source"]}
    path = directory(variables, axes, num_nodes=4, relations=["links"])

    (found,) = problems(path, target=target)

    assert message in found


def test_a_missing_value_is_placed_at_its_cell(directory: Any, prepare: Any) -> None:
    y = np.random.default_rng(7).normal(size=(8, 4))
    x = y + 1
    x[5, 2] = np.nan
    y[3, 1] = np.inf
    path = directory({"x": (x, ["a", "b"]), "y": (y, ["a", "b"])}, {"a": 8, "b": 4})

    found = problems(path, target="y")

    assert any("cell y[5, 2]" in text and '"x"' in text for text in found)
    assert any("cell y[3, 1]" in text and '"y"' in text for text in found)
    with pytest.raises(DataError):
        prepare(path, target="y")


def test_gaps_in_features_can_be_left_out(directory: Any, prepare: Any) -> None:
    y = np.random.default_rng(8).normal(size=(8, 4))
    x = y + 1
    x[[0, 7], 0] = np.nan
    path = directory({"x": (x, ["a", "b"]), "y": (y, ["a", "b"])}, {"a": 8, "b": 4})

    made = prepare(path, Holdout(fraction=0.25), target="y", missing="drop")

    assert (made.rows_dropped, made.rows_train, made.rows_final) == (2, 23, 7)


def test_text_that_is_no_feature_has_to_be_ignored(directory: Any) -> None:
    draw = np.random.default_rng(9)
    variables = {
        "note": (np.array(["a", "b"] * 15), ["row"]),
        "x": (draw.normal(size=30), ["row"]),
        "y": (draw.normal(size=30), ["row"]),
    }
    path = directory(variables, {"row": 30})

    assert any("note" in text for text in problems(path, target="y"))
    assert problems(path, target="y", ignore=("note",)) == []


def test_text_that_is_no_unicode_is_refused(directory: Any) -> None:
    kinds = np.array(["a\ud800", "a?", "b"] * 10)
    variables = {"x": (np.arange(30.0), ["row"]), "kind": (kinds, ["row"])}
    path = directory(variables, {"row": 30})

    found = problems(path, target="kind", task="classification")

    assert any("UTF-8" in text and "cell kind[0]" in text for text in found)


def test_text_with_a_line_break_is_refused(directory: Any) -> None:
    kinds = np.array(["a\nb", "c"] * 15)
    variables = {"x": (np.arange(30.0), ["row"]), "kind": (kinds, ["row"])}
    path = directory(variables, {"row": 30})

    assert "a line break" in problems(path, target="kind", task="classification")[0]


def test_all_faults_of_a_directory_come_with_its_name(cooling: Path) -> None:
    (cooling / "rate.npy").write_bytes(b"no array")
    (cooling / "start.npy").unlink()

    found = problems(cooling, target="temperature")

    assert len(found) == 2
    assert all(text.startswith("cooling/") for text in found)


def test_a_directory_that_changes_is_not_split(
    cooling: Path, prepare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sciharness.tables import prepare as module

    written = module.write_split

    def change_first(*given: Any) -> Any:
        np.save(cooling / "rate.npy", np.full(5, 9.0))
        return written(*given)

    monkeypatch.setattr(module, "write_split", change_first)

    with pytest.raises(DataError, match="changed"):
        prepare(cooling, target="temperature")
    assert list((tmp_path / "split").iterdir()) == []
