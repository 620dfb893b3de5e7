"""What a check says of sound directories: facts, warnings, and nothing at fault."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness.contextdata import inspect_context_data, load_context_data

SAMPLES = Path(__file__).parents[2] / "examples" / "data"


def test_the_report_of_a_sound_directory_tells_what_is_in_it(network: Any) -> None:
    report = inspect_context_data(network.write())

    assert (report["valid"], report["errors"], report["warnings"]) == (True, [], [])
    assert report["num_nodes"] == 4
    assert report["path"] == str(network.path.resolve())
    assert report["variables"]["theta"] == {
        "file": "theta.npy",
        "shape": [3, 4],
        "dtype": "float64",
        "axes": ["time", "node"],
        "description": "Phase.",
    }
    assert report["variables"]["w"]["structure"] == "A"
    assert report["variables"]["A"]["kind"] == "relation"
    assert report["axes"] == {
        "time": {"size": 3, "dtype": "float64", "storage": "file", "description": "Time in s."},
        "node": {"size": 4, "dtype": "<U1", "storage": "values", "description": "Label."},
        "edge": {"size": 5, "dtype": "int64", "storage": "size", "description": "Edge."},
        "endpoint": {"size": 2, "dtype": "<U6", "storage": "values", "description": "Columns."},
    }
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize("sample", ["yearly_table", "oscillator_network"])
def test_the_samples_are_sound(sample: str) -> None:
    report = inspect_context_data(SAMPLES / sample)

    assert (report["errors"], report["warnings"]) == ([], [])


@pytest.mark.parametrize(
    "spell", [str, Path, lambda path: f"{path}/"], ids=["str", "Path", "slash"]
)
def test_a_path_may_be_spelled_in_any_way(network: Any, spell: Callable[[Path], Any]) -> None:
    assert inspect_context_data(spell(network.write()))["valid"]


def test_a_relative_path_counts_from_the_working_directory(
    network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = network.write()
    monkeypatch.chdir(path.parent)

    assert inspect_context_data(path.name)["valid"]


def accept_nulls(network: Any) -> None:
    network.variables["theta"] |= {"kind": None, "structure": None}


def accept_no_axes(network: Any) -> None:
    network.manifest = {"variables": {"g": network.variables["g"]}, "axes": {}}
    network.arrays = {"g": network.arrays["g"]}


def accept_an_axis_twice(network: Any) -> None:
    network.add("K", np.eye(4), ["node", "node"])


def accept_isolated_nodes(network: Any) -> None:
    network.manifest["num_nodes"] = 1000


def accept_hyperedges(network: Any) -> None:
    network.axes["triple"] = {"size": 3, "description": ""}
    network.axes["hyper"] = {"size": 2, "description": ""}
    network.add("T", np.array([[0, 1, 2], [1, 2, 3]], "u1"), ["hyper", "triple"], kind="relation")


def accept_a_relation_on_another(network: Any) -> None:
    network.axes["two"] = {"size": 2, "description": ""}
    network.add("B", np.array([[0, 1], [2, 3]]), ["two", "endpoint"], kind="relation")
    network.add("C", np.array([[0, 1], [2, 3]]), ["two", "endpoint"], kind="relation")
    network.variables["C"]["structure"] = "B"


def accept_names_by_case(network: Any) -> None:
    network.add("MASS", np.zeros(4), ["node"])


def accept_odd_names(network: Any) -> None:
    network.add("a b.c", np.zeros(4), ["node"])
    network.add("länge µ", np.zeros(4), ["node"])


def accept_labels_twice(network: Any) -> None:
    network.axes["node"]["values"] = ["a", "a", "b", "b"]


def accept_byte_orders(network: Any) -> None:
    network.arrays["theta"] = np.asfortranarray(network.arrays["theta"].astype(">f4"))
    network.arrays["A"] = np.asfortranarray(network.arrays["A"].astype(">i2"))


def accept_other_dtypes(network: Any) -> None:
    network.add("when", np.array(["2020-01-01"] * 4, "datetime64[ns]"), ["node"])
    network.add("bytes", np.array([b"ab", b"c", b"", b"d"]), ["node"])
    network.add("both", np.zeros(4, [("x", "<f8"), ("y", "<U3", (2,))]), ["node"])
    network.add("half", np.zeros(4, "c8"), ["node"])


@pytest.mark.parametrize(
    "change",
    [value for name, value in sorted(globals().items()) if name.startswith("accept_")],
    ids=lambda change: change.__name__.removeprefix("accept_"),
)
def test_what_nothing_forbids_is_accepted(network: Any, change: Callable[[Any], None]) -> None:
    change(network)

    report = inspect_context_data(network.write())

    assert (report["errors"], report["warnings"]) == ([], [])
    load_context_data(network.path)


def test_a_relation_may_be_empty(network: Any) -> None:
    network.axes["edge"] = {"file": "edge.npy", "description": ""}
    network.arrays |= {"edge": np.zeros(0), "A": np.zeros((0, 2), int), "w": np.zeros((3, 0))}

    assert inspect_context_data(network.write())["errors"] == []


def test_bytes_after_an_array_do_not_matter(network: Any) -> None:
    with (network.write() / "theta.npy").open("ab") as file:
        file.write(b"more")

    assert inspect_context_data(network.path)["valid"]
    assert load_context_data(network.path)["data"]["theta"].shape == (3, 4)


def test_links_are_followed(network: Any, tmp_path: Path) -> None:
    path = network.write()
    (tmp_path / "elsewhere").mkdir()
    for name in ("theta.npy", "manifest.json"):
        os.rename(path / name, tmp_path / "elsewhere" / name)
        (path / name).symlink_to(tmp_path / "elsewhere" / name)
    (tmp_path / "link").symlink_to(path)

    assert inspect_context_data(tmp_path / "link")["valid"]


def test_stray_arrays_draw_one_warning(network: Any) -> None:
    path = network.write()
    for name in ("tmp.npy", ".hidden.npy"):
        np.save(path / name, np.zeros(2))
    (path / "notes.txt").touch()
    (path / "folder.npy").mkdir()
    (path / "nowhere.npy").symlink_to(path / "missing")

    report = inspect_context_data(path)

    (warning,) = report["warnings"]
    assert report["valid"]
    assert "'.hidden.npy', 'tmp.npy'." in warning


def test_a_variable_along_edges_without_structure_draws_a_warning(network: Any) -> None:
    del network.variables["w"]["structure"]

    report = inspect_context_data(network.write())

    (warning,) = report["warnings"]
    assert report["valid"]
    assert warning.startswith("variables.w")


def test_columns_in_another_order_draw_a_warning(network: Any) -> None:
    network.axes["endpoint"]["values"] = ["source", "target"]

    report = inspect_context_data(network.write())

    (warning,) = report["warnings"]
    assert report["valid"]
    assert warning.startswith("axes.endpoint")


def test_only_headers_are_read(directory: Callable[..., Path]) -> None:
    path = directory({"v": np.zeros(3)}, {"v": ["t"]}, {"t": {"size": 2**34}})
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**34},), }}".ljust(117)
    with (path / "v.npy").open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.encode() + b"\n")
        file.truncate(128 + 8 * 2**34)  # a sparse file of 128 GiB

    report = inspect_context_data(path)

    assert report["valid"]
    assert report["variables"]["v"]["shape"] == [2**34]
