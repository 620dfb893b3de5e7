from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.problems import Problem
from sciharness.tables import CheckedTable, Prepared, prepare_final, prepare_labelled

Write = Callable[..., Path]
Check = Callable[..., CheckedTable]
Prepare = Callable[..., Prepared]

ROWS = [["a", "b", "y"], *([str(i), f"{i}.5", str(i * i)] for i in range(30))]


def with_cell(row: int, column: int, text: str, delimiter: str = ",") -> str:
    cells = [list(line) for line in ROWS]
    cells[row][column] = text
    return "".join(delimiter.join(line) + "\n" for line in cells)


def only(checked: CheckedTable) -> Problem:
    assert len(checked.problems) == 1, checked.problems
    return checked.problems[0]


@pytest.mark.parametrize(
    "text",
    ["nan", "NaN", "", " ", "inf", "-Infinity", "NA", "x", "1,5", "1_000", "0x1f", "1e", "1e 5",
     "--1", "1.2.3", "1e999", "true", "½", "\uff11", "1\u00a0", "1 000", "1e+", ".", "+", "1d5",
     "5 m"],
)  # fmt: skip
@pytest.mark.parametrize("column", [0, 2], ids=["feature", "target"])
def test_what_is_no_number_is_refused_with_its_place(
    table: Write, check: Check, column: int, text: str
) -> None:
    cell = f'"{text}"' if "," in text else text

    problem = only(check(table(with_cell(7, column, cell))))

    assert (problem.line, problem.column) == (8, column + 1)
    assert problem.path == f'column "{"ay"[column // 2]}"'
    assert problem.found == (repr(text) if text.strip() and text != "1e999" else problem.found)
    assert problem.expected == "a finite number"


@pytest.mark.parametrize(
    "text", ["1e-3", "+1.5", ".5", "1.", "-0", "1E+05", " 2.5 ", "\t7", "007", '"4.25"', '" 1 "',
             "9007199254740993", "1e-400", "0.1234567890123456789012345678901234567890"]
)  # fmt: skip
def test_numbers_as_scientists_write_them_are_taken(table: Write, check: Check, text: str) -> None:
    assert check(table(with_cell(7, 0, text))).problems == ()


def test_thousands_separators_are_refused(table: Write, check: Check) -> None:
    problem = only(check(table(with_cell(7, 0, "1,234.5", ";"))))

    assert problem.found == "'1,234.5'"
    assert "thousands" in problem.hint


def test_all_problems_come_at_once_in_the_order_of_the_file(table: Write, check: Check) -> None:
    text = with_cell(3, 0, "x").replace("9,9.5,81\n", "9,9.5\n").replace("20,20.5", "20,")

    checked = check(table(text), target="yy", ignore=["c"])

    assert [(problem.path, problem.line) for problem in checked.problems] == [
        ("ignore", None),
        ("target", None),
        ('column "a"', 4),
        ("", 11),
        ('column "b"', 22),
    ]


def test_many_problems_are_counted_not_listed(table: Write, check: Check) -> None:
    rows = "".join(f"{i},{'' if i % 3 else i},{i * i}\n" for i in range(3000))

    checked = check(table("a,b,y\n" + rows))

    assert len(checked.problems) == 5
    assert checked.problems[-1].hint.endswith("1995 more of this sort in column 'b'.")


def test_the_error_tells_the_first_problem_and_their_number(table: Write, prepare: Prepare) -> None:
    source = table(with_cell(3, 0, "x").replace("9,9.5,81\n", "9,9.5\n"))

    with pytest.raises(DataError) as refused:
        prepare(source)

    assert refused.value.exit_code == 3
    assert refused.value.kind == "data"
    assert str(refused.value).startswith(
        "data.csv: 2 problems. First: line 4:1: column \"a\": expected a finite number, found 'x'"
    )
    assert len(refused.value.problems) == 2


@pytest.mark.parametrize(
    ("header", "found", "line", "column"),
    [
        ("a,b,a", "the name 'a' in columns 1, 3", 1, 3),
        ("a, a ,y", "the name 'a' in columns 1, 2", 1, 2),
        ("a,,y", "no name", 1, 2),
        ('a," ",y', "no name", 1, 2),
        ("1,2.5,3e1", "numbers in the first line", 1, None),
        ("a\x07,b,y", "a control character in a column name", 1, 1),
    ],
    ids=["twice", "twice but for blanks", "empty", "blank", "missing header", "control"],
)
def test_a_header_without_clear_names_is_refused(
    table: Write, check: Check, header: str, found: str, line: int, column: int | None
) -> None:
    text = with_cell(1, 0, "0").replace("a,b,y", header)

    problem = only(check(table(text)))

    assert (problem.found, problem.line, problem.column) == (found, line, column)


def test_names_that_differ_by_unicode_form_are_the_same(table: Write, check: Check) -> None:
    problem = only(
        check(table("u\u0308,\u00fc,y\n" + "".join(f"{i},{i},{i}\n" for i in range(30))))
    )

    assert problem.found == "the name 'ü' in columns 1, 2"


@pytest.mark.parametrize(
    ("row", "found"),
    [("1,2", "2 fields"), ("1,2,3,4", "4 fields"), ("", "a blank line"), ("7", "1 field")],
)
def test_ragged_rows_are_refused(table: Write, check: Check, row: str, found: str) -> None:
    lines = with_cell(1, 0, "0").splitlines()
    lines[12] = row

    problem = only(check(table("\n".join(lines))))

    assert (problem.found, problem.line) == (found, 13)
    assert problem.expected == "3 fields as in the header"


@pytest.mark.parametrize(
    ("fields", "path", "found", "hint"),
    [
        ({"target": "z"}, "target", "'z'", "Columns: `a`, `b`, `y`."),
        ({"features": ["a", "B"]}, "features", "'B'", "Did you mean `b`?"),
        ({"ignore": ["aa"]}, "ignore", "'aa'", "Did you mean `a`?"),
        ({"weights": "w"}, "weights", "'w'", "Columns: `a`, `b`, `y`."),
        ({"sigma": "s"}, "sigma", "'s'", "Columns: `a`, `b`, `y`."),
        ({"units": {"c": "m"}}, "units", "'c'", "Columns: `a`, `b`, `y`."),
        ({"features": ["a", "y"]}, "features", "'y', which is the target column", ""),
        ({"features": ["a", "a"]}, "features", "'a' twice", ""),
        ({"features": ["a"], "ignore": ["a"]}, "features", "'a', which is in ignore too", ""),
        ({"weights": "y"}, "weights", "'y', which is the target column", ""),
        ({"sigma": "b", "weights": "b"}, "sigma", "'b', which is the weights column", ""),
        ({"ignore": ["y"]}, "target", "'y', which is in ignore",
         "Name the target in the contract."),
        ({"ignore": ["a", "b"]}, "features", "no column left", ""),
        ({"holdout": Holdout(mode="group", group="g")}, "holdout.group", "'g'",
         "Columns: `a`, `b`, `y`."),
        ({"holdout": Holdout(mode="group", group="y")}, "holdout.group", "the target 'y'", ""),
        ({"holdout": Holdout(mode="group", group="a"), "features": ["a"]}, "features",
         "'a', which is the holdout.group column", ""),
    ],
)  # fmt: skip
def test_words_of_the_contract_that_do_not_fit_are_refused(
    table: Write, check: Check, fields: dict[str, object], path: str, found: str, hint: str
) -> None:
    problem = only(check(table(with_cell(1, 0, "0")), **fields))

    assert (problem.path, problem.found, problem.hint) == (path, found, hint)


def test_a_name_without_its_unit_is_known_again(table: Write, check: Check) -> None:
    text = with_cell(1, 0, "0").replace("a,b,y", "length [m],b,period [s]")

    problem = only(check(table(text), target="period"))

    assert problem.hint == "Did you mean `period [s]`?"


def test_a_text_column_that_is_not_ignored_is_refused_once(table: Write, check: Check) -> None:
    rows = "".join(f"{i},{'good' if i % 7 else ''},{i * i}\n" for i in range(30))

    problem = only(check(table("a,note,y\n" + rows)))

    assert (problem.line, problem.column) == (3, 2) or (problem.line, problem.column) == (2, 2)
    assert problem.hint == "If it is no feature, name it in ignore: ignore: [note]."
    assert check(table("a,note,y\n" + rows), ignore=["note"]).problems == ()


def test_a_blank_is_no_example_of_a_text(table: Write, check: Check) -> None:
    rows = "\n".join(f"{number},{'' if number < 2 else 'red'},{number}" for number in range(30))

    problem = only(check(table(f"a,colour,y\n{rows}\n")))

    assert problem.found == "text such as 'red'"
    assert problem.line == 4


def test_a_text_target_asks_for_classification(table: Write, check: Check) -> None:
    rows = "".join(f"{i},{'hot' if i % 2 else 'cold'}\n" for i in range(30))

    problem = only(check(table("a,y\n" + rows)))

    assert problem.hint == "For classes set task: classification."
    assert check(table("a,y\n" + rows), task="classification").problems == ()


@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_a_missing_target_is_never_dropped(table: Write, check: Check, missing: str) -> None:
    problem = only(check(table(with_cell(7, 2, "")), missing=missing))

    assert (problem.line, problem.column, problem.found) == (8, 3, "a blank field")


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("sigma", "0", "a number above 0"),
        ("sigma", "-1", "a number above 0"),
        ("sigma", "", "a finite number"),
        ("weights", "-0.5", "a number that is not negative"),
        ("weights", "w", "a finite number"),
    ],
)
def test_sigma_and_weights_have_their_ranges(
    table: Write, check: Check, part: str, text: str, expected: str
) -> None:
    cells = with_cell(1, 1, "1.5")
    assert check(table(cells), **{part: "b"}).problems == ()

    problem = only(check(table(with_cell(7, 1, text)), **{part: "b"}))

    assert (problem.line, problem.column, problem.expected) == (8, 2, expected)


def test_a_weight_of_zero_is_taken_but_not_only_zeros(table: Write, check: Check) -> None:
    zeros = "a,w,y\n" + "".join(f"{i},0,{i}\n" for i in range(30))

    problem = only(check(table(zeros), weights="w"))

    assert problem.found == "only zeros"
    assert check(table(with_cell(7, 1, "0")), weights="b").problems == ()


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_constant_target_is_refused(table: Write, check: Check, task: str) -> None:
    rows = "".join(f"{i},4\n" for i in range(30))

    problem = only(check(table("a,y\n" + rows), task=task))

    assert problem.found == "one value in all 30 rows"


def test_a_target_that_is_constant_in_visible_rows_is_refused(table: Write, check: Check) -> None:
    rows = "".join(f"{i},{4 if i < 24 else i}\n" for i in range(30))

    problem = only(check(table("a,y\n" + rows), Holdout(mode="order")))

    assert problem.found == "one value in all 24 visible rows"


@pytest.mark.parametrize(
    ("rows", "found"),
    [(0, "0 final rows of 0"), (1, "0 final rows of 1"), (22, "4 final rows of 22")],
)
def test_fewer_than_five_final_rows_are_refused(
    table: Write, check: Check, rows: int, found: str
) -> None:
    checked = check(table("a,y\n" + "".join(f"{i},{i * i}\n" for i in range(rows))))

    assert checked.problems[0].found == found
    assert checked.problems[0].expected == "at least 5"


def test_five_final_rows_are_enough(table: Write, check: Check) -> None:
    checked = check(table("a,y\n" + "".join(f"{i},{i * i}\n" for i in range(23))))

    assert checked.problems == ()
    assert checked.rows_final == 5


def test_a_repeated_sample_id_is_refused(table: Write, check: Check) -> None:
    ids = [f"s{i}" for i in range(30)]
    ids[20] = " s3 "

    problem = only(
        check(table("sample_id,a,y\n" + "".join(f"{n},{i},{i}\n" for i, n in enumerate(ids))))
    )

    assert (problem.line, problem.column) == (22, 1)
    assert problem.found == "'s3', which line 5 has too"


def test_lines_count_line_breaks_inside_quotes(table: Write, check: Check) -> None:
    rows = "".join(f'"one\ntwo {i}",{i},{"x" if i == 4 else i}\n' for i in range(30))

    problem = only(check(table("note,a,y\n" + rows), ignore=["note"]))

    assert problem.line == 10


@pytest.mark.parametrize("name", ["", "  ", '"two\nlines"'])
def test_sample_ids_are_names(table: Write, check: Check, name: str) -> None:
    rows = "".join(f"{name if i == 4 else i},{i},{i}\n" for i in range(30))

    problem = only(check(table("sample_id,a,y\n" + rows)))

    assert (problem.line, problem.column) == (6, 1)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"\n\n", "no name"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16 text"),
        ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16 text or binary data"),
        (b"PK\x03\x04abc", "a ZIP or Excel file"),
        (b"\x1f\x8b\x08abc", "a gzip file"),
        (b"\xd0\xcf\x11\xe0abc", "an old Excel file"),
        (b"a" * (1 << 20) + b"\n1\n", "no line end in the first megabyte"),
        (b"a,b\r1,2\r3,4\r", None),
        (b"\x00" * 5000, "UTF-16 text or binary data"),
    ],
    ids=["empty", "blank", "utf-16", "utf-16-le", "zip", "gzip", "xls", "long line", "cr", "zeros"],
)
def test_what_is_no_text_table_is_refused(
    table: Write, check: Check, content: bytes, found: str | None
) -> None:
    checked = check(table(content))

    assert checked.problems
    assert found is None or found in [problem.found for problem in checked.problems]


@pytest.mark.parametrize(
    ("byte", "found"),
    [(b"\xff", "the byte 0xff"), (b"\0", "a NUL byte"), (b"\r", "a stray carriage return")],
)
def test_bad_bytes_in_an_ignored_column_are_refused(
    table: Write, check: Check, byte: bytes, found: str
) -> None:
    rows = b"".join(b"%d,t%b,%d\n" % (i, byte if i == 5 else b"", i) for i in range(30))

    problem = only(check(table(b"a,note,y\n" + rows), ignore=["note"]))

    assert (problem.found, problem.line, problem.column) == (found, 7, 2)


def test_an_open_quote_is_refused_where_it_opens(table: Write, check: Check) -> None:
    text = with_cell(9, 1, '"9').replace("b,y", "b,y")

    checked = check(table(text))

    assert [(problem.found, problem.line) for problem in checked.problems] == [
        ("a quote that is never closed", 10)
    ]


def test_text_after_a_closing_quote_is_refused(table: Write, check: Check) -> None:
    rows = "".join(f'{i},"n" x,{i}\n' if i == 6 else f"{i},n,{i}\n" for i in range(30))

    problem = only(check(table("a,note,y\n" + rows), ignore=["note"]))

    assert (problem.found, problem.line) == ("text after a closing quote", 8)


def test_too_many_classes_are_refused(table: Write, check: Check) -> None:
    rows = "".join(f"{i % 7},{i}\n" for i in range(1100))

    problem = only(check(table("a,y\n" + rows), task="classification"))

    assert problem.found == "1100 different values"
    assert "task: regression" in problem.hint


@pytest.mark.parametrize("make", ["missing", "folder", "fifo"])
def test_what_is_no_file_is_refused(tmp_path: Path, check: Check, make: str) -> None:
    import os

    path = tmp_path / "data.csv"
    if make == "folder":
        path.mkdir()
    if make == "fifo":
        os.mkfifo(path)

    problem = only(check(path))

    assert problem.kind == "data"
    assert str(tmp_path) not in str(problem)


def test_a_refused_table_leaves_no_files(table: Write, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()

    with pytest.raises(DataError):
        prepare_labelled(
            table(with_cell(7, 2, "x")), ContractInput("data", "data.csv"), Holdout(), out
        )

    assert list(out.iterdir()) == []


def test_messages_about_generated_final_data_quote_no_field(table: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        prepare_final(
            table(with_cell(7, 2, "4711x")), ContractInput("final", "final.csv"), tmp_path
        )

    assert "4711" not in str(refused.value)
    assert "4711" not in str(refused.value.problems)


def test_the_same_rows_without_faults_are_taken(table: Write, check: Check) -> None:
    assert check(table(with_cell(1, 0, "0"))).problems == ()
