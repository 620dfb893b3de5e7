"""Contracts, operations and leases that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from sciharness.contract.document import parse_document
from sciharness.contract.preflight import Preflight, preflight
from sciharness.contract.read import examine_document
from sciharness.descriptors import Operation
from sciharness.plugin import InputSpec, OutputSpec

PREDICTOR = (
    OutputSpec("model.json", "model"),
    OutputSpec("inference.py", "inference.source.python"),
    OutputSpec("model_card.json", "model_card"),
)

EMPTY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

SEARCH = Operation(
    "symbolic_regression",
    "search",
    "capability",
    "Find formulas.",
    "execution and training",
    {
        "type": "object",
        "properties": {
            "max_evaluations": {"type": "integer", "minimum": 1, "default": 1000},
            "loss": {"enum": ["mse", "mae"], "default": "mse"},
        },
        "additionalProperties": False,
    },
    inputs=(InputSpec("data", ("labelled_table", "DATASET")),),
    outputs=(*PREDICTOR, OutputSpec("formulas.json", "analysis_result")),
    metrics=("train_r2", "complexity"),
)
REGRESSION = Operation(
    "evaluation",
    "regression",
    "evaluator",
    "Judge numbers.",
    "evaluation",
    EMPTY,
    metrics=("relative_rmse", "r2", "rmse"),
    trusted_metrics=("relative_rmse", "r2", "rmse"),
    task="regression",
)
CLASSIFICATION = Operation(
    "evaluation",
    "classification",
    "evaluator",
    "Judge classes.",
    "evaluation",
    EMPTY,
    metrics=("balanced_accuracy",),
    trusted_metrics=("balanced_accuracy",),
    task="classification",
)
REPORT = Operation(
    "reporting",
    "write",
    "capability",
    "Write the report.",
    "report and visualisation",
    EMPTY,
    inputs=(InputSpec("run"),),
    outputs=(OutputSpec("report.md", "scientific_report"),),
)
DESCRIBE = Operation(
    "tabular",
    "describe",
    "capability",
    "Describe a table.",
    "analysis",
    EMPTY,
    inputs=(InputSpec("data", ("labelled_table", "table")),),
    outputs=(OutputSpec("description.json", "analysis_result"),),
)
REFIT = Operation(
    "verification",
    "refit",
    "capability",
    "Refit on rows the search did not use.",
    "knowledge and verification",
    EMPTY,
    inputs=(
        InputSpec("data", ("labelled_table",)),
        InputSpec("formulas", ("analysis_result",)),
    ),
    outputs=(OutputSpec("verification.json", "verification_result"),),
    metrics=("refit_r2",),
)
GENERATE = Operation(
    "beam",
    "generate",
    "capability",
    "Track particles.",
    "domain experiments",
    {
        "type": "object",
        "properties": {"role": {"enum": ["training", "evaluation"]}, "turns": {"type": "integer"}},
        "required": ["role"],
        "additionalProperties": False,
    },
    inputs=(InputSpec("lattice", ("lattice",)), InputSpec("predictor", ("predictor",), True)),
    outputs=(OutputSpec("points.csv", "DATASET"),),
    metrics=("survived",),
    final_data=True,
)
OPERATIONS = {
    operation.name: operation
    for operation in (
        SEARCH,
        REGRESSION,
        CLASSIFICATION,
        REPORT,
        DESCRIBE,
        REFIT,
        GENERATE,
    )
}


@frozen
class Lease:
    """A lease as the installation gives it: all trust is granted unless a test says otherwise."""

    operation: Operation
    trusted_metrics: frozenset[str]
    trusted_labels: bool = True


def lease_all(**changes: Any) -> dict[str, Lease]:
    leases = {
        name: Lease(operation, frozenset(operation.trusted_metrics))
        for name, operation in OPERATIONS.items()
    }
    return {name: evolve(lease, **changes) for name, lease in leases.items()}


BASE = """\
schema: research-contract-v1
title: Pendulum period law
goal: Find a formula for the period.
inputs:
  - {name: data, path: pendulum.csv, role: labelled_table, target: period}
capabilities: [symbolic_regression.search, evaluation.regression, reporting.write]
acceptance:
  - {metric: relative_rmse, op: "<=", value: 0.02, trusted: true}
"""

STEPS = """\
steps:
  - {id: fit, use: symbolic_regression.search, inputs: {data: data}, with: {max_evaluations: 50}}
  - {id: judge, use: evaluation.regression, inputs: {predictor: fit, data: data}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the data file of the base contract."""
    rows = "".join(f"{i / 10},{2 * (i / 10) ** 0.5}\n" for i in range(1, 40))
    (tmp_path / "pendulum.csv").write_text("length,period\n" + rows)
    return tmp_path


@pytest.fixture
def look(folder: Path) -> Callable[..., Preflight]:
    """Preflight of a contract text in the folder with the data file, problems of reading first."""

    def run(text: str, *, without: tuple[str, ...] = (), **options: Any) -> Preflight:
        document = parse_document(text, "contract.yaml")
        reading = examine_document(document)
        granted = options.pop("leases", None) or lease_all()
        known = {name: lease for name, lease in granted.items() if name not in without}
        assert reading.draft is not None
        found = preflight(
            reading.draft, folder, known, document=document, doubtful=reading.doubtful, **options
        )
        return evolve(found, problems=(*reading.problems, *found.problems))

    return run


@pytest.fixture
def operations() -> dict[str, Operation]:
    """All operations of the tests by capability name."""
    return dict(OPERATIONS)


@pytest.fixture
def leases() -> Callable[..., dict[str, Lease]]:
    """Leases of all operations; keywords change each of them."""
    return lease_all


@pytest.fixture
def base() -> str:
    """A contract that derives its steps."""
    return BASE


@pytest.fixture
def steps() -> str:
    """Explicit steps that go with the base contract."""
    return STEPS
