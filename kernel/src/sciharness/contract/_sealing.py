"""Rules about final evaluations that no single step shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sciharness.contract.findings import Findings, suggest
from sciharness.contract.records import Contract
from sciharness.contract.steps import FINAL_DATA, FINAL_EVALUATION, PlannedStep
from sciharness.descriptors import Operation


def check_sealing(
    contract: Contract,
    operations: Mapping[str, Operation],
    steps: Sequence[PlannedStep],
    findings: Findings,
) -> None:
    """Note generated final data that cannot be, and more looks than are allowed."""
    if contract.holdout.generated_by is not None:
        _check_generated(contract, operations, steps, findings)
    judged: dict[str, set[str]] = {}
    for step in steps:
        if step.kind == FINAL_EVALUATION and {"data", "predictor"} <= step.bindings.keys():
            data = step.bindings["data"].name
            judged.setdefault(data, set()).add(step.bindings["predictor"].name)
    for data, predictors in judged.items():
        if len(predictors) > contract.holdout.max_queries:
            findings.problem(
                ("holdout", "max_queries"),
                found=f"final evaluations of {len(predictors)} predictors on `{data}`",
                expected=f"at most {contract.holdout.max_queries} (holdout.max_queries)",
                hint="Judge the others on `.train` rows, or raise it knowing what that costs.",
            )


def _check_generated(
    contract: Contract,
    operations: Mapping[str, Operation],
    steps: Sequence[PlannedStep],
    findings: Findings,
) -> None:
    path = ("holdout", "generated_by")
    name = contract.holdout.generated_by or ""
    known = [step.id for step in contract.steps or ()]
    if name not in known:
        hint = suggest(name, known, "Steps")
        findings.problem(path, found=f"`{name}`", expected="the ID of a step", hint=hint)
        return
    for step in steps:
        if step.id == name and step.kind == FINAL_DATA:
            _check_maker(step, operations[step.operation], findings)
            _check_same_predictor(step, steps, findings)


def _check_maker(step: PlannedStep, operation: Operation, findings: Findings) -> None:
    path = ("holdout", "generated_by")
    if not operation.final_data:
        found = f"`{step.id}`, a step of {operation.name}"
        expected = "a step whose operation declares that it makes final data"
        findings.problem(path, found=found, expected=expected)
    if "predictor" not in step.bindings:
        found = f"`{step.id}` without the input `predictor`"
        hint = "The step freezes the predictor before it makes the data it is judged by."
        findings.problem(path, found=found, expected="a step that takes `predictor`", hint=hint)


def _check_same_predictor(
    maker: PlannedStep, steps: Sequence[PlannedStep], findings: Findings
) -> None:
    frozen = maker.bindings.get("predictor")
    for index, step in enumerate(steps):
        data, judged = step.bindings.get("data"), step.bindings.get("predictor")
        if step.kind != FINAL_EVALUATION or data is None or data.name != maker.id:
            continue
        if frozen is not None and judged is not None and judged.name != frozen.name:
            path = (*findings.spot("steps", index, step.id, "id"), "inputs", "predictor")
            found = f"`{judged.name}`"
            expected = f"`{frozen.name}`, for which `{maker.id}` makes the final data"
            findings.problem(path, found=found, expected=expected)
