"""Each fault alone: exactly one error, which names the place; load refuses with the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contextdata import ContextManifestError, inspect_context_data, load_context_data

Change = Callable[[Any], None]
FAULTS: dict[str, tuple[Change, str]] = {}


def fault(words: str) -> Callable[[Change], Change]:
    def keep(change: Change) -> Change:
        FAULTS[change.__name__] = (change, words)
        return change

    return keep


@fault("manifest.json: expected the field 'axes'")
def no_axes(d: Any) -> None:
    del d.manifest["axes"]


@fault("manifest.json: expected the field 'variables'")
def no_variables(d: Any) -> None:
    del d.manifest["variables"]


@fault("variables: expected a non-empty object, found an empty one")
def empty_variables(d: Any) -> None:
    d.manifest["variables"] = {}


@fault("variables: expected a non-empty object, found an array of 0")
def variables_no_object(d: Any) -> None:
    d.manifest["variables"] = []


@fault("axes: expected an object, found null")
def axes_no_object(d: Any) -> None:
    d.manifest["axes"] = None


@fault("'target'")
def unknown_root_field(d: Any) -> None:
    d.manifest["target"] = "theta"


@fault("num_nodes: expected the number of nodes, since there is a relation")
def no_num_nodes(d: Any) -> None:
    del d.manifest["num_nodes"]


@fault("num_nodes: expected no such field without a relation")
def num_nodes_without_relation(d: Any) -> None:
    del d.variables["A"], d.variables["w"], d.axes["edge"], d.axes["endpoint"]
    del d.arrays["A"], d.arrays["w"]


@fault("num_nodes: expected a positive integer, found 0")
def num_nodes_zero(d: Any) -> None:
    d.manifest["num_nodes"] = 0


@fault("num_nodes: expected a positive integer, found true")
def num_nodes_true(d: Any) -> None:
    d.manifest["num_nodes"] = True


@fault("num_nodes: expected a positive integer, found 4.0")
def num_nodes_float(d: Any) -> None:
    d.manifest["num_nodes"] = 4.0


@fault('variables.theta: expected an object, found "theta.npy"')
def variable_no_object(d: Any) -> None:
    d.variables["theta"] = "theta.npy"


@fault("variables.mass: expected the field 'description'")
def no_description(d: Any) -> None:
    del d.variables["mass"]["description"]


@fault("variables.mass: expected the field 'file'")
def no_file_field(d: Any) -> None:
    del d.variables["mass"]["file"]


@fault("variables.mass: expected the field 'axes'")
def no_axes_field(d: Any) -> None:
    del d.variables["mass"]["axes"]


@fault("variables.mass: expected only the fields")
def unknown_variable_field(d: Any) -> None:
    d.variables["mass"]["unit"] = "kg"


@fault("variables.mass.description: expected text, found null")
def description_null(d: Any) -> None:
    d.variables["mass"]["description"] = None


@fault("variables.mass.file: expected 'mass.npy', found \"sub/mass.npy\"")
def file_elsewhere(d: Any) -> None:
    d.variables["mass"]["file"] = "sub/mass.npy"


@fault("variables.mass.file: expected 'mass.npy', found \"theta.npy\"")
def file_of_another(d: Any) -> None:
    d.variables["mass"]["file"] = "theta.npy"


@fault('variables.mass.axes: expected an array of axis names, found "node"')
def axes_text(d: Any) -> None:
    d.variables["mass"]["axes"] = "node"


@fault("variables.mass.axes: expected an array of axis names, found 0 among them")
def axes_number(d: Any) -> None:
    d.variables["mass"]["axes"] = [0]


@fault("variables.mass.axes: expected registered axes, found 'nodes'")
def axis_misspelled(d: Any) -> None:
    d.variables["mass"]["axes"] = ["nodes"]


@fault("axes: expected 'node', an axis of variables 'theta', 'mass'")
def axis_unregistered(d: Any) -> None:
    d.axes["knot"] = d.axes.pop("node")


@fault("axes.spare: expected an axis of some variable, found unused")
def axis_unused(d: Any) -> None:
    d.axes["spare"] = {"size": 7, "description": ""}


@pytest.mark.parametrize("name", ["", " \t", ".", "..", "a/b", "a\\b", "a\0b"])
@pytest.mark.parametrize("section", ["variables", "axes"])
def test_a_name_that_may_not_be(network: Any, section: str, name: str) -> None:
    network.axes["four"] = {"size": 4, "description": ""}
    if section == "axes":
        network.axes[name] = network.axes.pop("four")
    used = name if section == "axes" else "four"
    network.variables["m"] = {"file": "m.npy", "description": "", "axes": [used]}
    network.arrays["m"] = np.ones(4)
    if section == "variables":
        network.variables[name] = network.variables.pop("m")
        del network.arrays["m"]

    (error,) = inspect_context_data(network.write())["errors"]

    assert error.startswith(f"manifest.json: {section}.")
    assert "expected a name that is not blank" in error


@fault("variables.node: expected a name that no axis has")
def name_twice(d: Any) -> None:
    d.add("node", np.zeros(4), ["node"])


@fault("variables.edge: expected a name that no axis has")
def name_of_a_scalar_twice(d: Any) -> None:
    d.add("edge", np.array(1.0), [])


@fault("variables.mass.kind: expected 'relation' or no kind, found \"node\"")
def kind_unknown(d: Any) -> None:
    d.variables["mass"]["kind"] = "node"


@fault("variables.mass.kind: expected 'relation' or no kind, found an array of 1")
def kind_list(d: Any) -> None:
    d.variables["mass"]["kind"] = ["relation"]


@fault("variables.w.structure: expected the name of a relation, found 1")
def structure_number(d: Any) -> None:
    d.variables["w"]["structure"] = 1


@fault("variables.w.structure: expected a registered variable, found 'B'")
def structure_missing(d: Any) -> None:
    d.variables["w"]["structure"] = "B"


@fault("variables.w.structure: expected a relation, found 'theta', which is no relation")
def structure_ordinary(d: Any) -> None:
    d.variables["w"]["structure"] = "theta"


@fault("variables.A.structure: expected another variable, found the variable itself")
def structure_itself(d: Any) -> None:
    d.variables["A"]["structure"] = "A"


@fault("mass.npy: variables.mass: expected last dimension 5, the length of relation 'A'")
def structure_length(d: Any) -> None:
    d.variables["mass"]["structure"] = "A"


@fault("g.npy: variables.g: expected last dimension 5, the length of relation 'A'")
def structure_scalar(d: Any) -> None:
    d.variables["g"]["structure"] = "A"


@fault("axes.node: expected an object, found 4")
def axis_no_object(d: Any) -> None:
    d.axes["node"] = 4


@fault("axes.node: expected the field 'description'")
def axis_no_description(d: Any) -> None:
    del d.axes["node"]["description"]


@fault("axes.node: expected exactly one of values, file and size, found none of them")
def axis_no_source(d: Any) -> None:
    del d.axes["node"]["values"]


@fault("axes.node: expected exactly one of values, file and size, found 'values', 'size'")
def axis_two_sources(d: Any) -> None:
    d.axes["node"]["size"] = 4


@fault("axes.node: expected only the fields")
def axis_unknown_field(d: Any) -> None:
    d.axes["node"]["unit"] = "1"


@fault("axes.node.values: expected a non-empty array of JSON scalars, found an empty one")
def values_empty(d: Any) -> None:
    d.axes["node"]["values"] = []


@fault('axes.node.values: expected a non-empty array of JSON scalars, found "abcd"')
def values_text(d: Any) -> None:
    d.axes["node"]["values"] = "abcd"


@fault("axes.node.values: expected a non-empty array of JSON scalars, found an array inside")
def values_nested(d: Any) -> None:
    d.axes["node"]["values"] = [[1], [2], [3], [4]]


@fault("axes.edge.size: expected a positive integer, found 0")
def size_zero(d: Any) -> None:
    d.axes["edge"]["size"] = 0


@fault("axes.edge.size: expected a positive integer, found true")
def size_true(d: Any) -> None:
    d.axes["edge"]["size"] = True


@fault("axes.edge.size: expected a positive integer, found 5.0")
def size_float(d: Any) -> None:
    d.axes["edge"]["size"] = 5.0


@fault("axes.time.file: expected 'time.npy', found \"t.npy\"")
def axis_file_name(d: Any) -> None:
    d.axes["time"]["file"] = "t.npy"


@fault("time.npy: axes.time: expected a one-dimensional array, found shape (3, 1)")
def axis_two_dimensions(d: Any) -> None:
    d.arrays["time"] = np.zeros((3, 1))


@fault("time.npy: axes.time: expected an array file in the directory, found none")
def axis_file_missing(d: Any) -> None:
    del d.arrays["time"]


@fault("mass.npy: variables.mass: expected an array file in the directory, found none")
def file_missing(d: Any) -> None:
    del d.arrays["mass"]


@fault("theta.npy: variables.theta: expected 2 dimensions, as many as axes, found 1")
def dimensions_differ(d: Any) -> None:
    d.arrays["theta"] = np.zeros(12)


@fault("g.npy: variables.g: expected 0 dimensions, as many as axes, found 1, shape (1,)")
def scalar_of_one_dimension(d: Any) -> None:
    d.arrays["g"] = np.ones(1)


@fault("theta.npy: variables.theta: expected shape (time=3, node=4), found (4, 3)")
def shape_transposed(d: Any) -> None:
    d.arrays["theta"] = np.zeros((4, 3))


@fault("mass.npy: variables.mass: expected shape (node=4), found (5,)")
def length_of_one_differs(d: Any) -> None:
    d.arrays["mass"] = np.zeros(5)


@fault("axes.node: expected 4 entries, as in the arrays of 'theta', 'mass', found 3")
def length_of_axis_differs(d: Any) -> None:
    d.axes["node"]["values"] = ["a", "b", "c"]


@fault("A.npy: variables.A: expected shape (E, 2) or (H, 3) of a relation, found (5, 4)")
def relation_of_four_columns(d: Any) -> None:
    d.arrays["A"] = np.zeros((5, 4), int)
    d.axes["endpoint"]["values"] = ["a", "b", "c", "d"]


@fault("A.npy: variables.A: expected endpoints of an integer dtype, found float64")
def relation_of_floats(d: Any) -> None:
    d.arrays["A"] = d.arrays["A"].astype(float)


@fault("A.npy: variables.A: expected endpoints of an integer dtype, found timedelta64[s]")
def relation_of_times(d: Any) -> None:
    d.arrays["A"] = d.arrays["A"].astype("m8[s]")


@fault("A.npy: variables.A: expected endpoints of an integer dtype, found bool")
def relation_of_bools(d: Any) -> None:
    d.arrays["A"] = d.arrays["A"].astype(bool)


@fault("A.npy: variables.A: expected endpoints in [0, 4), found -1 at [3, 1]")
def endpoint_negative(d: Any) -> None:
    d.arrays["A"][3, 1] = -1


@fault("A.npy: variables.A: expected endpoints in [0, 4), found 4 at [3, 1]")
def endpoint_too_large(d: Any) -> None:
    d.arrays["A"][3, 1] = 4


@fault("A.npy: variables.A: expected endpoints in [0, 4), found 4 at [3, 1]")
def endpoint_too_large_in_columns(d: Any) -> None:
    d.arrays["A"][3, 1] = 4
    d.arrays["A"] = np.asfortranarray(d.arrays["A"])


@fault("A.npy: variables.A: expected endpoints in [0, 4), found -1 at [3, 1]")
def endpoint_negative_of_one_byte(d: Any) -> None:
    d.arrays["A"][3, 1] = -1
    d.arrays["A"] = d.arrays["A"].astype("i1")


@fault("A.npy: variables.A: expected endpoints in [0, 4), found 259 at [3, 1]")
def endpoint_of_swapped_bytes(d: Any) -> None:
    d.arrays["A"][3, 1] = 259
    d.arrays["A"] = d.arrays["A"].astype(">u4")


@fault("endpoints in [0, 1152921504606846976), found 18446744073709551615 at [3, 1]")
def endpoint_of_64_bits(d: Any) -> None:
    d.arrays["A"] = d.arrays["A"].astype("u8")
    d.arrays["A"][3, 1] = 2**64 - 1
    d.manifest["num_nodes"] = 2**60


@fault("endpoints in [0, 73786976294838206464), found -1 at [3, 1]")
def endpoint_negative_among_many_nodes(d: Any) -> None:
    d.arrays["A"][3, 1] = -1
    d.manifest["num_nodes"] = 2**66


@fault("theta.npy: variables.theta: expected a dtype without Python objects, found object dtype")
def objects(d: Any) -> None:
    d.arrays["theta"] = d.arrays["theta"].astype(object)


# At most one of each line: faults of different lines have nothing to do with each other.
LINES: tuple[tuple[Change, ...], ...] = (
    (unknown_root_field,),
    (num_nodes_zero, num_nodes_true, num_nodes_float),
    (no_description, description_null, unknown_variable_field, kind_unknown, kind_list),
    (structure_number, structure_missing, structure_ordinary),
    (dimensions_differ, objects),
    (relation_of_floats, relation_of_times, endpoint_negative, endpoint_negative_of_one_byte),
    (axis_no_description, axis_no_source, axis_two_sources, axis_unknown_field, values_nested),
    (size_zero, size_true, size_float),
    (axis_file_name, axis_file_missing, axis_two_dimensions),
    (axis_unused,),
    (scalar_of_one_dimension,),
)


@settings(max_examples=40, deadline=None)
@given(st.tuples(*(st.sampled_from([None, *line]) for line in LINES)))
def test_independent_faults_are_each_told_once(
    new_network: Callable[[], Any], chosen: tuple[Change | None, ...]
) -> None:
    network = new_network()
    changes = [change for change in chosen if change]
    for change in changes:
        change(network)
    # How far endpoints may go is not told where num_nodes is at fault itself.
    words = [FAULTS[change.__name__][1].split("[0,")[0] for change in changes]

    errors = inspect_context_data(network.write())["errors"]

    assert len(errors) == len(words), errors
    for text in words:
        assert sum(text in error for error in errors) == 1, (text, errors)


@pytest.mark.parametrize(("change", "words"), FAULTS.values(), ids=list(FAULTS))
def test_a_fault_alone_is_one_error(network: Any, change: Change, words: str) -> None:
    change(network)

    report = inspect_context_data(network.write())
    with pytest.raises(ContextManifestError) as caught:
        load_context_data(network.path)

    assert not report["valid"]
    assert len(report["errors"]) == 1, report["errors"]
    assert words in report["errors"][0]
    assert report["warnings"] == []
    assert [str(problem) for problem in caught.value.problems] == report["errors"]
    json.dumps(report, allow_nan=False)


def test_a_rejected_endpoint_deep_in_a_file_is_found(network: Any) -> None:
    edges = np.zeros((100_000, 2), "i4")
    edges[77_777, 1] = 9
    network.axes["edge"]["size"] = len(edges)
    network.arrays |= {"A": edges, "w": np.zeros((3, len(edges)))}

    (error,) = inspect_context_data(network.write())["errors"]

    assert "found 9 at [77777, 1]" in error


def test_faults_in_different_places_are_all_told(network: Any) -> None:
    network.manifest["target"] = "theta"
    network.variables["mass"]["unit"] = "kg"
    network.axes["time"]["description"] = 3
    network.arrays["theta"] = np.zeros((3, 5))
    network.arrays["A"][0, 0] = 99
    network.axes["spare"] = {"size": 7, "description": ""}
    del network.arrays["g"]
    np.save(network.write() / "stray.npy", np.zeros(1))
    (network.path / "w.npy").write_bytes(b"")

    report = inspect_context_data(network.path)
    (network.path / "g.npy").unlink(missing_ok=True)

    assert len(report["errors"]) == 8
    assert len(report["warnings"]) == 1
    for place in ("'target'", "'unit'", "axes.time.description", "theta.npy", "A.npy"):
        assert sum(place in error for error in report["errors"]) == 1
    for place in ("axes.spare", "g.npy", "w.npy"):
        assert sum(place in error for error in report["errors"]) == 1


def test_an_unused_axis_is_told_beside_a_variable_without_axes(network: Any) -> None:
    del network.variables["mass"]["axes"]
    network.axes["spare"] = {"size": 7, "description": ""}

    errors = inspect_context_data(network.write())["errors"]

    assert [("variables.mass" in error, "axes.spare" in error) for error in errors] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("call", [inspect_context_data, load_context_data])
def test_a_long_axis_without_data_claims_no_memory(
    directory: Callable[..., Path], call: Callable[[Path], Any]
) -> None:
    axes = {"none": {"file": "none.npy"}, "t": {"size": 10**15}}
    path = directory({"v": np.zeros(0), "none": np.zeros(0)}, {"v": ["none", "t"]}, axes)
    np.save(path / "v.npy", np.zeros((0, 10**15), "f8"))

    try:
        errors = call(path)["errors"]
    except ContextManifestError as error:
        errors = list(map(str, error.problems))

    (told,) = errors
    assert "axes.t.size: expected entries that data backs" in told


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "expected a readable directory, found none"),
        (lambda path: path.touch(), "expected a readable directory, found a file"),
        (lambda path: path.mkdir(), "manifest.json: expected a manifest in the directory"),
        (lambda path: (path / "manifest.json").mkdir(parents=True), "expected a regular file"),
    ],
    ids=["missing", "file", "empty", "manifest is a folder"],
)
def test_what_is_no_directory_with_a_manifest(
    tmp_path: Path, make: Callable[[Path], Any], words: str
) -> None:
    make(tmp_path / "data")

    (error,) = inspect_context_data(tmp_path / "data")["errors"]

    assert words in error
    with pytest.raises(ContextManifestError, match="fault"):
        load_context_data(tmp_path / "data")


def test_a_path_with_nul_is_no_directory() -> None:
    (error,) = inspect_context_data("a\0b")["errors"]

    assert "readable directory" in error


def test_pipes_and_links_to_nowhere_do_not_stop_a_check(network: Any) -> None:
    path = network.write()
    for name in ("theta.npy", "mass.npy"):
        (path / name).unlink()
    os.mkfifo(path / "theta.npy")
    (path / "mass.npy").symlink_to("nowhere")

    errors = inspect_context_data(path)["errors"]

    assert len(errors) == 2
    assert all("expected an array file in the directory" in error for error in errors)


def test_the_error_has_exit_code_and_kind_of_data(network: Any) -> None:
    network.manifest["num_nodes"] = 0
    network.write()

    with pytest.raises(ContextManifestError) as caught:
        load_context_data(network.path)

    assert (caught.value.kind, caught.value.exit_code) == ("data", 3)
    assert caught.value.problems[0].path == "num_nodes"
