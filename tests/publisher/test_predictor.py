"""Written predictors, run as the files they are, in child processes."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from sciharness.plugin import Context
from sciharness_publisher.predictor import (
    Card,
    CardMetric,
    Column,
    FormulaModel,
    Interval,
    LinearModel,
    write_predictor,
)

COLUMNS = (
    Column("length [m]", "X1", 0.1, 10.0, "m"),
    Column("gravity", "gravity", 1.0, 20.0),
)
FORMULA = "6.283185307179586*sqrt(X1/gravity)"
CARD = Card(
    "0" * 64,
    seed=3,
    metrics=(CardMetric("r2", 0.99, "validation", 12),),
    versions={"numpy": "2"},
    limits=("Holds inside the ranges only.",),
)


def formula(**changes):
    values = {"target": "period", "columns": COLUMNS, "formula": FORMULA, "unit": "s"} | changes
    return FormulaModel(**values)


@pytest.fixture
def written(tmp_path):
    def write(model, card=CARD):
        write_predictor(Context(inputs={}, workspace=tmp_path), model, card)
        return tmp_path / "outputs"

    return write


def predict(folder, text, name="input.csv"):
    table = folder / name
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    command = [sys.executable, "-I", "inference.py", "--model", "model.json"]
    return subprocess.run(
        [*command, "--input", name, "--output", "out.csv"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def predict_here(folder, text, capsys):
    """Run the written source in this process: the same program, without a start-up each time."""
    (folder / "input.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    spec = importlib.util.spec_from_file_location("written_inference", folder / "inference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = {"model": "model.json", "input": "input.csv", "output": "out.csv"}
    arguments = [text for name, file in names.items() for text in (f"--{name}", str(folder / file))]
    return module.main(arguments, module.build), capsys.readouterr().err


def answers(folder):
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_predictions_keep_order_names_and_every_bit(written):
    folder = written(formula())

    run = predict(folder, "note,gravity,sample_id,length [m]\nhi,9.81,b,1\n,9.81,a,0.25\n")

    assert run.returncode == 0, run.stderr
    rows = answers(folder)
    assert [row["sample_id"] for row in rows] == ["b", "a"]
    wanted = 6.283185307179586 * np.sqrt(np.array([1.0, 0.25]) / 9.81)
    assert [float(row["prediction"]) for row in rows] == wanted.tolist()
    assert [row["prediction"] for row in rows] == list(map(repr, wanted.tolist()))
    assert [row["in_domain"] for row in rows] == ["1", "1"]


def test_rows_without_sample_id_are_numbered_from_zero(written):
    folder = written(formula())

    predict(folder, "length [m],gravity\n1,9\n2,9\n")

    assert [row["sample_id"] for row in answers(folder)] == ["0", "1"]


def test_a_table_without_rows_gives_a_header(written):
    folder = written(formula())

    run = predict(folder, "length [m],gravity\n")

    assert run.returncode == 0
    assert (folder / "out.csv").read_text() == "sample_id,prediction,in_domain\n"


def test_an_interval_gives_lower_and_upper(written):
    folder = written(formula(interval=Interval(0.9, 0.5)))

    predict(folder, "length [m],gravity\n1,9\n")

    row = answers(folder)[0]
    assert list(row) == ["sample_id", "prediction", "lower", "upper", "in_domain"]
    assert float(row["upper"]) - float(row["lower"]) == pytest.approx(1.0, rel=1e-12)


def test_a_row_outside_the_domain_is_flagged_or_refused(written):
    text = "length [m],gravity\n1,9\n11,9\n"
    folder = written(formula())
    predict(folder, text)
    flagged = [row["in_domain"] for row in answers(folder)]
    (folder / "out.csv").unlink()

    folder = written(formula(out_of_domain="refuse"))
    run = predict(folder, text)

    assert flagged == ["1", "0"]
    assert run.returncode == 3
    assert "row 2" in run.stderr and "'length [m]'" in run.stderr and "11.0" in run.stderr
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("length [m],gravity\n1,9\nabc,9\n", "row 2, column 'length [m]': expected a finite"),
        ("length [m],gravity\n1,\n", "row 1, column 'gravity': expected a finite number, the f"),
        ("length [m],gravity\n1,nan\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,inf\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,1e999\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1, 9\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,1_0\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,\uff11\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,0x1p3\n", "row 1, column 'gravity'"),
        ("length [m],gravity\n1,9\n\n1,9\n", "row 2: 1 fields, the header has 2"),
        ("length [m],gravity\n1,9,3\n", "row 1: 3 fields, the header has 2"),
        ('length [m],gravity\n"1",9\n"2"\n', "row 2: 1 fields, the header has 2"),
        ('length [m],gravity\n"1"x,9\n', "row 1"),
        ('length [m],gravity\n"1,9\n', "row 1"),
        ("length [m],gravitiy\n1,9\n", "'gravity' is missing, nearest is 'gravitiy'"),
        ("length [m],gravity,gravity\n1,9,9\n", "'gravity' occurs twice"),
        ("sample_id,length [m],gravity\na,1,9\nb,1,9\na,2,9\n", "row 3, column 'sample_id': 'a' i"),
        ("sample_id,length [m],gravity\n,1,9\n", "row 1, column 'sample_id': empty"),
        ("length [m],gravity\r\n1,9\r\n", "line 1: carriage return"),
        ("length [m],gravity\n1,9\n1,9\r\n", "line 3: carriage return"),
        (b"\xef\xbb\xbflength [m],gravity\n1,9\n", "byte order mark"),
        (b"length [m],gravity\n1,9\n\xff,9\n", "line 3: not UTF-8"),
        (b'length [m],gravity\n"1",9\n\xff,9\n', "not UTF-8"),
        ("", "'length [m]' is missing"),
        ("length [m];gravity\n1;9\n", "'length [m]' is missing"),
    ],
)
def test_a_table_that_is_not_strict_is_refused_with_its_place(written, text, said, capsys):
    folder = written(formula())

    code, error = predict_here(folder, text, capsys)

    assert code == 3
    assert said in error
    assert not (folder / "out.csv").exists()
    assert not list(folder.glob("*.part"))


def test_a_missing_input_is_refused(written):
    folder = written(formula())
    (folder / "input.csv").unlink(missing_ok=True)

    run = subprocess.run(
        [sys.executable, "inference.py", "--model=model.json", "--input=no.csv", "--output=o"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 3
    assert "no.csv" in run.stderr and "Traceback" not in run.stderr


def test_quoted_fields_are_read_and_written_back(written):
    folder = written(formula())

    run = predict(folder, 'sample_id,length [m],gravity\n"a, ""b""",1,9\nc,2,9\n')

    assert run.returncode == 0, run.stderr
    assert [row["sample_id"] for row in answers(folder)] == ['a, "b"', "c"]


def test_a_prediction_that_is_not_finite_fails_and_names_the_row(written):
    folder = written(formula(formula="log(X1 - 5.0)*gravity"))

    run = predict(folder, "length [m],gravity\n6,9\n1,9\n")

    assert run.returncode == 1
    assert "row 2: the model has no finite prediction" in run.stderr
    assert "length [m]=1.0" in run.stderr
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('pathlib').Path('mark').touch()",
        "X1.__class__",
        "(lambda: X1)()",
        "X1[0]",
        "open('mark', 'w')",
        "gravity(X1)",
        "sqrt(X1, gravity)",
        "unknown*X1",
        "1e999*X1",
        "X1 if gravity else X1",
        "'a'",
        "True",
        "(" * 300 + "X1" + ")" * 300,
        "-" * 19_000 + "X1",
        "9" * 400 + "*X1",
        "X1" + "+X1" * 4000,
    ],
)
def test_a_changed_model_cannot_run_code(written, text, capsys, monkeypatch):
    folder = written(formula())
    model = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(model | {"formula": text}))
    monkeypatch.chdir(folder)

    code, error = predict_here(folder, "length [m],gravity\n1,9\n", capsys)

    assert code == 3
    assert error.startswith("inference.py: model: ")
    assert not (folder / "mark").exists()


def test_many_rows_over_several_pieces_equal_numpy(written):
    folder = written(formula())
    random = np.random.default_rng(0)
    rows = random.uniform([0.1, 1.0], [10.0, 20.0], (120_000, 2))
    lines = [f"r{i},{a!r},{b!r}" for i, (a, b) in enumerate(rows.tolist())]

    run = predict(folder, "sample_id,length [m],gravity\n" + "\n".join(lines))

    assert run.returncode == 0, run.stderr
    found = np.loadtxt(folder / "out.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    assert np.array_equal(found[:, 0], 6.283185307179586 * np.sqrt(rows[:, 0] / rows[:, 1]))
    assert found[:, 1].all()


def test_a_quote_far_down_changes_nothing_else(written):
    folder = written(formula())
    plain = "".join(f"{i},1.5,{i % 9 + 1}\n" for i in range(200_000))

    predict(folder, "sample_id,length [m],gravity\n" + plain)
    wanted = (folder / "out.csv").read_text()
    predict(folder, "sample_id,length [m],gravity\n" + plain.replace("199000,", '"199000",'))

    assert (folder / "out.csv").read_text() == wanted


def test_the_inference_source_is_the_same_for_all_formulas_and_needs_numpy_only(written, tmp_path):
    first = (written(formula()) / "inference.py").read_text()
    second = (written(formula(formula="X1 + gravity")) / "inference.py").read_text()

    assert first == second
    assert "sciharness_" not in first
    imported = {line.split()[1].split(".")[0] for line in first.splitlines() if is_import(line)}
    assert imported - set(sys.stdlib_module_names) == {"numpy"}


def is_import(line):
    return line.startswith(("import ", "from "))


def test_a_linear_model_predicts_its_sum(written):
    folder = written(LinearModel("y", COLUMNS, 0.5, (2.0, -1.0)))

    run = predict(folder, "length [m],gravity\n1,9\n")

    assert run.returncode == 0, run.stderr
    assert float(answers(folder)[0]["prediction"]) == 0.5 + 2.0 - 9.0


def test_a_model_without_columns_predicts_a_constant(written):
    folder = written(FormulaModel("y", (), "2.5"))

    predict(folder, "a\n1\n2\n")
    example = subprocess.run(
        [sys.executable, "minimal_example.py"], cwd=folder, capture_output=True, text=True
    )

    assert [row["prediction"] for row in answers(folder)] == ["2.5", "2.5"]
    assert example.returncode == 0, example.stderr


def test_the_minimal_example_runs_beside_the_three_files_from_anywhere(written, tmp_path):
    source = written(formula(target='the "period" \\ {s}'))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("model.json", "inference.py", "model_card.json", "minimal_example.py"):
        shutil.copy(source / name, folder)

    run = subprocess.run(
        [sys.executable, folder / "minimal_example.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "sample_id,prediction,in_domain"
    assert all(line.endswith(",1") for line in lines[1:])
    assert {path.name for path in folder.iterdir()} == {
        "model.json",
        "inference.py",
        "model_card.json",
        "minimal_example.py",
    }


def test_the_guide_covers_input_output_domain_and_fallback(written):
    text = (written(formula()) / "usage_guide.md").read_text()

    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Input", "Output", "Domain", "Fallback"]
    assert "length [m]" in text and FORMULA in text and "Holds inside the ranges only." in text


def test_the_card_has_the_protocols_fields(written):
    card = json.loads((written(formula()) / "model_card.json").read_text())

    assert card == {
        "schema": "file-predictor-v1",
        "task": "regression",
        "target": {"name": "period", "unit": "s", "classes": []},
        "columns": [
            {"name": "length [m]", "dtype": "float64", "unit": "m", "min": 0.1, "max": 10.0},
            {"name": "gravity", "dtype": "float64", "unit": None, "min": 1.0, "max": 20.0},
        ],
        "out_of_domain": "flag",
        "metrics": [{"name": "r2", "value": 0.99, "source": "validation", "rows": 12}],
        "training_sha256": "0" * 64,
        "seed": 3,
        "versions": {"numpy": "2"},
        "limits": ["Holds inside the ranges only."],
    }


def test_artifacts_have_their_types(tmp_path):
    context = Context(inputs={}, workspace=tmp_path)

    write_predictor(context, formula(), CARD)

    assert context.outputs == {
        "model.json": "model",
        "inference.py": "inference.source.python",
        "model_card.json": "model_card",
        "minimal_example.py": "MINIMAL_EXAMPLE",
        "usage_guide.md": "USAGE_GUIDE",
    }


def test_a_value_that_is_not_finite_cannot_be_written(written):
    with pytest.raises(ValueError):
        written(formula(interval=Interval(0.9, float("nan"))))
