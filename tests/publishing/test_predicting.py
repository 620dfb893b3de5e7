"""Predictions by an installed plugin: tables as people have them, clear words for the rest."""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def used(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the predictor is installed, for tests that change nothing of it."""
    place = tmp_path_factory.mktemp("used") / "home"
    shutil.copytree(installed, place)
    return place


def predict(run: Run, home: Path, folder: Path, text: str | bytes, source: str = "") -> Any:
    """Predict a table and return exit code, what was said, and the rows of the answer."""
    table, out = folder / "new.csv", folder / "out.csv"
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    out.unlink(missing_ok=True)
    code, said = run(home, "predict", source or "example.line", table, "-o", out, "--json")
    rows = list(csv.DictReader(out.open())) if out.exists() else []
    return code, said, rows


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("a,b\n1.5,2.0\n4.0,1.5\n", False),
        ("b,a\n2.0,1.5\n1.5,4.0\n", False),
        ("a,note,b\n1.5,x,2.0\n4.0,y,1.5\n", False),
        ("a,b\n1.5,2.0\n4.0,1.5", False),
        ("a;b\n1,5;2,0\n4,0;1,5\n", True),
        ("a\tb\n1.5\t2.0\n4.0\t1.5\n", True),
        ("a,b\r\n1.5,2.0\r\n4.0,1.5\r\n", True),
        (b"\xef\xbb\xbfa,b\n1.5,2.0\n4.0,1.5\n", True),
    ],
    ids=["strict", "order", "extra", "open_end", "german", "tabs", "crlf", "bom"],
)
def test_columns_are_found_in_every_dialect(
    used: Path, tmp_path: Path, run: Run, text: str | bytes, converted: bool
) -> None:
    code, said, rows = predict(run, used, tmp_path, text)

    assert code == 0, said
    # The law is 3 a - b; noise 0.01 on 48 rows leaves constants within about 0.01.
    assert [float(row["prediction"]) for row in rows] == pytest.approx([2.5, 10.5], abs=0.05)
    assert any("converted" in note for note in said["notes"]) is converted


def test_identifiers_are_kept(used: Path, tmp_path: Path, run: Run) -> None:
    _, _, rows = predict(run, used, tmp_path, "sample_id,a,b\nk7,1.5,2.0\nk3,4.0,1.5\n")

    assert [row["sample_id"] for row in rows] == ["k7", "k3"]


def test_a_missing_column_is_named(used: Path, tmp_path: Path, run: Run) -> None:
    code, said, rows = predict(run, used, tmp_path, "a,c\n1.5,2.0\n")

    assert (code, rows) == (3, [])
    assert said["error"]["message"] == "missing columns: b"
    assert said["error"]["hint"] == "The predictor needs a, b; found a, c."


def test_extra_columns_are_named(used: Path, tmp_path: Path, run: Run) -> None:
    _, said, _ = predict(run, used, tmp_path, "a,b,c\n1.5,2.0,0\n")

    assert said["notes"] == ["not used: c"]


@pytest.mark.parametrize(
    "text", ["a,b\n1.5,2.0\nfast,1.5\n", "a;b\n1,5;2,0\nfast;1,5\n"], ids=["strict", "german"]
)
def test_a_word_in_place_of_a_number_is_named_with_its_row(
    used: Path, tmp_path: Path, run: Run, text: str
) -> None:
    code, said, rows = predict(run, used, tmp_path, text)

    assert (code, rows) == (3, [])
    told = json.dumps(said)
    assert "fast" in told
    assert "column 'a'" in told.replace('\\"', "'")


@pytest.mark.parametrize(
    "text", ["", "a,b\n", "a,b\n1.5\n", "a,b\n1.5,\n", "a,b\nnan,1\n", "a,b\n1,2\n\x00,3\n"]
)
def test_a_table_without_usable_rows_is_refused(
    used: Path, tmp_path: Path, run: Run, text: str
) -> None:
    code, said, rows = predict(run, used, tmp_path, text)

    assert (code, rows) == (3, []), said


def test_a_file_that_is_there_is_not_replaced_unasked(used: Path, tmp_path: Path, run: Run) -> None:
    table, out = tmp_path / "new.csv", tmp_path / "out.csv"
    table.write_text("a,b\n1.5,2.0\n")
    out.write_text("precious")

    refused = run(used, "predict", "example.line", table, "-o", out, "--json")
    kept = out.read_text()
    forced = run(used, "predict", "example.line", table, "-o", out, "--force", "--json")

    assert (refused[0], kept) == (2, "precious")
    assert "--force" in refused[1]["error"]["hint"]
    assert (forced[0], out.read_text()[:9]) == (0, "sample_id")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "out.csv"]


def test_rows_out_of_the_domain_are_flagged(used: Path, tmp_path: Path, run: Run) -> None:
    _, said, rows = predict(run, used, tmp_path, "a,b\n1.5,2.0\n500,2.0\n")

    assert [row["in_domain"] for row in rows] == ["1", "0"]
    assert said["notes"] == ["1 of 2 rows lies outside the training range (in_domain 0)"]


@pytest.mark.parametrize(
    ("header", "row", "end"),
    [
        ("sample_id,prediction,in_domain", "{},0.0,{}", "\n"),
        ("sample_id,prediction,in_domain,routed", "{},1.5,{},model", "\n"),
        ("sample_id,prediction,in_domain", '"{},0",0.0,{}', "\n"),
    ],
    ids=["last", "not last", "quoted"],
)
@pytest.mark.parametrize("chunk", [7, 64, 8_000_000])
def test_rows_outside_are_counted_in_any_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, row: str, end: str, chunk: int
) -> None:
    from sciharness.generated import outside

    monkeypatch.setattr(outside, "_CHUNK", chunk)
    marks = [number % 3 == 0 for number in range(1000)]
    rows = [row.format(number, int(mark)) for number, mark in enumerate(marks)]
    (tmp_path / "o.csv").write_text(end.join([header, *rows, ""]))

    (note,) = outside.outside_note(tmp_path / "o.csv")

    assert note.startswith(f"{marks.count(False)} of 1,000 rows lie outside")


def test_a_column_written_another_way_is_recognised(used: Path, tmp_path: Path, run: Run) -> None:
    code, said, _ = predict(run, used, tmp_path, "a,B\n1.5,2.0\n")

    assert code == 3
    assert said["error"]["hint"].endswith("Is 'B' meant to be 'b'?")


def test_a_card_that_refuses_rows_out_of_the_domain_is_obeyed(
    empty: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        model = json.loads(archive.read("example_line/model.json"))
        card = json.loads(archive.read("example_line/model_card.json"))
    assert card["out_of_domain"] == "flag"
    model["out_of_domain"] = card["out_of_domain"] = "refuse"
    changed = {
        "model.json": json.dumps(model).encode(),
        "model_card.json": json.dumps(card).encode(),
    }
    strict = forge(wheel, tmp_path / "strict", plugin_id="example.strict", changed=changed)
    assert run(empty, "plugin", "install", strict)[0] == 0

    inside = predict(run, empty, tmp_path, "a,b\n1.5,2.0\n", "example.strict")
    outside = predict(run, empty, tmp_path, "a,b\n1.5,2.0\n500,2.0\n", "example.strict")

    assert inside[0] == 0
    assert (outside[0], outside[2]) == (3, [])
    assert "500.0 is outside the training range" in outside[1]["error"]["message"]


def test_predictors_with_equally_named_modules_work_side_by_side(
    empty: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    for name, value in (("one", 1), ("two", 2)):
        program = (
            "import sys\n"
            "rows = open(sys.argv[sys.argv.index('--input') + 1]).read().splitlines()[1:]\n"
            "out = open(sys.argv[sys.argv.index('--output') + 1], 'w')\n"
            "out.write('sample_id,prediction\\n')\n"
            f"out.writelines(f'{{i}},{value}\\n' for i, _ in enumerate(rows))\n"
        ).encode()
        made = forge(
            wheel, tmp_path / name, plugin_id=f"example.{name}", changed={"inference.py": program}
        )
        assert run(empty, "plugin", "install", made)[0] == 0

    answers = [
        predict(run, empty, tmp_path, "a,b\n1.5,2.0\n", f"example.{name}")[2][0]["prediction"]
        for name in ("one", "two", "one")
    ]

    assert answers == ["1", "2", "1"]


def test_several_predictors_that_fit_are_named_and_none_is_chosen(
    home: Path, wheel: Path, tmp_path: Path, run: Run, forge: Callable[..., Path]
) -> None:
    other = forge(wheel, tmp_path / "other", plugin_id="example.other")
    run(home, "plugin", "install", other)
    (tmp_path / "new.csv").write_text("a,b\n1.5,2.0\n")

    code, found = run(home, "plugin", "match", tmp_path / "new.csv", "--json")

    assert code == 4
    assert [one["plugin_id"] for one in found["matches"]] == ["example.line", "example.other"]


@pytest.mark.parametrize("text", ["a,c\n1,2\n", "a,b\n1,word\n"], ids=["names", "types"])
def test_a_predictor_that_does_not_fit_is_not_named(
    used: Path, tmp_path: Path, run: Run, text: str
) -> None:
    (tmp_path / "new.csv").write_text(text)

    code, found = run(used, "plugin", "match", tmp_path / "new.csv", "--json")

    assert (code, found["matches"]) == (0, [])
