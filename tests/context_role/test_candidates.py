"""Another formula of a search as a predictor: made by the plugin, reported, never trusted."""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input, Table
from sciharness.errors import HarnessError
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import parse
from sciharness_symbolic_regression.candidate import run
from sciharness_symbolic_regression.request import CandidateRequest

FORMULAS: dict[str, Any] = {
    "schema": "formulas-v1",
    "target": "y [s]",
    "features": ["a", "b [m]"],
    "symbols": {"X2": "b [m]"},
    "candidates": [
        {"formula": "4.0", "complexity": 1, "metrics": {"train": {}, "validation": {"r2": 0.0}}},
        {
            "formula": "2.0*a - X2 + 0.5",
            "complexity": 7,
            "metrics": {"train": {}, "validation": {"relative_rmse": 0.01}},
        },
    ],
    "chosen": 0,
    "rows": {"visible": 40, "train": 30, "validation": 10},
}


def write_table(folder: Path, name: str = "data.csv") -> None:
    draw = random.Random(3)
    lines = ["a,b [m],y [s]"]
    for _ in range(60):
        a, b = draw.uniform(0.0, 5.0), draw.uniform(-3.0, 3.0)
        lines.append(f"{a!r},{b!r},{2.0 * a - b + 0.5 + draw.gauss(0.0, 0.05)!r}")
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


def candidate(made: Any, index: int) -> Any:
    write_table(made.folder)
    (made.folder / "formulas.json").write_text(json.dumps(FORMULAS))
    return made(
        "call", "symbolic_regression.candidate", "--input", "formulas=formulas.json",
        "--input", "data=data.csv", "--with", f"candidate={index}", "--out", "out", "--json",
        code=0,
    )  # fmt: skip


def test_a_candidate_keeps_its_constants_and_is_measured_anew(harness: Any) -> None:
    made = candidate(harness, 1).json

    card = json.loads((harness.folder / "out" / "model_card.json").read_text())
    model = json.loads((harness.folder / "out" / "model.json").read_text())
    sources = {item["name"]: (item["source"], item["rows"]) for item in card["metrics"]}
    assert model["formula"] == "2*a - X2 + 0.5"
    assert [column["name"] for column in card["columns"]] == ["a", "b [m]"]
    assert [column["unit"] for column in card["columns"]] == [None, "m"]
    assert made["metrics"]["relative_rmse"] == 0.01  # as the search had it
    assert 0.03 < made["metrics"]["train_rmse"] < 0.07  # noise of 0.05, 60 rows
    assert sources["rmse"] == ("training", 60)
    assert sources["relative_rmse"] == ("validation", 10)
    assert "Not the formula that the search chose" in card["limits"][0]


def test_the_mean_is_a_candidate_too(harness: Any) -> None:
    candidate(harness, 0)

    judged = harness(
        "call", "evaluation.regression", "--input", "predictor=out", "--input", "data=data.csv",
        "--input", "data.target=y [s]", "--json", code=0,
    )  # fmt: skip

    card = json.loads((harness.folder / "out" / "model_card.json").read_text())
    assert card["columns"] == []
    assert not any("Not the formula" in limit for limit in card["limits"])
    assert judged.json["metrics"]["r2"] < 0.01


@pytest.mark.parametrize(
    ("index", "changes", "message"),
    [
        (2, {}, "there is no candidate 2"),
        (0, {"target": "z"}, "its formulas are for z from a, b [m]"),
        (0, {"features": ["a"]}, "its formulas are for y [s] from a"),
        (0, {"schema": "formulas-v2"}, "no formulas-v1 document"),
        (0, {"candidates": [{"formula": "os.getcwd()", "metrics": {}}]}, "no formulas-v1"),
        (
            0,
            {"candidates": [{"formula": "__import__(a)", "metrics": {"validation": {}}}]},
            "__import__",
        ),
    ],
)
def test_what_is_no_candidate_of_this_table_is_refused(
    tmp_path: Path, index: int, changes: Any, message: str
) -> None:
    write_table(tmp_path)
    (tmp_path / "formulas.json").write_text(json.dumps({**FORMULAS, **changes}))
    table = Table(target="y [s]", features=("a", "b [m]"), dialect={"format": "unknown"})
    inputs = {
        "formulas": Input("formulas", tmp_path / "formulas.json", "analysis_result"),
        "data": Input("data", tmp_path / "data.csv", "DATASET", "labelled_table", table),
    }
    context = Context(inputs=inputs, workspace=tmp_path / "work")

    with pytest.raises(HarnessError, match=re.escape(message)):
        run(CandidateRequest(index), context)
    assert context.outputs == {}


SEARCH = {"max_evaluations": 10000, "stability_runs": 0}
CONTRACT: dict[str, Any] = {
    "capabilities": ["symbolic_regression.search", "evaluation.regression"],
    "steps": [
        {
            "id": "fit",
            "use": "symbolic_regression.search",
            "inputs": {"data": "data"},
            "with": SEARCH,
        },
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data"},
        },
    ],
}


@pytest.fixture(scope="module")
def searched(fresh: Callable[..., Any]) -> Any:
    """A home with a finished search of a line."""
    made = fresh("searched")
    write_table(made.folder)
    made.contract(**CONTRACT)
    made("run", "c.yaml", code=0)
    return made


@pytest.mark.slow
def test_an_export_with_a_candidate_says_that_it_is_only_reported(searched: Any) -> None:
    before = searched("show", "1", "--json").json

    exported = searched("export", "1", "--candidate", "0", "--out", "with.zip", "--json", code=0)

    told = exported.json["candidate"]
    with zipfile.ZipFile(searched.folder / "with.zip") as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        (card,) = [name for name in archive.namelist() if "candidate-0/model_card" in name]
        sources = {item["source"] for item in json.loads(archive.read(card))["metrics"]}
    assert {item["source"] for item in told["metrics"]} == {"reported"}
    assert "reported, not trusted" in exported.err
    assert {"candidate-0/model.json", "candidate-0/inference.py"} <= names
    assert sources == {"training", "validation"}
    assert searched("show", "1", "--json").json == before
    searched("verify", "with.zip", code=0)


@pytest.mark.slow
def test_a_changed_candidate_is_noticed_in_an_export(searched: Any) -> None:
    searched("export", "1", "--candidate", "0", "--out", "folder", code=0)
    model = searched.folder / "folder" / "candidate-0" / "model.json"
    model.write_text(model.read_text().replace("formula", "formulae", 1))

    assert "candidate-0/model.json" in searched("verify", "folder", code=7).text


@pytest.mark.slow
def test_an_exported_candidate_predicts(searched: Any) -> None:
    searched("export", "1", "--candidate", "0", "--out", "simplest", code=0)

    judged = searched(
        "call", "evaluation.regression", "--input", "predictor=simplest/candidate-0",
        "--input", "data=data.csv", "--json", code=0,
    )  # fmt: skip

    model = json.loads((searched.folder / "simplest/candidate-0/model.json").read_text())
    rows = np.loadtxt(searched.folder / "data.csv", delimiter=",", skiprows=1)
    told = evaluate(parse(model["formula"]), {"a": rows[:, 0], "X2": rows[:, 1]})
    wrong, spread = ((rows[:, 2] - told) ** 2).sum(), rows[:, 2].var() * len(rows)
    # The same numbers summed in another order: a few units in the last place.
    assert judged.json["metrics"]["r2"] == pytest.approx(1 - wrong / spread, rel=1e-9)


@pytest.mark.slow
def test_a_candidate_that_is_not_there_lists_those_that_are(searched: Any) -> None:
    refused = searched("export", "1", "--candidate", "99", code=2)

    assert "there is no candidate 99" in refused.err
    assert "  0: " in refused.err


@pytest.mark.slow
def test_formulas_and_predictions_are_at_hand_in_python(searched: Any) -> None:
    from sciharness.api import _result

    result = _result(searched.home, "1")
    chosen, *others = result.formulas

    document = json.loads(result.artifact("formulas.json").read_text())
    assert chosen["candidate"] == document["chosen"]
    assert {item["candidate"] for item in result.formulas} == set(range(len(others) + 1))
    (prediction,) = result.predict({"a": [1.0], "b [m]": [0.5]})
    assert prediction == pytest.approx(2.0, abs=0.2)  # 2 a - b + 0.5, noise 0.05


def test_a_run_without_formulas_has_no_candidates(harness: Any) -> None:
    harness.table()
    harness.contract()
    harness("run", "c.yaml", code=0)

    refused = harness("export", "1", "--candidate", "0", code=2)

    assert "the run has no formulas.json" in refused.err
