"""Run records to report on: a realistic one and what can be changed about it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen

from sciharness import Context, Input, Outcome, Table
from sciharness_reporting.plugin import WriteRequest, write

ROWS = 240
DIGEST = "9f2c51d07a3be846c1de2f9b0a74435e8d16c92ab57f03e4d8a1b6c5f7e90213"
COLUMNS = ("length", "amplitude", "bob mass [g]")


def pendulum(rows: int = ROWS, seed: int = 4) -> np.ndarray[Any, Any]:
    """Return columns length [m], amplitude [rad], mass [g] and period [s] with 0.5 % noise."""
    random = np.random.default_rng(seed)
    length = random.uniform(0.2, 2.5, rows)
    amplitude = random.uniform(0.05, 1.2, rows)
    mass = random.uniform(40, 400, rows)
    period = 2 * np.pi * np.sqrt(length / 9.81) * (1 + amplitude**2 / 16 + amplitude**4 * 11 / 3072)
    return np.stack([length, amplitude, mass, period * random.normal(1, 0.005, rows)])


def candidate(formula: str, complexity: int, train: float, valid: float) -> dict[str, Any]:
    return {
        "formula": formula,
        "latex": "",
        "python": formula,
        "complexity": complexity,
        "constants": [],
        "metrics": {
            "train": {"relative_rmse": train, "r2": 1 - (3 * train) ** 2},
            "validation": {"relative_rmse": valid, "r2": 1 - (3 * valid) ** 2},
        },
        "domain": {"length": [0.2004, 2.4971], "amplitude": [0.0513, 1.1988]},
        "stability": 0.4,
    }


def formulas() -> dict[str, Any]:
    """Return a formulas.json as a search on the pendulum might give it."""
    chosen = candidate("2.00607*sqrt(length)*(1 + 0.06641*amplitude**2)", 10, 0.00512, 0.00547)
    chosen["latex"] = r"2.00607 \sqrt{length} \left(1 + 0.06641 amplitude^{2}\right)"
    chosen["constants"] = [
        {"value": 2.00607, "low": 2.00442, "high": 2.00771},
        {"value": 1.0, "low": None, "high": None},
        {"value": 0.06641, "low": 0.06502, "high": 0.06779},
    ]
    chosen["stability"] = 0.9
    chosen["chosen_again"] = 0.8
    return {
        "schema": "formulas-v1",
        "target": "period",
        "features": list(COLUMNS),
        "symbols": {"X3": "bob mass [g]"},
        "candidates": [
            candidate("1.27*length + 0.61", 5, 0.0621, 0.0684),
            candidate("2.052*sqrt(length)", 4, 0.0187, 0.0192),
            candidate("2.031*length**0.5 + 0.04*amplitude", 8, 0.0104, 0.0113),
            chosen,
            candidate(
                "2.0061*sqrt(length)*(1 + 0.0664*amplitude**2) + 1e-6*X3", 14, 0.0051, 0.0056
            ),
            candidate(
                "2.0063*sqrt(length)*exp(0.0631*amplitude**2) + 3e-7*X3*sin(length)/(X3 + 2)",
                19,
                0.0050,
                0.0061,
            ),
        ],
        "chosen": 3,
        "rule": "least complexity within one standard error of the best validation error",
        "stop_reason": "max_evaluations",
        "baselines": [
            {"name": "mean", "metrics": {"validation": {"relative_rmse": 0.302}}},
            {"name": "linear", "metrics": {"validation": {"relative_rmse": 0.0512}}},
        ],
        "residuals": {
            "exact": False,
            "runs_test": 0.41,
            "spread_with_prediction": 0.0021,
            "columns": {"length": 0.31, "amplitude": 0.77, "bob mass [g]": 0.12},
            "findings": ["Scatter changes with the prediction (p = 0.002)."],
        },
        "confidence_level": 0.95,
        "stability_runs": 10,
        "search": {"engine": "operon", "evaluations": 2_000_000, "restarts": 8, "seed": 7},
    }


def evaluation() -> dict[str, Any]:
    """Return an evaluation.json on sixty sealed rows."""
    centres = np.linspace(1.0, 3.3, 6)
    return {
        "schema": "predictor-evaluation-v1",
        "task": "regression",
        "target": "period",
        "view": "final",
        "rows": 60,
        "rows_outside_domain": 1,
        "metrics": {
            "relative_rmse": 0.005391,
            "r2": 0.99964,
            "rmse": 0.01302,
            "mae": 0.01011,
            "max_abs_error": 0.0394,
            "nrmse_std": 0.0189,
        },
        "undefined": {},
        "definitions": {
            "relative_rmse": "RMSE divided by the root mean square of the true values about zero",
            "rmse": "root mean square error, in the unit of the target",
        },
        "baseline": {"predicts": "the mean", "metrics": {"relative_rmse": 0.2951, "rmse": 0.71}},
        "bins": [
            {
                "n": 10,
                "predicted_mean": float(one),
                "true_mean": float(one * 1.001),
                "residual_mean": float(one * 0.001),
                "residual_std": float(0.006 * one),
            }
            for one in centres
        ],
    }


def action(step: str, capability: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "step": step,
        "capability": capability,
        "status": "finished",
        "seconds": seconds,
        **more,
    }


def record() -> dict[str, Any]:
    """Return the run record of a run that met its criteria."""
    pins = {
        "symbolic_regression.search": f"symbolic_regression 0.1.0 search {DIGEST}",
        "evaluation.regression": f"evaluation 0.1.0 regression {DIGEST[::-1]}",
        "reporting.write": f"reporting 0.1.0 write {DIGEST[7:] + DIGEST[:7]}",
    }
    metrics = [
        ("relative_rmse", 0.005471, "reported", "symbolic_regression.search"),
        ("relative_rmse", 0.005391, "trusted", "evaluation.regression"),
        ("r2", 0.99964, "trusted", "evaluation.regression"),
    ]
    return {
        "run_id": "01jdz4m8q7x2",
        "title": "Pendulum period law",
        "status": "running",
        "delivery": "none",
        "goal": "Find a formula for the period of a pendulum from its length, amplitude and mass, "
        "within 2 % on unseen data.",
        "questions": [
            "Does the mass of the bob matter?",
            "How large is the effect of the amplitude?",
        ],
        "criteria": [
            {
                "metric": "relative_rmse",
                "op": "<=",
                "threshold": 0.02,
                "value": 0.005391,
                "trusted": True,
                "met": True,
                "reason": None,
            },
            {
                "metric": "r2",
                "op": ">=",
                "threshold": 0.99,
                "value": 0.99964,
                "trusted": False,
                "met": True,
                "reason": None,
            },
        ],
        "metrics": [
            dict(zip(("name", "value", "source", "capability"), one, strict=True))
            for one in metrics
        ],
        "budget": {
            "actions": {"used": 3, "limit": 20},
            "training_runs": {"used": 1, "limit": None},
            "cpu_hours": {"used": 0.0213, "limit": None},
            "wall_time": {"used": 41.7, "limit": 600},
            "failures": {"used": 0, "limit": None},
        },
        "artifacts": [
            {"name": "formulas.json", "type": "analysis_result", "sha256": DIGEST, "step": "fit"},
            {"name": "model.json", "type": "model", "sha256": DIGEST[::-1], "step": "fit"},
        ],
        "sealed_holdout_targets": {
            "data": {
                "target": "period",
                "reason": "named in the contract",
                "rows_train": ROWS,
                "rows_final": 60,
                "rows_verification": 0,
                "split": "fraction 0.2, seed 0",
            }
        },
        "label_isolation": "landlock+seccomp",
        "export": None,
        "contract": {"schema": "research-contract-v1", "title": "Pendulum period law", "seed": 7},
        "contract_digest": DIGEST,
        "seed": 7,
        "pins": pins,
        "versions": {"python": "3.11.7", "sciharness": "0.1.0", "numpy": "2.4.6"},
        "created": "2026-11-30T19:22:04Z",
        "inputs": [
            {
                "name": "data",
                "role": "labelled_table",
                "sha256": DIGEST,
                "bytes": 14_811,
                "table": {"target": "period", "ignore": ["note"], "weights": None},
                "sealed": {
                    "facts": {
                        "format": "text",
                        "delimiter": ";",
                        "decimal": ",",
                        "rows": 300,
                        "rows_dropped": 2,
                        "rows_repeated": 0,
                    }
                },
            },
        ],
        "actions": [
            action("fit", "symbolic_regression.search", 38.2, notes=["2,000,000 evaluations"]),
            action("judge", "evaluation.regression", 0.41),
        ],
        "holdout_queries": [
            {
                "input": "data",
                "target": "period",
                "look": 1,
                "predictor_digest": DIGEST,
                "replayed": False,
                "spent": False,
                "run_ids": ["01jdz4m8q7x2"],
            }
        ],
        "frozen": {"step": "fit", "digest": DIGEST},
        "undefined": {},
        "failure": "",
    }


def card() -> dict[str, Any]:
    return {
        "schema": "file-predictor-v1",
        "task": "regression",
        "out_of_domain": "flag",
        "limits": ["The noise of the period was taken to be the same for all rows."],
    }


KINDS = {"scan.part.json": "report_part", "fit.model_selection.json": "analysis_result"}
ARTIFACTS = {
    "fit.formulas.json": ("analysis_result", formulas),
    "fit.model_card.json": ("model_card", card),
    "judge.evaluation.json": ("predictor.evaluation", evaluation),
}


@frozen
class Written:
    """A written report."""

    html: str
    markdown: str
    folder: Path
    outcome: Outcome

    def plot(self, name: str) -> str:
        """Return the text of a plot."""
        return (self.folder / name).read_text(encoding="utf-8")


@frozen
class Given:
    """Everything a report gets; tests change parts of it."""

    run: Any
    artifacts: dict[str, Any]
    rows: Any
    columns: tuple[str, ...] = COLUMNS
    classes: tuple[str, ...] = ()
    units: dict[str, str] = field(
        factory=lambda: {"length": "m", "amplitude": "rad", "period": "s"}
    )


def standard() -> Given:
    artifacts = {name: make() for name, (_, make) in ARTIFACTS.items()}
    return Given(record(), artifacts, pendulum())


def write_report(folder: Path, given: Given) -> Written:
    """Write inputs to files, run the operation on them, and read what it wrote."""
    inputs = {"run": _file(folder, "run", "run", given.run)}
    for name, value in given.artifacts.items():
        kind = ARTIFACTS[name][0] if name in ARTIFACTS else KINDS.get(name, "OTHER")
        inputs[name] = _file(folder, name, kind, value)
    if given.rows is not None:
        inputs["data"] = _table(folder, given)
    outcome = write(WriteRequest(), Context(inputs=inputs, workspace=folder))
    out = folder / "outputs"
    return Written(
        (out / "report.html").read_text(encoding="utf-8"),
        (out / "report.md").read_text(encoding="utf-8"),
        out,
        outcome,
    )


def _file(folder: Path, name: str, kind: str, value: Any) -> Input:
    path = folder / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(json.dumps(value), encoding="utf-8")
    return Input(name, path, kind)


def _table(folder: Path, given: Given) -> Input:
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*given.columns, "period"])
        rows = given.rows.T.tolist()
        if given.classes:  # the last column holds positions of classes
            rows = [[*row[:-1], given.classes[int(row[-1])]] for row in rows]
        writer.writerows(rows)
    table = Table(
        target="period",
        features=given.columns,
        units=given.units,
        task="classification" if given.classes else "regression",
        classes=given.classes,
    )
    return Input("data", path, "DATASET", role="labelled_table", table=table)


@pytest.fixture(name="given")
def given_fixture() -> Given:
    """Return what a report of a successful run gets."""
    return standard()


@pytest.fixture(name="report")
def report_fixture(tmp_path: Path) -> Callable[[Given], Written]:
    """Return a function that writes a report."""
    return lambda given: write_report(tmp_path, given)
