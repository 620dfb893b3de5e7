"""Proposals of a reasoner, held to the rules for the steps of a contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from sciharness.contract._matching import bindable_inputs, is_report
from sciharness.contract._resolve import free_name, resolve_steps
from sciharness.contract.findings import Findings
from sciharness.contract.records import Contract, Step
from sciharness.contract.steps import PlannedStep
from sciharness.descriptors import Operation
from sciharness.problems import Problem

__all__ = ["bindable_inputs", "free_name", "is_report", "plan_proposal"]


def plan_proposal(
    contract: Contract,
    operations: Mapping[str, Operation],
    earlier: Sequence[Step],
    proposed: Step,
    types: Mapping[str, str],
) -> tuple[PlannedStep | None, tuple[Problem, ...]]:
    """Return the proposed step with its inputs bound, or the problems it has.

    It is judged as if it stood in the contract after the ``earlier`` steps that
    finished: what it may bind, which rows it may see and how often final labels
    may be looked at are the same rules.
    """
    operation = operations[proposed.use]
    if is_report(operation):
        return None, (Problem("request", path="use", found="a report, written at the end"),)
    findings = Findings()
    given = evolve(contract, steps=(*earlier, proposed))
    planned = resolve_steps(given, operations, findings, types)
    if findings.problems:
        place = f"steps[{len(earlier)}]"
        return None, tuple(
            evolve(one, path=one.path.removeprefix(place).lstrip(".")) for one in findings.problems
        )
    return next(step for step in planned if step.id == proposed.id), ()
