from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sciharness.plugin import Input
from sciharness.tables import CheckedTable, Prepared, TableArrays, read_table

Write = Callable[..., Path]
Check = Callable[..., CheckedTable]
Prepare = Callable[..., Prepared]


def read(path: Path, prepared: Prepared | None = None, role: str = "labelled_table") -> TableArrays:
    table = None if prepared is None else prepared.table
    return read_table(Input("data", path, "DATASET", role, table))


VALUES = [[0.5 * i, -1.25 * i, i * i / 8] for i in range(30)]


def text(delimiter: str, decimal: str, end: str, names: str = "a b y") -> str:
    rows = [names.split(" ")]
    rows += [[repr(value).replace(".", decimal) for value in row] for row in VALUES]
    return "".join(delimiter.join(row) + end for row in rows)


@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"),
    [(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")],
)
def test_a_table_is_read_as_it_is_written(
    table: Write, prepare: Prepare, delimiter: str, decimal: str, end: str, bom: str
) -> None:
    source = table(bom + text(delimiter, decimal, end))

    prepared = prepare(source)

    dialect = prepared.table.dialect
    assert (dialect["delimiter"], dialect["decimal"]) == (delimiter, decimal)
    assert dialect["encoding"] == ("utf-8-sig" if bom else "utf-8")
    assert dialect["columns"] == ["a", "b", "y"]
    values = np.array(VALUES)
    arrays = read(source, prepared)
    assert (values[:, :2] == arrays.X).all()
    assert arrays.y is not None
    assert (arrays.y == values[:, 2]).all()


def test_a_part_is_read_with_the_dialect_of_the_whole(table: Write, prepare: Prepare) -> None:
    # Only the last row shows that the comma is no thousands separator.
    rows = "".join(f"{i},125;{i},250\n" for i in range(1, 30)) + "7,5;8,5\n"
    source = table("a;y\n" + rows)

    from sciharness.contract.records import Holdout

    prepared = prepare(source, Holdout(mode="order"))

    assert prepared.train is not None
    arrays = read(prepared.train, prepared)
    assert arrays.X[0, 0] == 1.125
    assert len(arrays.X) == 24


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_comma_that_may_be_a_thousands_separator_is_refused(
    table: Write, check: Check, delimiter: str
) -> None:
    rows = "".join(f"{i}{delimiter}{i},250\n" for i in range(1, 30))

    checked = check(table(f"a{delimiter}y\n" + rows))

    (problem,) = checked.problems
    assert (problem.line, problem.column) == (2, 2)
    assert "'1,250'" in problem.found
    assert "decimal comma or with thousands" in problem.found


@pytest.mark.parametrize("proof", ["0,125", "12,5", "1,2345", "1,250e1", ",125"])
def test_one_unambiguous_number_settles_it(table: Write, check: Check, proof: str) -> None:
    rows = "".join(f"{i};{i},250\n" for i in range(1, 300)) + f"7;{proof}\n"

    checked = check(table("a;y\n" + rows))

    assert checked.problems == ()
    assert checked.table is not None
    assert checked.table.dialect["decimal"] == ","


def test_commas_in_ignored_columns_prove_nothing(table: Write, check: Check) -> None:
    rows = "".join(f"{i};{i}.5;1,5\n" for i in range(30))

    checked = check(table("a;y;note\n" + rows), target="y", ignore=["note"])

    assert checked.problems == ()


def test_mixed_decimal_marks_are_refused(table: Write, check: Check) -> None:
    rows = "".join(f"{i},5;{i}{'.' if i == 9 else ','}25\n" for i in range(30))

    (problem,) = check(table("a;y\n" + rows)).problems

    assert (problem.line, problem.column, problem.found) == (11, 2, "'9.25'")


def test_decimal_commas_between_commas_get_a_hint(table: Write, check: Check) -> None:
    rows = "".join(f'"{i},5","{i},25"\n' for i in range(30))

    checked = check(table("a,y\n" + rows))

    assert "separate the fields by semicolons or tabs" in checked.problems[0].hint


def test_commas_in_names_do_not_mislead(table: Write, check: Check) -> None:
    rows = "".join(f"{i},5;{i},25\n" for i in range(30))

    checked = check(table("length, mm;mass, g\n" + rows))

    assert checked.problems == ()
    assert checked.table is not None
    assert checked.table.dialect["delimiter"] == ";"


def test_semicolons_and_bars_in_notes_do_not_mislead(table: Write, check: Check) -> None:
    rows = "".join(f"{i},a;b;c|d|e,{i}\n" for i in range(30))

    assert check(table("a,note,y\n" + rows), ignore=["note"]).problems == ()


def test_units_spaces_and_other_scripts_are_kept_in_names(table: Write, prepare: Prepare) -> None:
    rows = "".join(f"{i},{i},{i * i}\n" for i in range(30))
    source = table(' length  [m] ,质量 [kg],"period, T [s]"\n' + rows)

    prepared = prepare(source, units={"质量 [kg]": "kg"})

    assert prepared.table.features == ("length [m]", "质量 [kg]")
    assert prepared.target == "period, T [s]"
    assert prepared.table.units == {
        "length [m]": "m", "质量 [kg]": "kg", "period, T [s]": "s"
    }  # fmt: skip
    assert prepared.final_inputs is not None
    assert prepared.labels is not None
    assert prepared.final_inputs.read_text().startswith("sample_id,length [m],质量 [kg]\n")
    assert prepared.labels.read_text().startswith('sample_id,"period, T [s]"\n')


def test_a_unit_against_the_one_in_the_name_is_refused(table: Write, check: Check) -> None:
    rows = "".join(f"{i},{i * i}\n" for i in range(30))

    (problem,) = check(table("a [m],y\n" + rows), units={"a [m]": "mm"}).problems

    assert problem.path == "units"
    assert problem.expected == "'m' as in the column's name"


def test_quoted_fields_may_hold_anything(table: Write, prepare: Prepare) -> None:
    notes = ['"a,b"', '"a ""q"" b"', '"two\nlines"', '""', ' "blank before" ', 'in"ch', '"\r\n"']
    rows = "".join(f'{notes[i % 7]},"{i}",{i * i}\n' for i in range(40))
    source = table("note,a,y\n" + rows)

    prepared = prepare(source, ignore=["note"])

    assert prepared.rows_train + prepared.rows_final == 40
    assert prepared.train is not None
    arrays = read(prepared.train, prepared)
    assert arrays.y is not None
    assert (arrays.y == arrays.X[:, 0] ** 2).all()


def test_a_header_may_have_line_breaks_in_quotes(table: Write, prepare: Prepare) -> None:
    rows = "".join(f"{i},{i if i else 'x'}\n" for i in range(30))
    source = table('"length\n[m]",y\n' + rows.replace("0,x\n", ""))

    prepared = prepare(source)

    assert prepared.table.features == ("length [m]",)
    assert prepared.table.units == {"length [m]": "m"}


def test_classes_are_text_or_numbers_in_order(table: Write, prepare: Prepare) -> None:
    rows = "".join(f'{i},{["10", "9", "2.5"][i % 3]},"{["b", "a,c"][i % 2]}"\n' for i in range(60))
    source = table("x,k,y\n" + rows)

    by_number = prepare(source, target="k", ignore=["y"], task="classification")
    by_text = prepare(source, target="y", task="classification")

    assert by_number.table.classes == ("2.5", "9", "10")
    assert by_text.table.classes == ("a,c", "b")
    assert by_text.labels is not None
    assert {line.split(",", 1)[1] for line in by_text.labels.read_text().splitlines()[1:]} == {
        '"a,c"', "b"
    }  # fmt: skip


def test_an_unlabelled_table_has_its_number_columns_as_features(table: Write) -> None:
    rows = "".join(f"{i},t{i},{'' if i == 3 else i / 2}\n" for i in range(8))
    source = table("a,note,b\n" + rows)

    arrays = read(source, role="table")

    assert arrays.features == ("a", "b")
    assert arrays.y is None
    assert np.isnan(arrays.X[3, 1])
    assert arrays.X[4].tolist() == [4, 2]


def test_an_unlabelled_table_is_checked_for_its_named_features(table: Write, check: Check) -> None:
    source = table("a,note\n" + "".join(f"{i},t{i}\n" for i in range(3)))

    assert check(source, role="table").problems == ()
    assert check(source, role="table", features=["a"]).rows == 3
    assert check(source, role="table", features=["note"]).problems[0].line == 2
    assert check(source, role="table", features=["b"]).problems[0].path == "features"


def test_a_checked_table_tells_what_the_split_would_be(table: Write, check: Check) -> None:
    from sciharness.contract.records import Holdout

    checked = check(table(text(",", ".", "\n")), Holdout(verification=0.2))

    assert (checked.rows_train, checked.rows_verification, checked.rows_final) == (18, 6, 6)
    assert checked.table is not None
    assert checked.table.target == "y"
    assert checked.facts["baseline"]["kind"] == "training mean"
