"""Nothing in a lattice file runs, compiles, hangs or eats the memory."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness.errors import DataError
from sciharness_xsuite.lattice import read_lattice

pytest.importorskip("xtrack")
Json = dict[str, Any]


def _expressions(mark: Path) -> Json:
    """Fields whose loading by xtrack leaves a mark."""
    call = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    return {
        "_var_management_data": {"var_values": {}, "functions": {"_funcs": {}}},
        "_var_manager": [["vars['a']", call]],
    }


def _raw(values: Any) -> None:
    """Load as xtrack does."""
    import xtrack

    try:
        xtrack.Line.from_dict(values, verbose=False, with_progress=False)
    except Exception as error:  # noqa: BLE001  the mark is what counts
        print(error)


def test_expressions_of_a_file_run_in_xtrack_and_not_here(
    ring: Callable[..., Json], write: Callable[..., Path], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    hostile = ring(**_expressions(mark))

    _raw(json.loads(json.dumps(hostile)))
    assert mark.exists()
    mark.unlink()

    found = read_lattice(write(hostile))
    assert not mark.exists()
    assert any("_var_manager" in note for note in found.notes)


def test_a_line_within_a_line_runs_in_xtrack_and_is_refused_here(
    ring: Callable[..., Json], write: Callable[..., Path], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    hostile = ring()
    hostile["elements"]["d"] = ring(**_expressions(mark))

    _raw(json.loads(json.dumps(hostile)))
    assert mark.exists()
    mark.unlink()

    with pytest.raises(DataError, match="nested Line"):
        read_lattice(write(hostile))
    assert not mark.exists()


def test_settings_become_program_text_in_xtrack_and_are_dropped_here(
    ring: Callable[..., Json],
    write: Callable[..., Path],
) -> None:
    import xtrack

    text = "1\nint injected(void){return 7;}\n//"
    hostile = ring(config={"XTRACK_GLOBAL_XY_LIMIT": 1.0, "X_SETTING": text})

    raw = xtrack.Line.from_dict(json.loads(json.dumps(hostile)), verbose=False)
    headers = xtrack.Tracker._config_to_headers_from_config(raw.config)
    assert "injected" in "\n".join(map(str, headers))

    found = read_lattice(write(hostile))
    assert "X_SETTING" not in found.line.config.data
    assert any("X_SETTING" in note for note in found.notes)


def test_a_limit_given_as_text_is_refused(
    ring: Callable[..., Json], write: Callable[..., Path]
) -> None:
    with pytest.raises(DataError, match="XTRACK_GLOBAL_XY_LIMIT has to be a number"):
        read_lattice(write(ring(config={"XTRACK_GLOBAL_XY_LIMIT": '1.0) || system("x")'})))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("num_multipole_kicks", 2_000_000_000_000, "whole number from 0 to 10000"),
        ("order", 1_000_000_000, "whole number from 0 to 20"),
        ("knl", [0.0] * 1000, "at most 21 numbers"),
        ("k1", "__import__('os')", "expected a number"),
        ("k1", 1e400, "finite number"),
        ("k1", {"__class__": "Line"}, "finite number"),
        ("model", "any text", "one of"),
        ("_xobject", 1, "no such field"),
        ("_buffer", 1, "no such field"),
        ("k11", 1.0, "no such field"),
        ("radiation_flag", 2, "radiation is not tracked"),
        ("length", 1e12, "at most 1e\\+07"),
    ],
)
def test_a_field_out_of_bounds_is_refused_by_name(
    ring: Callable[..., Json], write: Callable[..., Path], field: str, value: Any, said: str
) -> None:
    hostile = ring()
    hostile["elements"]["qf"][field] = value

    with pytest.raises(DataError, match=said) as refused:
        read_lattice(write(hostile))
    assert "elements.qf" in str(refused.value)


@pytest.mark.parametrize(
    "kind",
    ["ParticlesMonitor", "EnergyProgram", "EverestCollimator", "LineSegmentMap", "os"],
)
def test_classes_beyond_plain_elements_are_refused(
    ring: Callable[..., Json], write: Callable[..., Path], kind: str
) -> None:
    hostile = ring()
    hostile["elements"]["d"] = {"__class__": kind, "num_particles": 10**15}

    with pytest.raises(DataError, match=kind):
        read_lattice(write(hostile))


def test_an_angle_that_would_make_billions_of_kicks_is_refused(
    ring: Callable[..., Json],
    write: Callable[..., Path],
) -> None:
    hostile = ring()
    hostile["elements"]["b"].update(angle=1e9, k1=0.1)

    with pytest.raises(DataError, match="elements.b.angle"):
        read_lattice(write(hostile))


@pytest.mark.parametrize(
    "element",
    [
        {"__class__": "LimitPolygon", "x_vertices": [0.0, 1.0, 1.0, 0.0], "y_vertices": [0.5]},
        {
            "__class__": "BeamBeamBiGaussian3D",
            "num_slices_other_beam": 1000,
            "slices_other_beam_num_particles": [1e10],
        },
        {"__class__": "BeamBeamBiGaussian3D", "num_slices_other_beam": 1000},
    ],
    ids=["polygon", "beam-beam", "beam-beam without lists"],
)
def test_lists_that_the_kernel_would_read_past_are_refused(
    ring: Callable[..., Json], write: Callable[..., Path], element: Json
) -> None:
    hostile = ring()
    hostile["elements"]["d"] = element

    with pytest.raises(DataError, match="expected (as many|one number for each of 1000)"):
        read_lattice(write(hostile))


def test_many_places_of_one_costly_element_are_refused(
    ring: Callable[..., Json], write: Callable[..., Path]
) -> None:
    hostile = ring()
    hostile["elements"]["b"].update(num_multipole_kicks=10_000)
    hostile["element_names"] = ["b"] * 100_000

    with pytest.raises(DataError, match="1,000,100,000 kicks"):
        read_lattice(write(hostile))


def test_a_slice_cannot_multiply_the_kicks_of_its_parent(
    ring: Callable[..., Json], write: Callable[..., Path]
) -> None:
    hostile = ring()
    hostile["elements"]["s"] = {"__class__": "ThickSliceBend", "parent_name": "b", "weight": 1e12}
    hostile["element_names"].append("s")

    with pytest.raises(DataError, match="elements.s.weight"):
        read_lattice(write(hostile))


@pytest.mark.parametrize(
    ("kind", "parent", "said"),
    [
        ("ThickSliceBend", "d", "a Bend, found a Drift"),
        ("ThinSliceQuadrupoleEntry", "b", "a Quadrupole, found a Bend"),
        ("DriftSlice", "qf", "a Drift, found a Quadrupole"),
    ],
)
def test_a_slice_of_another_class_than_its_parent_is_refused(
    ring: Callable[..., Json], write: Callable[..., Path], kind: str, parent: str, said: str
) -> None:
    hostile = ring()
    hostile["elements"]["s"] = {"__class__": kind, "parent_name": parent, "weight": 0.5}
    hostile["element_names"].append("s")

    with pytest.raises(DataError, match=said):
        read_lattice(write(hostile))


def test_replicas_in_a_circle_are_refused(
    ring: Callable[..., Json], write: Callable[..., Path]
) -> None:
    hostile = ring()
    hostile["elements"]["r1"] = {"__class__": "Replica", "parent_name": "r2"}
    hostile["elements"]["r2"] = {"__class__": "Replica", "parent_name": "r1"}
    hostile["element_names"].append("r1")

    with pytest.raises(DataError, match="a circle"):
        read_lattice(write(hostile))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "64 levels deep"),
        (b'{"elements": ' * 80 + b"1" + b"}" * 80, "64 levels deep"),
        (b'{"elements": {}, "elements": {}}', "stands twice"),
        (b"{" + b'"a":[],' * 4_000_001 + b'"b":1}', "more values than any lattice"),
        (b'{"elements": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
        (b'{"elements": \xff\xfe}', "not UTF-8"),
        (b'{"elements": {}', "Expecting"),
        (b"[]", "holds a list"),
        (b'{"a": 1}', "holds no field `elements`"),
    ],
    ids=["lists", "objects", "twins", "many", "digits", "bytes", "cut", "list", "other"],
)
def test_documents_that_are_no_lattice_are_refused(
    write: Callable[..., Path], content: bytes, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read_lattice(write(content))


def test_a_gzip_bomb_is_refused_before_it_unpacks(write: Callable[..., Path]) -> None:
    bomb = gzip.compress(b" " * (201 * 2**20), compresslevel=1)
    assert len(bomb) < 2 * 2**20

    with pytest.raises(DataError, match="larger than 200 MiB"):
        read_lattice(write(bomb, "ring.json.gz"))


def test_damaged_gzip_is_refused(ring: Callable[..., Json], write: Callable[..., Path]) -> None:
    packed = gzip.compress(json.dumps(ring()).encode())

    with pytest.raises(DataError, match="damaged"):
        read_lattice(write(packed[:-20], "ring.json.gz"))


def test_nan_is_taken_only_where_xtrack_itself_writes_it(
    ring: Callable[..., Json], write: Callable[..., Path]
) -> None:
    ring = ring()
    ring["particle_ref"]["reference_turns"] = float("nan")
    assert read_lattice(write(ring)).reference.p0c_ev == 1e9

    ring["elements"]["qf"]["k1"] = float("nan")
    with pytest.raises(DataError, match="elements.qf.k1"):
        read_lattice(write(ring))
