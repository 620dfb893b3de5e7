"""Hypotheses, plans and claims as JSON artifacts that name what they stand on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sciharness import Context, Input, Outcome, canonical_json
from sciharness.errors import DataError

if TYPE_CHECKING:
    from sciharness_verification.plugin import HypothesisRequest, PlanRequest

Record = dict[str, Any]  # Any: JSON values


def write_hypothesis(request: HypothesisRequest, context: Context) -> Outcome:
    """Write the hypothesis that a candidate formula holds within the tolerance."""
    formulas = read(context.inputs["formulas"], "formulas-v1")
    index = formulas["chosen"] if request.candidate is None else request.candidate
    candidates = formulas["candidates"]
    if not 0 <= index < len(candidates):
        raise DataError(
            f"there is no candidate {index}",
            where="formulas.json",
            hint=f"It has the candidates 0 to {len(candidates) - 1}.",
        )
    chosen = candidates[index]
    statement = request.statement or (
        f"{formulas['target']} = {chosen['formula']} within a relative RMSE of"
        f" {request.tolerance:g} inside its domain"
    )
    record = {
        "schema": "hypothesis-v1",
        **_version(context.inputs.get("previous")),
        "statement": statement,
        "formula": chosen["formula"],
        "target": formulas["target"],
        "features": formulas["features"],
        "symbols": formulas.get("symbols", {}),
        "constants": chosen["constants"],
        "domain": chosen["domain"],
        "tolerance": request.tolerance,
        "formulas": artifact_ids(context.inputs["formulas"]),
    }
    write(context, "hypothesis.json", "hypothesis", record)
    return Outcome(notes=(f"version {record['version']}: {statement}",))


def _version(previous: Input | None) -> Record:
    if previous is None:
        return {"version": 1, "revises": []}
    earlier = read(previous, "hypothesis-v1")
    return {"version": int(earlier["version"]) + 1, "revises": artifact_ids(previous)}


def write_plan(request: PlanRequest, context: Context) -> Outcome:
    """Write the plan that tests a hypothesis; its bytes are what a person approves."""
    hypothesis = read(context.inputs["hypothesis"], "hypothesis-v1")
    record = {
        "schema": "verification-plan-v1",
        "hypothesis": artifact_ids(context.inputs["hypothesis"]),
        "version": hypothesis["version"],
        "method": request.method,
        "rows": "verification rows, which no search has seen",
        "refit_share": request.refit_share,
        "seed": context.seed,
        "accept": {
            "verification_relative_rmse": hypothesis["tolerance"],
            "refit_relative_rmse": hypothesis["tolerance"],
        },
    }
    write(context, "verification_plan.json", "verification_plan", record)
    return Outcome(notes=("to be approved by a person before it is carried out",))


def write_claim(text: str, context: Context) -> Outcome:
    """Write a claim that stands on evidence; evidence that failed supports none."""
    source = context.inputs["evidence"]
    evidence = read(source, "evidence-v1")
    if not evidence["supports"]:
        raise DataError(
            "the evidence does not support the hypothesis",
            where="evidence.json",
            hint="Revise the hypothesis, plan anew and verify again.",
        )
    record = {
        "schema": "scientific-claim-v1",
        "claim": text,
        "hypothesis": evidence["hypothesis"],
        "evidence": artifact_ids(source),
    }
    write(context, "scientific_claim.json", "scientific_claim", record)
    return Outcome(notes=(text,))


def read(source: Input, schema: str) -> Record:
    """Return the record of an input.

    Raises:
        DataError: it is no JSON object of this schema.
    """
    try:
        record = json.loads(source.path.read_text("utf-8"))
    except ValueError as fault:
        raise DataError("is no JSON", where=source.name) from fault
    found = record.get("schema") if isinstance(record, dict) else None
    if found != schema:
        raise DataError(f"expected schema {schema}, found {found!r}", where=source.name)
    return dict(record)


def write(context: Context, name: str, type: str, record: Record) -> None:
    """Write a record as canonical JSON."""
    context.output(name, type).write_bytes(canonical_json(record) + b"\n")


def artifact_ids(source: Input) -> list[str]:
    """Return the IDs of the artifacts behind an input; empty outside a run."""
    return [str(item) for item in source.meta.get("artifacts", [])]
