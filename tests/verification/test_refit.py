"""Hypotheses, plans, refits and claims, run as operations on files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input, Table
from sciharness.errors import DataError
from sciharness_publisher.expression import parse, render
from sciharness_verification.plugin import (
    ClaimRequest,
    HypothesisRequest,
    PlanRequest,
    RefitRequest,
    claim,
    hypothesise,
    plan,
    refit,
)
from sciharness_verification.refitting import constants, fitted_places, with_constants

FORMULA = "2.0*x + 3.0*exp(-0.5*t)"


FITTED = (
    {"value": 2.0, "low": 1.9, "high": 2.1},
    {"value": 3.0, "low": 2.8, "high": 3.2},
    {"value": -0.5, "low": -0.55, "high": -0.45},
)


def formulas(tmp_path: Path, formula: str = FORMULA, fitted: Sequence[Any] = FITTED) -> Input:
    """Return formulas.json with one candidate whose true constants are 2, 3 and -0.5."""
    candidate = {
        "formula": formula,
        "constants": list(fitted),
        "domain": {"x": [0.0, 5.0], "t [s]": [0.0, 4.0]},
    }
    record = {
        "schema": "formulas-v1",
        "target": "y",
        "features": ["x", "t [s]"],
        "symbols": {"t": "t [s]"},
        "candidates": [candidate],
        "chosen": 0,
    }
    path = tmp_path / "formulas.json"
    path.write_text(json.dumps(record))
    return Input("formulas", path, "analysis_result", meta={"artifacts": ["f" * 64]})


def table(tmp_path: Path, rows: int = 80, shift: float = 0.0) -> Input:
    """Return noisy rows of the law; ``shift`` breaks it."""
    draw = np.random.default_rng(3)
    x, t = draw.uniform(0, 5, rows), draw.uniform(0, 4, rows)
    y = 2.0 * x + 3.0 * np.exp(-0.5 * t) + shift * x**2 + draw.normal(0, 0.01, rows)
    path = tmp_path / "rows.csv"
    lines = [
        f"{a!r},{b!r},{c!r}" for a, b, c in zip(x.tolist(), t.tolist(), y.tolist(), strict=True)
    ]
    path.write_text("\n".join(["x,t [s],y", *lines]) + "\n")
    described = Table(target="y", features=("x", "t [s]"), dialect={})
    return Input("data", path, "DATASET", role="labelled_table", table=described)


def run(operation: Any, request: Any, inputs: Mapping[str, Input], folder: Path) -> Any:
    """Run an operation in ``folder`` and return its outcome."""
    folder.mkdir(exist_ok=True)
    return operation(request, Context(inputs=inputs, workspace=folder, seed=5))


def written(folder: Path, name: str, type: str, letter: str) -> Input:
    """Return an artifact of an earlier operation as an input with an artifact ID."""
    return Input(name, folder / "outputs" / name, type, meta={"artifacts": [letter * 64]})


@pytest.fixture
def hypothesis(tmp_path: Path) -> Input:
    run(hypothesise, HypothesisRequest(0.01), {"formulas": formulas(tmp_path)}, tmp_path / "h")
    return written(tmp_path / "h", "hypothesis.json", "hypothesis", "a")


@pytest.fixture
def approved(tmp_path: Path, hypothesis: Input) -> Input:
    run(plan, PlanRequest(), {"hypothesis": hypothesis}, tmp_path / "p")
    return written(tmp_path / "p", "verification_plan.json", "verification_plan", "b")


def test_a_true_law_is_verified_on_new_rows(
    tmp_path: Path, hypothesis: Input, approved: Input
) -> None:
    inputs = {"plan": approved, "hypothesis": hypothesis, "data": table(tmp_path)}

    outcome = run(refit, RefitRequest(), inputs, tmp_path / "r")

    assert outcome.metrics["hypothesis_verified"] == 1.0
    assert outcome.metrics["constants_confirmed"] == 1.0
    # Noise 0.01 on values of size about 5: the relative error is about 0.002.
    assert outcome.metrics["refit_relative_rmse"] == pytest.approx(0.0017, rel=0.3)
    result = json.loads((tmp_path / "r/outputs/verification_result.json").read_text())
    assert constants(parse(result["refitted_formula"])) == pytest.approx([2, 3, -0.5], abs=0.02)


def test_what_was_not_fitted_stays_as_it_is(tmp_path: Path) -> None:
    """An exponent, and a plain value that the search recognised, are no constants to fit."""
    text = "2*x - (-3)*exp(-0.5*t) + 0*x**2"
    fitted = [{"value": 3.0, "low": 2.8, "high": 3.2}]
    given = {"formulas": formulas(tmp_path, text, fitted)}
    run(hypothesise, HypothesisRequest(0.01), given, tmp_path / "h")
    made = written(tmp_path / "h", "hypothesis.json", "hypothesis", "a")
    run(plan, PlanRequest(), {"hypothesis": made}, tmp_path / "p")
    approved = written(tmp_path / "p", "verification_plan.json", "verification_plan", "b")
    inputs = {"plan": approved, "hypothesis": made, "data": table(tmp_path)}

    outcome = run(refit, RefitRequest(), inputs, tmp_path / "r")

    assert outcome.metrics["constants_confirmed"] == outcome.metrics["hypothesis_verified"] == 1.0
    result = json.loads((tmp_path / "r/outputs/verification_result.json").read_text())
    again = constants(parse(result["refitted_formula"]))
    assert [again[0], *again[2:]] == [2, -0.5, 0, 2]
    assert again[1] == pytest.approx(-3, abs=0.02) and again[1] != -3


@pytest.mark.parametrize(
    ("text", "values", "places"),
    [
        ("2*x**2 + 2", [2.0], [0]),
        ("0.5*x**2 - 3.7*y", [-3.7], [2]),
        ("x/y", [], []),
        ("2*x + 3", [5.0], [0, 1]),
    ],
)
def test_fitted_numbers_are_found_in_the_text(
    text: str, values: Sequence[float], places: Sequence[int]
) -> None:
    assert fitted_places(parse(text), [{"value": value} for value in values]) == places


def test_a_broken_law_is_not_verified_and_supports_no_claim(
    tmp_path: Path, hypothesis: Input, approved: Input
) -> None:
    inputs = {"plan": approved, "hypothesis": hypothesis, "data": table(tmp_path, shift=0.3)}

    outcome = run(refit, RefitRequest(), inputs, tmp_path / "r")

    assert outcome.metrics["hypothesis_verified"] == 0.0
    evidence = written(tmp_path / "r", "evidence.json", "evidence", "c")
    with pytest.raises(DataError, match="does not support"):
        run(claim, ClaimRequest("It holds."), {"evidence": evidence}, tmp_path / "c")


def test_a_claim_names_its_evidence_by_artifact_id(
    tmp_path: Path, hypothesis: Input, approved: Input
) -> None:
    inputs = {"plan": approved, "hypothesis": hypothesis, "data": table(tmp_path)}
    run(refit, RefitRequest(), inputs, tmp_path / "r")
    evidence = written(tmp_path / "r", "evidence.json", "evidence", "c")

    run(claim, ClaimRequest("It holds."), {"evidence": evidence}, tmp_path / "c")

    record = json.loads((tmp_path / "c/outputs/scientific_claim.json").read_text())
    assert record["evidence"] == ["c" * 64]
    assert record["hypothesis"] == ["a" * 64]


def test_a_plan_for_another_hypothesis_is_refused(
    tmp_path: Path, hypothesis: Input, approved: Input
) -> None:
    other = Input("hypothesis", hypothesis.path, "hypothesis", meta={"artifacts": ["d" * 64]})
    inputs = {"plan": approved, "hypothesis": other, "data": table(tmp_path)}

    with pytest.raises(DataError, match="another hypothesis"):
        run(refit, RefitRequest(), inputs, tmp_path / "r")


def test_a_revised_hypothesis_is_the_next_version(tmp_path: Path, hypothesis: Input) -> None:
    inputs = {"formulas": formulas(tmp_path), "previous": hypothesis}

    run(hypothesise, HypothesisRequest(0.02), inputs, tmp_path / "h2")

    record = json.loads((tmp_path / "h2/outputs/hypothesis.json").read_text())
    assert (record["version"], record["revises"]) == (2, ["a" * 64])


def test_too_few_rows_are_refused(tmp_path: Path, hypothesis: Input, approved: Input) -> None:
    inputs = {"plan": approved, "hypothesis": hypothesis, "data": table(tmp_path, rows=8)}

    with pytest.raises(DataError, match="8 verification rows"):
        run(refit, RefitRequest(), inputs, tmp_path / "r")


@pytest.mark.parametrize("text", [FORMULA, "-0.5*x**2 - 3.0", "x", "abs(-1.5/x) - (-2.0)"])
def test_constants_go_back_where_they_came_from(text: str) -> None:
    tree = parse(text)

    assert render(with_constants(tree, constants(tree))) == render(tree)
    assert constants(with_constants(tree, [7.0] * len(constants(tree)))) == [7.0] * len(
        constants(tree)
    )
