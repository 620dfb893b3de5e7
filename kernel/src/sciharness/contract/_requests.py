"""Requests and constraints, checked by the schemas of the leased operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sciharness.contract.constraints import broken_by
from sciharness.contract.findings import Findings, suggest
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import ConstraintRule, Contract
from sciharness.contract.steps import PlannedStep
from sciharness.descriptors import Operation
from sciharness.requests import apply_defaults, check_request


def check_requests(
    contract: Contract,
    operations: Mapping[str, Operation],
    planned: Iterable[PlannedStep],
    findings: Findings,
) -> None:
    """Note every request that does not fit its schema or breaks a constraint.

    Explicit steps are checked whether or not they could be planned.
    """
    for index, step in enumerate(contract.steps or ()):
        if step.use in operations:
            path = (*findings.spot("steps", index, step.id, "id"), "with")
            request = PlannedStep(step.id, step.use, params=step.params)
            problems = check_request(operations[step.use].request_schema, step.params)
            findings.adopt(problems, path)
            if not problems:
                _check_rules(contract, operations[step.use], request, path, findings)
    explicit = {step.id for step in contract.steps or ()}
    for added in planned:
        if added.id not in explicit:
            _check_derived(contract, operations[added.operation], added, findings)


def _check_derived(
    contract: Contract, operation: Operation, step: PlannedStep, findings: Findings
) -> None:
    """Check a step that the contract does not write out: it has defaults only."""
    index = contract.capabilities.index(operation.name)
    path = findings.spot("capabilities", index, operation.name)
    problems = check_request(operation.request_schema, step.params)
    if not problems:
        _check_rules(contract, operation, step, path, findings)
        return
    needed = ", ".join(problem.path for problem in problems)
    hint = "Write `steps` that give them in `with`."
    found = f"no parameters for {operation.name}, which needs {needed}"
    findings.problem(path, found=found, expected="a request", hint=hint, kind="request")


def check_constraints(
    contract: Contract, operations: Mapping[str, Operation], findings: Findings
) -> None:
    """Note rules about capabilities, fields or values that do not exist."""
    for name, rules in contract.constraints.items():
        path = ("constraints", name)
        if name not in contract.capabilities:
            hint = suggest(name, contract.capabilities, "Leased are")
            found, expected = f"the capability {name}", "one of `capabilities`"
            findings.problem(path, found=found, expected=expected, hint=hint, at_key=True)
        elif name in operations:
            schema = operations[name].request_schema
            for index, rule in enumerate(rules):
                _check_rule(schema, rule, (*path, index), findings)


def _check_rule(
    schema: Mapping[str, Any],  # Any: JSON Schema
    rule: ConstraintRule,
    path: DocumentPath,
    findings: Findings,
) -> None:
    partial = {**schema, "required": []}
    for part, values in (("when", rule.when), ("require", rule.require)):
        findings.adopt(check_request(partial, values), (*path, part))


def _check_rules(
    contract: Contract,
    operation: Operation,
    step: PlannedStep,
    path: DocumentPath,
    findings: Findings,
) -> None:
    request = apply_defaults(operation.request_schema, step.params)
    request.setdefault("seed", contract.seed)
    for index, rule in enumerate(contract.constraints.get(operation.name, ())):
        if broken := broken_by(rule, request):
            hint = f'It is asked for by constraints["{operation.name}"][{index}].'
            found = f"the step `{step.id}`: {broken}"
            findings.problem(path, found=found, expected="a request within the rule", hint=hint)
