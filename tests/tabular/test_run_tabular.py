"""Contracts that describe, train and judge tables, carried out by the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sysconfig.get_path("scripts")) / "harness"
Table = Callable[..., dict[str, Any]]
Done = tuple[int, Any]


@pytest.fixture
def harness(tmp_path: Path) -> Callable[..., Done]:
    """Run `harness` with a home of its own; return the exit code and its JSON."""

    def run(*words: str) -> Done:
        done = subprocess.run(
            [COMMAND, *words, "--json"],
            cwd=tmp_path,
            env={**os.environ, "HARNESS_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    return run


def write(folder: Path, columns: Mapping[str, Any], **contract: Any) -> None:
    lines = [",".join(columns)]
    lines += [",".join(map(str, cells)) for cells in zip(*columns.values(), strict=True)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n", "utf-8")
    base = {
        "schema": "research-contract-v1",
        "title": "A table",
        "goal": "Predict the target of rows that were never seen.",
    }
    (folder / "c.yaml").write_text(json.dumps({**base, **contract}), "utf-8")


def test_text_classes_are_described_learnt_and_judged(
    harness: Callable[..., Done], tmp_path: Path, kinds: Table
) -> None:
    columns = kinds(200, names=("low", "middle, say", "high"))
    columns["kind"] = [f'"{name}"' for name in columns["kind"]]
    write(
        tmp_path,
        columns,
        inputs=[
            {"name": "data", "path": "data.csv", "role": "labelled_table", "task": "classification"}
        ],
        capabilities=["tabular.describe", "tabular.train", "evaluation.classification"],
        steps=[
            {"id": "look", "use": "tabular.describe", "inputs": {"data": "data"}},
            {
                "id": "fit",
                "use": "tabular.train",
                "inputs": {"data": "data"},
                "with": {"models": ["linear", "quadratic"]},
            },
            {
                "id": "judge",
                "use": "evaluation.classification",
                "inputs": {"predictor": "fit", "data": "data"},
            },
        ],
        acceptance=[
            {"metric": "balanced_accuracy", "op": ">=", "value": 0.7, "trusted": True},
            {"metric": "classes", "op": "==", "value": 3},
        ],
        workflow={"required_artifacts": ["analysis_result"], "final_predictor": True},
    )

    code, run = harness("run", "c.yaml")

    assert code == 0, run
    assert run["status"] == "succeeded"
    names = {artifact["name"] for artifact in run["artifacts"]}
    assert {"description.json", "description.md", "model_selection.json", "model.json"} <= names
    sources = {(one["name"], one["source"]) for one in run["metrics"]}
    assert {("balanced_accuracy", "reported"), ("balanced_accuracy", "trusted")} <= sources


@pytest.mark.slow
def test_a_regression_by_groups_runs_from_a_contract_without_steps(
    harness: Callable[..., Done], tmp_path: Path, waves: Table
) -> None:
    columns = {"site": [f"s{row % 20}" for row in range(400)], **waves(400)}
    write(
        tmp_path,
        columns,
        inputs=[{"name": "data", "path": "data.csv", "role": "labelled_table"}],
        capabilities=["tabular.describe", "tabular.train", "evaluation.regression"],
        holdout={"group": "site", "fraction": 0.2, "seed": 0},
        acceptance=[
            {"metric": "relative_rmse", "op": "<=", "value": 0.05, "trusted": True},
            {"metric": "missing_cells", "op": "==", "value": 0},
        ],
        workflow={"final_predictor": True},
    )

    code, run = harness("run", "c.yaml")

    (selection,) = (one for one in run["artifacts"] if one["name"] == "model_selection.json")
    folds = json.loads((tmp_path / "home" / selection["path"]).read_text("utf-8"))["folds"]
    assert code == 0, run
    assert folds["kept_together"] == "groups"
    trusted = [one for one in run["metrics"] if one["source"] == "trusted"]
    assert {one["name"] for one in trusted} >= {"relative_rmse", "r2", "mae"}


@pytest.mark.slow
def test_one_call_trains_and_the_next_judges_what_it_wrote(
    harness: Callable[..., Done], tmp_path: Path, waves: Table
) -> None:
    write(tmp_path, waves(100))

    code, trained = harness(
        "call", "tabular.train", "--input", "data=data.csv", "--input", "data.target=y",
        "--with", "models=[linear, cubic]", "--out", "out",
    )  # fmt: skip
    again, judged = harness(
        "call", "evaluation.regression", "--input", "predictor=out", "--input", "data=data.csv"
    )

    assert (code, again) == (0, 0), (trained, judged)
    assert trained["capability"] == "tabular.train"
    assert judged["metrics"]["relative_rmse"] < trained["metrics"]["relative_rmse"] < 0.1
