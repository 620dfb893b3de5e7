"""CSV, Parquet and NPZ to context.data and back: the same, or refused by name."""

from __future__ import annotations

import filecmp
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contextdata import (
    ContextManifestError,
    from_csv,
    from_npz,
    from_parquet,
    load_context_data,
    to_csv,
    to_npz,
    to_parquet,
)
from sciharness.errors import DataError

SAMPLES = Path(__file__).parents[2] / "examples" / "data"


def same_directory(one: Path, other: Path) -> None:
    """The same manifest, byte for byte, and the same arrays."""
    assert filecmp.cmp(one / "manifest.json", other / "manifest.json", shallow=False)
    first, second = load_context_data(one), load_context_data(other)
    assert first["data"].keys() == second["data"].keys()
    for name, array in first["data"].items():
        np.testing.assert_array_equal(array, second["data"][name])
        kinds = array.dtype.kind, second["data"][name].dtype.kind
        assert array.dtype == second["data"][name].dtype or kinds == ("U", "U")


def refused(call: Callable[[], Any]) -> list[str]:
    with pytest.raises(DataError) as caught:
        call()
    return [problem.path for problem in caught.value.problems]


@pytest.fixture
def table(directory: Callable[..., Path]) -> Path:
    """A table of every kind of column that CSV holds."""
    arrays = {
        "count": np.array([1, -(2**63), 2**63 - 1]),
        "real": np.array([0.1, np.nan, -0.0]),
        "far": np.array([np.inf, 1e-310, 1.7976931348623157e308]),
        "yes": np.array([True, False, True]),
        "word": np.array(["a,b", 'say "x"', "line\nbreak"]),
    }
    axes = {"day": {"values": ["mon", "tue", "wed"], "description": "Day."}}
    return directory(arrays, {name: ["day"] for name in arrays}, axes)


CARRIERS = pytest.mark.parametrize(
    ("to", "back", "ending"),
    [
        (to_csv, from_csv, "csv"),
        (to_csv, from_csv, "tsv"),
        (to_npz, from_npz, "npz"),
        (to_parquet, from_parquet, "parquet"),
    ],
    ids=["CSV", "TSV", "NPZ", "Parquet"],
)


@CARRIERS
def test_a_table_comes_back_the_same(
    table: Path, tmp_path: Path, to: Any, back: Any, ending: str
) -> None:
    assert to(table, tmp_path / f"t.{ending}") == tmp_path / f"t.{ending}"
    report = back(tmp_path / f"t.{ending}", tmp_path / "back")

    assert report["valid"]
    same_directory(table, tmp_path / "back")


@CARRIERS
@pytest.mark.parametrize(
    "axis",
    [{"size": 3}, {"file": "t.npy"}, {"values": [0.5, 1, 2]}],
    ids=lambda axis: next(iter(axis)),
)
def test_an_axis_comes_back_however_it_is_stored(
    directory: Callable[..., Path], tmp_path: Path, to: Any, back: Any, ending: str, axis: Any
) -> None:
    arrays = {"v": np.array([1.0, 2.5, 3.0])}
    if "file" in axis:
        arrays["t"] = np.array([0.1, 0.2, 0.3])
    path = directory(arrays, {"v": ["t"]}, {"t": axis})

    back(to(path, tmp_path / f"t.{ending}"), tmp_path / "back")

    same_directory(path, tmp_path / "back")


@CARRIERS
def test_the_yearly_sample_comes_back_the_same(
    tmp_path: Path, to: Any, back: Any, ending: str
) -> None:
    back(to(SAMPLES / "yearly_table", tmp_path / f"t.{ending}"), tmp_path / "back")

    same_directory(SAMPLES / "yearly_table", tmp_path / "back")


@CARRIERS
def test_nothing_that_is_there_is_overwritten(
    table: Path, tmp_path: Path, to: Any, back: Any, ending: str
) -> None:
    (tmp_path / "there").write_text("mine")
    made = to(table, tmp_path / f"t.{ending}")

    for call in (lambda: to(table, tmp_path / "there"), lambda: back(made, tmp_path / "there")):
        with pytest.raises(DataError, match="is there already"):
            call()

    assert (tmp_path / "there").read_text() == "mine"


@CARRIERS
def test_a_file_of_another_format_is_refused(
    tmp_path: Path, to: Any, back: Any, ending: str
) -> None:
    (tmp_path / "file").write_bytes(b"\x93NUMPY\x00\xff\xfe")

    with pytest.raises(DataError, match="cannot be read"):
        back(tmp_path / "file", tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("to", [to_csv, to_parquet])
def test_a_network_is_no_table_and_all_its_variables_are_named(
    network: Any, tmp_path: Path, to: Any
) -> None:
    named = refused(lambda: to(network.write(), tmp_path / "t"))

    assert named == ["theta", "A", "w", "g"]  # "node" has most variables alone on it


def test_a_network_comes_back_from_npz_file_by_file(network: Any, tmp_path: Path) -> None:
    path = network.write()
    np.save(path / "stray.npy", np.zeros(1))

    from_npz(to_npz(path, tmp_path / "n.npz"), tmp_path / "back")

    names = ["manifest.json", *(f"{name}.npy" for name in network.arrays)]
    same, differ, missing = filecmp.cmpfiles(path, tmp_path / "back", names, shallow=False)
    assert (sorted(same), differ, missing) == (sorted(names), [], [])
    assert not (tmp_path / "back" / "stray.npy").exists()


def test_npz_is_read_by_numpy_and_always_the_same(network: Any, tmp_path: Path) -> None:
    path = network.write()
    one, two = to_npz(path, tmp_path / "1.npz"), to_npz(path, tmp_path / "2.npz")

    with np.load(one) as archive:
        np.testing.assert_array_equal(archive["theta"], network.arrays["theta"])
    assert one.read_bytes() == two.read_bytes()


def test_dtypes_that_csv_does_not_hold_are_refused_by_name(
    directory: Callable[..., Path], tmp_path: Path
) -> None:
    arrays = {
        "single": np.zeros(2, "f4"),
        "short": np.zeros(2, "i2"),
        "plane": np.zeros(2, "c16"),
        "digits": np.array(["1", "02"]),
        "numbers": np.array(["1", "2"]),
        "truth": np.array(["true", "false"]),
        "gaps": np.array(["", ""]),
        "when": np.zeros(2, "M8[s]"),
        "fine": np.zeros(2),
        "nothing": np.full(2, np.nan),
    }
    path = directory(arrays, {name: ["t"] for name in arrays}, {"t": {"size": 2}})

    named = refused(lambda: to_csv(path, tmp_path / "t.csv"))

    assert named == ["single", "short", "plane", "numbers", "truth", "when", "nothing"]
    assert not (tmp_path / "t.csv").exists()


def test_parquet_holds_more_dtypes_and_refuses_others_by_name(
    directory: Callable[..., Path], tmp_path: Path
) -> None:
    good = {
        **{dtype: np.array([1, 0], dtype) for dtype in ("i1", "u2", "i4", "u8", "f2", "f4", ">f8")},
        "when": np.array(["2020-01-01T10:11:12.123456789", "NaT"], "M8[ns]"),
        "day": np.array(["2020-01-01", "NaT"], "M8[D]"),
        "numbers": np.array(["1", "2"]),
        "gaps": np.array([np.nan, 1.0]),
    }
    bad = {
        "plane": np.zeros(2, "c8"),
        "fields": np.zeros(2, [("a", "i4")]),
        "bytes": np.zeros(2, "S2"),
    }
    axes = {"t": {"size": 2}}
    path = directory(good, {name: ["t"] for name in good}, axes, "good")
    worse = directory(good | bad, {name: ["t"] for name in good | bad}, axes, "bad")

    from_parquet(to_parquet(path, tmp_path / "t.parquet"), tmp_path / "back")
    named = refused(lambda: to_parquet(worse, tmp_path / "u.parquet"))

    assert named == list(bad)
    for name, array in good.items():
        back = load_context_data(tmp_path / "back")["data"][name]
        np.testing.assert_array_equal(back, array)
        assert back.dtype == array.dtype.newbyteorder("=")


def csv(tmp_path: Path, text: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_columns_of_a_plain_csv_get_the_type_that_holds_them(tmp_path: Path) -> None:
    source = csv(
        tmp_path,
        "\ufeffn, x ,zip,flag,note,gap,big\r\n"
        "1,1.50,007,True,a,,12345678901\r\n"
        '-2, 2e-3,123,False,"b, c",1,-1\r\n',
    )

    report = from_csv(source, tmp_path / "out", descriptions={"x": "Length in m."})

    data = load_context_data(tmp_path / "out")["data"]
    assert {name: facts["dtype"] for name, facts in report["variables"].items()} == {
        "n": "int64",
        "x": "float64",
        "zip": "<U3",
        "flag": "bool",
        "note": "<U4",
        "gap": "float64",
        "big": "int64",
    }
    assert data["x"].tolist() == [1.5, 0.002]
    assert data["zip"].tolist() == ["007", "123"]
    assert np.isnan(data["gap"][0])
    assert report["axes"]["row"] == {
        "size": 2,
        "dtype": "int64",
        "storage": "size",
        "description": "",
    }
    assert report["variables"]["x"]["description"] == "Length in m."


@pytest.mark.parametrize(
    "cell",
    [
        "0.12345678901234567890123",
        "123456789012345678901",
        "9007199254740993.0",
        "1e400",
        "1e-400",
        "3e-324",
    ],
)
def test_numbers_that_a_float_does_not_hold_are_refused_by_name(tmp_path: Path, cell: str) -> None:
    source = csv(tmp_path, f"a,b\n1,0.5\n2,{cell}\n")

    assert refused(lambda: from_csv(source, tmp_path / "out")) == ["b"]

    from_csv(source, tmp_path / "out", text=["b"])
    assert load_context_data(tmp_path / "out")["data"]["b"].tolist() == ["0.5", cell]


def test_a_column_with_empty_cells_and_nan_is_refused_by_name(tmp_path: Path) -> None:
    source = csv(tmp_path, "a,b\n1,nan\n2,\n3,1\n")

    assert refused(lambda: from_csv(source, tmp_path / "out")) == ["b"]


def test_names_that_no_variable_may_have_are_refused_until_renamed(tmp_path: Path) -> None:
    source = csv(tmp_path, "v [m/s],b\n1,2\n")

    assert refused(lambda: from_csv(source, tmp_path / "out")) == ["v [m/s]"]
    from_csv(source, tmp_path / "out", rename={"v [m/s]": "v"}, descriptions={"v": "Speed in m/s."})

    assert list(load_context_data(tmp_path / "out")["variable_axes"]) == ["v", "b"]


def test_a_column_may_be_the_axis(tmp_path: Path) -> None:
    source = csv(tmp_path, "year,gdp\n2018,1.5\n2019,2.5\n")

    report = from_csv(source, tmp_path / "out", index="year")

    assert report["axes"]["year"]["storage"] == "values"
    assert list(report["variables"]) == ["gdp"]


def test_a_long_axis_goes_into_a_file(tmp_path: Path) -> None:
    source = csv(tmp_path, "t,x\n" + "".join(f"{k / 8},1\n" for k in range(2000)))

    report = from_csv(source, tmp_path / "out", index="t")

    assert report["axes"]["t"]["storage"] == "file"


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n", "a,a\n1,2\n", "a,\n1,2\n", "a,b\n1\n", 'a\n"x', "a\n1,2\n"],
    ids=["empty", "no rows", "name twice", "no name", "short row", "open quote", "long row"],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError):
        from_csv(csv(tmp_path, text), tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_an_edited_csv_still_fits_its_manifest_or_is_refused(table: Path, tmp_path: Path) -> None:
    source = to_csv(table, tmp_path / "t.csv")
    text = source.read_text("utf-8")

    source.write_text(text.replace("mon,1,", "sun,7,"), encoding="utf-8")
    from_csv(source, tmp_path / "edited")
    source.write_text(text.replace("count", "number"), encoding="utf-8")

    data = load_context_data(tmp_path / "edited")["data"]
    assert (data["day"].tolist(), data["count"][0]) == (["sun", "tue", "wed"], 7)
    assert refused(lambda: from_csv(source, tmp_path / "out")) == ["count", "number"]


def test_parquet_of_others_is_read_or_refused_by_name(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good = {"a": arrow.array([1, 2]), "b": arrow.array([0.5, None]), "c": arrow.array(["x", "y"])}
    bad = {
        "nulls": arrow.array([1, None]),
        "both": arrow.array([float("nan"), None]),
        "none": arrow.array(["x", None]),
        "zone": arrow.array([0, 1], arrow.timestamp("s", "UTC")),
        "list": arrow.array([[1], [2]]),
        "tail": arrow.array(["x\0", "y"]),
    }
    parquet.write_table(arrow.table(good), tmp_path / "good.parquet")
    parquet.write_table(arrow.table(good | bad), tmp_path / "bad.parquet")

    report = from_parquet(tmp_path / "good.parquet", tmp_path / "out", index="a")
    named = refused(lambda: from_parquet(tmp_path / "bad.parquet", tmp_path / "not"))

    assert named == list(bad)
    assert list(report["variables"]) == ["b", "c"]
    assert np.isnan(load_context_data(tmp_path / "out")["data"]["b"][1])


def test_a_plain_npz_needs_axes_where_they_cannot_be_told(tmp_path: Path) -> None:
    arrays = {"theta": np.zeros((3, 4)), "time": np.arange(3.0), "g": np.array(9.81)}
    np.savez(tmp_path / "n.npz", **arrays)

    named = refused(lambda: from_npz(tmp_path / "n.npz", tmp_path / "out"))
    report = from_npz(
        tmp_path / "n.npz",
        tmp_path / "out",
        axes={"theta": ["time", "node"], "g": []},
        descriptions={"time": "Time in s."},
    )

    assert named == ["theta", "time", "g"]
    assert report["variables"].keys() == {"theta", "g"}
    assert report["axes"]["time"]["storage"] == "file"
    assert report["axes"]["time"]["description"] == "Time in s."
    assert report["axes"]["node"]["size"] == 4


def test_a_plain_npz_of_columns_is_a_table(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "n.npz", x=np.arange(3), y=np.ones(3))

    report = from_npz(tmp_path / "n.npz", tmp_path / "out", axis="sample")

    assert report["variables"]["x"]["axes"] == ["sample"]


def test_hostile_archives_are_refused_and_leave_nothing(table: Path, tmp_path: Path) -> None:
    made = {
        "climb": {"../evil.npy": b"x"},
        "folder": {"a/b.npy": b"x"},
        "pickle": {"v.npy": npy_of(np.array([{}], dtype=object))},
        "other": {"v.npy": npy_of(np.zeros(2)), "readme.txt": b"x"},
        "stray": {"manifest.json": (table / "manifest.json").read_bytes(), "v.npy": b"x"},
        "manifest": {"manifest.json": b"{}", "v.npy": b"x"},
    }

    for name, members in made.items():
        with zipfile.ZipFile(tmp_path / f"{name}.npz", "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        with pytest.raises(DataError):
            from_npz(tmp_path / f"{name}.npz", tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert not (tmp_path.parent / "evil.npy").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"data", *(f"{name}.npz" for name in made)}


def npy_of(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_an_archive_whose_arrays_do_not_fit_is_refused(table: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "n.npz", "w") as archive:
        archive.writestr("manifest.json", (table / "manifest.json").read_bytes())
        for name in json.loads((table / "manifest.json").read_bytes())["variables"]:
            archive.writestr(f"{name}.npy", npy_of(np.zeros(7)))

    with pytest.raises(ContextManifestError, match="axes.day"):
        from_npz(tmp_path / "n.npz", tmp_path / "out")


def test_parquet_without_pyarrow_says_how_to_get_it(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)

    with pytest.raises(DataError, match=r"sciharness\[parquet\]"):
        to_parquet(table, tmp_path / "t.parquet")


CELLS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(
        ["", "nan", "NaN", "true", "False", "007", " 1", "+1", "-0", "1_0", ".5", "5."]
    ),
    st.text("ab0,\"'\n\r\t .e-+", max_size=6),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4))
def test_a_column_is_kept_in_value_or_refused(cells: list[str]) -> None:
    from decimal import Decimal

    from sciharness.contextdata._cells import column_of
    from sciharness.contextdata._tables import Loss

    try:
        array = column_of(cells)
    except Loss:
        return
    if array.dtype.kind == "U":
        assert array.tolist() == cells
    elif array.dtype.kind == "i":
        assert [str(value) for value in array.tolist()] == [cell.strip() for cell in cells]
    elif array.dtype.kind == "f":
        for cell, value in zip(cells, array.tolist(), strict=True):
            digits = len(
                cell.strip().lower().split("e")[0].strip("+-").replace(".", "").lstrip("0")
            )
            if value != value or value in (float("inf"), float("-inf")):
                assert cell.strip().lower().strip("+-") in ("", "nan", "inf", "infinity")
            else:
                printed = format(value, f".{max(digits, 1) - 1}e")
                assert Decimal(printed) == Decimal(cell.strip())


TABLES = st.integers(1, 4).flatmap(
    lambda rows: st.dictionaries(
        st.sampled_from(["a", "b c", "µ", "x"]),
        st.one_of(
            st.lists(st.floats(), min_size=rows, max_size=rows),
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=rows, max_size=rows),
            st.lists(st.booleans(), min_size=rows, max_size=rows),
            st.lists(st.text(max_size=4), min_size=rows, max_size=rows),
        ),
        min_size=1,
    )
)


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_any_table_comes_back_the_same_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, list[Any]]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    rows = len(next(iter(columns.values())))
    np.savez(folder / "n.npz", **{name: np.array(column) for name, column in columns.items()})
    from_npz(folder / "n.npz", folder / "data")
    assert load_context_data(folder / "data")["data"]["row"].tolist() == list(range(rows))

    try:
        made = to_csv(folder / "data", folder / "t.csv")
    except DataError:
        return
    from_csv(made, folder / "back")

    same_directory(folder / "data", folder / "back")


def test_tabs_part_the_cells_of_a_tsv(table: Path, tmp_path: Path) -> None:
    text = to_csv(table, tmp_path / "t.tsv").read_text("utf-8")

    assert text.splitlines()[0].count("\t") == 5
    assert '"a,b"' in text
