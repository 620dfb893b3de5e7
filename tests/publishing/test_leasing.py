"""An installed predictor as a capability of a later contract, and of `call`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, Any]]

CONTRACT = """\
schema: research-contract-v1
title: A tool at work
goal: Predict the rows of a table by an installed predictor.
inputs: [{name: rows, path: rows.csv, role: table}]
capabilities: [example.line.predict]
acceptance: [{metric: task_completion, op: ">=", value: 1}]
workflow: {required_artifacts: [DATASET]}
holdout: none
steps: [{id: p, use: example.line.predict, inputs: {data: rows}}]
"""


def write(folder: Path) -> Path:
    """Write rows in a dialect of their own and the contract beside them."""
    folder.mkdir()
    (folder / "rows.csv").write_text("b;a\n2,0;1,5\n1,5;4,0\n")
    (folder / "contract.yaml").write_text(CONTRACT)
    return folder / "contract.yaml"


def predictions(path: Path) -> list[float]:
    """Return what was predicted."""
    with path.open() as stream:
        return [float(row["prediction"]) for row in csv.DictReader(stream)]


def test_a_contract_names_an_installed_predictor(home: Path, tmp_path: Path, process: Run) -> None:
    code, view = process(home, "run", write(tmp_path / "work"), "--json")

    assert (code, view["status"]) == (0, "succeeded"), view
    made = next(item for item in view["artifacts"] if item["name"] == "predictions.csv")
    assert made["type"] == "DATASET"
    # The law is 3 a - b; noise 0.01 on 48 rows leaves constants within about 0.01.
    assert predictions(Path(made["path"])) == pytest.approx([2.5, 10.5], abs=0.05)


def test_check_pins_the_predictor_by_its_digest(home: Path, tmp_path: Path, run: Run) -> None:
    listed = run(home, "plugin", "list", "--json")[1]["plugins"]
    digest = next(entry["digest"] for entry in listed if entry["id"] == "example.line")

    code, said = run(home, "check", write(tmp_path / "work"), "--json")

    assert (code, said["pins"]) == (0, [f"example.line 0.1.0 predict {digest}"])


def test_a_changed_predictor_is_refused_before_it_runs(
    home: Path, tmp_path: Path, run: Run
) -> None:
    source = home / "plugins/generated/example.line/0.1.0/example_line/inference.py"
    source.write_bytes(source.read_bytes() + b"\n")

    code, said = run(home, "check", write(tmp_path / "work"), "--json")

    assert code == 7
    assert "example.line" in json.dumps(said)


def test_a_predictor_that_is_not_installed_is_named(tmp_path: Path, run: Run) -> None:
    code, said = run(tmp_path / "home", "check", write(tmp_path / "work"), "--json")

    assert code == 3
    assert any("example.line" in json.dumps(problem) for problem in said["problems"])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("a,c\n1.5,2.0\n", "b"),
        ("a,b\n1.5,fast\n", "fast"),
        ("a,b\n1.5,\n", "blank"),
    ],
    ids=["missing", "text", "blank"],
)
def test_columns_are_compared_with_the_card_before_a_run(
    home: Path, tmp_path: Path, run: Run, rows: str, told: str
) -> None:
    contract = write(tmp_path / "work")
    (tmp_path / "work/rows.csv").write_text(rows)

    code, said = run(home, "check", contract, "--json")

    assert code == 3
    (problem,) = said["problems"]
    assert problem["path"] == "inputs[0].path"
    assert told in problem["found"] + problem["expected"]
    assert problem["expected"] == "the columns of example.line 0.1.0: a, b"


def test_columns_that_a_predictor_does_not_use_are_no_problem(
    home: Path, tmp_path: Path, run: Run
) -> None:
    contract = write(tmp_path / "work")
    (tmp_path / "work/rows.csv").write_text("note,b,a\nx,2.0,1.5\ny,1.5,4.0\n")

    assert run(home, "check", contract, "--json")[0] == 0
    assert run(home, "plugin", "match", tmp_path / "work/rows.csv", "--json")[1]["matches"]


def test_call_predicts_outside_any_run(home: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1.5,2.0\n")
    data = f"data={tmp_path / 'rows.csv'}"

    code, said = run(
        home, "call", "example.line.predict", "--input", data, "--out", tmp_path / "out", "--json"
    )

    assert code == 0, said
    assert predictions(tmp_path / "out/predictions.csv") == pytest.approx([2.5], abs=0.05)


@pytest.mark.parametrize("kind", ["installed", "wheel"])
def test_call_judges_an_installed_predictor_and_a_wheel(
    home: Path, wheel: Path, tmp_path: Path, run: Run, kind: str
) -> None:
    (tmp_path / "rows.csv").write_text("a,b,y\n1.5,2.0,2.5\n4.0,1.5,10.5\n")
    source = "example.line" if kind == "installed" else str(wheel)
    inputs = ["--input", f"predictor={source}", "--input", f"data={tmp_path / 'rows.csv'}"]

    code, said = run(
        home, "call", "evaluation.regression", *inputs, "--out", tmp_path / "out", "--json"
    )

    assert code == 0, said
    # The rows follow the law without noise; constants are good to about 0.01 of it.
    assert said["metrics"]["relative_rmse"] < 0.02
