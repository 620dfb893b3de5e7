"""Lattice texts of other programs are recognised and name the capability that is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.errors import DataError
from sciharness_xsuite.lattice import read_lattice

Write = Callable[..., Path]

MADX = (
    "! ring\nbeam, particle=proton, pc=1;\nqf: quadrupole, l=0.2, k1:=kf;\nring: sequence, l=1;\n"
)
TEXTS = {
    "ring.madx": (MADX, "madx"),
    "ring.seq": ("ring: sequence, refer=centre, l=100;\n q, at=1;\nendsequence;\n", "madx"),
    "strengths": ("kqf := 0.1;\nkqd := -0.1;\n", "madx"),
    "ring.lte": (
        "Q1: KQUAD, L=0.2, K1=1.2\nB: CSBEND, L=1, ANGLE=0.1\nRING: LINE=(Q1,B)\n",
        "elegant",
    ),
    "run.ele": ("&run_setup\n lattice = ring.lte,\n&end\n&twiss_output\n&end\n", "elegant"),
    "twiss.tfs": ('@ NAME             %05s "TWISS"\n* NAME S BETX\n$ %s %le %le\n', "tfs"),
    "ring.bmad": ("parameter[p0c] = 1e9\nbeginning[beta_a] = 10\nq: quadrupole, l = 0.2\n", "bmad"),
    "fort.2": (
        "GEOMETRY-STRENGTH TITLE\nSINGLE ELEMENTS-----\nq 2 1.0 0.0\nNEXT\n"
        "BLOCK DEFINITIONS----\nNEXT\n",
        "sixtrack",
    ),
    "empty.lte": ("% comment only\n", "elegant"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_refused_by_the_capability_it_would_need(write: Write, name: str) -> None:
    text, capability = TEXTS[name]

    with pytest.raises(DataError, match=f"`{capability}_to_xsuite_json`"):
        read_lattice(write(text, name))


def test_the_refusal_of_madx_says_what_to_run(write: Write) -> None:
    with pytest.raises(DataError) as refused:
        read_lattice(write(MADX, "ring.madx"))

    assert "harness call beam.xsuite.madx_to_xsuite_json --input source=ring.madx" in str(
        refused.value
    )


def test_a_python_script_is_never_executed(write: Write, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"

    with pytest.raises(DataError, match="never executed"):
        read_lattice(write(script, "ring.py"))
    assert not mark.exists()


def test_a_pickle_is_binary_data(write: Write) -> None:
    with pytest.raises(DataError, match="binary data"):
        read_lattice(write(b"\x80\x04\x95\x00\x00", "ring.pkl"))


def test_a_folder_of_several_files_is_refused(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "several"
    folder.mkdir()
    for name in ("a.json", "b.json"):
        (folder / name).write_text("{}", "utf-8")

    with pytest.raises(DataError, match=r"a\.json, b\.json"):
        read_lattice(folder)
