"""MAD-X texts: what acts is refused before any parser sees it, the rest becomes a ring."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_xsuite.lattice import read_lattice
from sciharness_xsuite.madx.lines import written_out
from sciharness_xsuite.madx.statements import statements
from sciharness_xsuite.madx.text import read_madx
from sciharness_xsuite.optics import optics_at_start
from sciharness_xsuite.plugin import harness_capabilities
from sciharness_xsuite.requests import MadxRequest

pytest.importorskip("xtrack")
Write = Callable[..., Path]
Call = Callable[..., Any]

RING = """
! a ring of eight cells
title, 'ring; of "cells"';
beam, particle=proton, pc=1.0, sequence=ring;
real const kf = 1.2; /* a comment; with
   a semicolon */
kd := -kf;
ang = twopi/16;  // half of the toy ring's cells
option, -echo;
qf: quadrupole, l=0.2; qf->k1 := kf;
qd: quadrupole, l=0.2,
    k1:=kd;
b: sbend, l=1.0, angle:=ang;
sx: sextupole, l=0.1, k2=8;
w: marker, apertype=ellipse, aperture={0.06,0.04};
cell: line=(qf, d1, b, d1, qd, d1, sx, d1, w);
d1: drift, l=0.8;
ring: line=(16*cell);
use, sequence=ring;
twiss, file="twiss.tfs";
stop;
system, "touch never";
"""


@pytest.fixture
def convert() -> Any:
    found = (one for one in harness_capabilities() if one.operation == "madx_to_xsuite_json")
    return next(found)


def read(path: Path) -> Any:
    return read_madx(path, path.parent)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('system, "touch {mark}";', "`system`, which would run something"),
        ('SYSTEM , "touch {mark}";', "would run something"),
        ('a = 1; /* x */ system,"touch {mark}";', "would run something"),
        ("exec, doit;", "`exec`"),
        ('doit(a): macro = {{ system, "touch {mark}"; }};', "a macro"),
        ('if (1 == 1) {{ system, "touch {mark}"; }}', "conditions"),
        ("while (k < 3) {{ k = k + 1; }};", "loops"),
        ("match, sequence=ring;", "matching"),
        ("ealign, dx=1e-3;", "alignment errors"),
        ("select, flag=error, range=all;", "errors"),
        ("makethin, sequence=ring;", "slicing"),
        ('call, file="/etc/passwd";', "outside the input folder"),
        ('call, file="../../../../etc/passwd";', "outside the input folder"),
        ("call, file=absent.seq;", "there is no such file"),
        ("call;", "without a file"),
        ("cell(a): line=(a, b);", "a line with arguments"),
    ],
)
def test_what_acts_or_is_not_followed_is_refused_by_line(
    write: Write, tmp_path: Path, text: str, said: str
) -> None:
    mark = tmp_path / "mark"
    path = write("a = 1;\n\n" + text.format(mark=mark) + "\n", "ring.madx")

    with pytest.raises(DataError, match=said) as refused:
        read(path)
    assert "ring.madx:3" in str(refused.value)
    assert not mark.exists()


def test_a_link_out_of_the_folder_is_outside(write: Write, tmp_path: Path) -> None:
    secret = tmp_path / "secret.seq"
    secret.write_text("a = 1;", "utf-8")
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "link.seq").symlink_to(secret)
    (folder / "main.madx").write_text("call, file=link.seq;", "utf-8")

    with pytest.raises(DataError, match="calls 'link.seq'"):
        read_madx(folder / "main.madx", folder)


def test_a_file_that_calls_itself_ends(write: Write) -> None:
    path = write("call, file=ring.madx;", "ring.madx")

    with pytest.raises(DataError, match="levels of `call`"):
        read(path)


def test_called_files_stand_where_they_are_called(write: Write) -> None:
    write("b = 2; return; c = 3;", "more.seq")

    found = read(write("a = 1; call, file='more.seq'; d = 4;", "ring.madx"))

    assert found.text.split() == ["a", "=", "1;", "b", "=", "2;", "d", "=", "4;"]


@pytest.mark.parametrize(
    ("definitions", "wanted"),
    [
        ({"ring": "(a, b)"}, "a, b"),
        ({"ring": "(2*a, 2*(b, c))"}, "a, a, b, c, b, c"),
        ({"ring": "(cell, -cell)", "cell": "(a, 2*b, c)"}, "a, b, b, c, c, b, b, a"),
        ({"ring": "(-2*cell, -(x, cell))", "cell": "(a, b)"}, "b, a, b, a, b, a, x"),
    ],
)
def test_lines_are_written_out(definitions: dict[str, str], wanted: str) -> None:
    assert written_out("ring", definitions, "f") == f"ring: line=({wanted});"


@pytest.mark.parametrize(
    ("definitions", "said"),
    [
        ({"ring": "(a, ring)"}, "contains itself"),
        ({"ring": "(1000000000*a)"}, "more than 200,000"),
        ({"ring": "(100000*(1000000*(a)))"}, "more than 200,000"),
        ({"ring": "(a, b"}, "does not close"),
        ({"ring": "a"}, "no list"),
        ({"ring": "(a; b)"}, "holds '; b"),
    ],
)
def test_lines_that_never_end_are_refused(definitions: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        written_out("ring", definitions, "f")


def test_lines_are_counted_through_comments_and_strings() -> None:
    text = "a = 1; /* one\ntwo */ b = 2;\n! c = 3;\nd, e='x;y';\n"

    found = [(one.text, one.line) for one in statements(text, "f")]

    assert found == [("a = 1", 1), ("b = 2", 2), ('d, e="x;y"', 4)]


def test_a_text_that_breaks_off_is_refused() -> None:
    with pytest.raises(DataError, match="no semicolon"):
        list(statements("a = 1; b = 2", "f"))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab1=:;,!/*\"'{}\n -", max_size=60))
def test_any_text_is_cut_without_losing_letters(text: str) -> None:
    try:
        found = [one.text for one in statements(text, "f")]
    except DataError:
        return
    assert all(";" not in one or '"' in one or "{" in one for one in found)


def test_a_madx_ring_is_the_ring_it_describes(convert: Any, write: Write, call: Call) -> None:
    path = write(RING, "ring.madx")

    ran = call(convert.run, MadxRequest(), {"source": path})

    lattice = read_lattice(ran.folder / "outputs" / "ring.json")
    assert lattice.circumference_m == pytest.approx(16 * 4.7, rel=1e-12)
    assert lattice.has_aperture
    assert lattice.reference.p0c_ev == pytest.approx(1e9)
    bend = lattice.plain["elements"]["b"]
    assert bend["angle"] == pytest.approx(math.pi / 8, rel=1e-15)
    assert lattice.plain["elements"]["qd"]["k1"] == -1.2
    assert not optics_at_start(lattice).fault
    assert "title (1)" in ran.notes and "twiss (1)" in ran.notes
    assert set(ran.outcome.metrics) <= set(convert.metrics)
    assert not list(path.parent.glob("never"))


def test_a_text_without_beam_needs_a_particle(convert: Any, write: Write, call: Call) -> None:
    text = "q: quadrupole, l=1, k1=0.1; ring: sequence, l=2; q, at=1; endsequence;"
    path = write(text, "ring.seq")

    with pytest.raises(DataError, match="no BEAM statement"):
        call(convert.run, MadxRequest(), {"source": path})
    ran = call(convert.run, MadxRequest(particle="proton", p0c_ev=26e9), {"source": path})
    assert ran.outcome.metrics["p0c_ev"] == 26e9


@pytest.mark.slow
def test_of_several_sequences_one_has_to_be_chosen(convert: Any, write: Write, call: Call) -> None:
    text = "beam, particle=proton, pc=1; d: drift, l=1; one: line=(d); two: line=(d, d);"
    path = write(text, "ring.madx")

    with pytest.raises(DataError, match="defined are: one, two"):
        call(convert.run, MadxRequest(), {"source": path})
    ran = call(convert.run, MadxRequest(sequence="two"), {"source": path})
    assert ran.outcome.metrics["circumference_m"] == 2.0


@pytest.mark.slow
def test_a_folder_needs_its_first_file(convert: Any, tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "main.madx").write_text("call, file=sub.seq; beam, particle=proton, pc=1;", "utf-8")
    (folder / "sub.seq").write_text("d: drift, l=1; ring: line=(d);", "utf-8")

    with pytest.raises(DataError, match=r"main\.madx, sub\.seq"):
        call(convert.run, MadxRequest(), {"source": folder})
    ran = call(convert.run, MadxRequest(main_file="main.madx"), {"source": folder})
    assert ran.outcome.metrics["circumference_m"] == 1.0


@pytest.mark.slow
def test_what_the_parser_does_not_know_is_a_refusal(convert: Any, write: Write, call: Call) -> None:
    path = write("ring: sequence, l=2; q: nosuchthing, at=1; endsequence;", "ring.seq")

    with pytest.raises(DataError, match="parser does not understand"):
        call(convert.run, MadxRequest(particle="proton", p0c_ev=1e9), {"source": path})


def test_the_child_is_confined(tmp_path: Path) -> None:
    """A parser that were made to write elsewhere could not: shown by a program that tries."""
    from sciharness.programs import Grants, isolation, run_child

    if isolation() == "none":
        pytest.skip("nothing confines programs here")
    folder, mark = tmp_path / "child", tmp_path / "mark"
    folder.mkdir()
    (folder / "p.py").write_text(f"open({str(mark)!r}, 'w')", "utf-8")

    run_child([sys.executable, "-I", "p.py"], cwd=folder, grants=None)
    assert mark.exists()
    mark.unlink()

    run_child([sys.executable, "-I", "p.py"], cwd=folder, grants=Grants(write=(folder,)))
    assert not mark.exists()
