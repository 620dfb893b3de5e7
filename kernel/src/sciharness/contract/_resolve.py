"""Explicit steps: each with its kind and its inputs, and the report at the end."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from sciharness.contract._matching import bindable_inputs, is_evaluator, is_report
from sciharness.contract._references import References, Use
from sciharness.contract._sealing import check_sealing
from sciharness.contract.artifact_types import HYPOTHESIS_KINDS
from sciharness.contract.findings import Findings, suggest
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract, Step
from sciharness.contract.steps import (
    CAPABILITY,
    FINAL,
    FINAL_DATA,
    FINAL_EVALUATION,
    REPORT_STEP,
    VISIBLE_EVALUATION,
    Binding,
    PlannedStep,
)
from sciharness.descriptors import Operation
from sciharness.plugin import InputSpec

ANY_INPUT = "*"


def resolve_steps(
    contract: Contract,
    operations: Mapping[str, Operation],
    findings: Findings,
    types: Mapping[str, str],
) -> tuple[PlannedStep, ...]:
    """Return the steps of a contract with their inputs bound, and the report at the end."""
    references = References(contract, operations, findings, types)
    resolver = _Resolver(contract, operations, findings, references)
    steps = []
    for index, step in enumerate(contract.steps or ()):
        planned = resolver.step(step, index)
        if planned is not None:
            steps.append(planned)
    check_sealing(contract, operations, steps, findings)
    reports = [step for step in steps if step.kind == REPORT_STEP]
    others = [step for step in steps if step.kind != REPORT_STEP]
    return (*others, *reports, *added_reports(contract, operations, steps))


def added_reports(
    contract: Contract, operations: Mapping[str, Operation], steps: list[PlannedStep]
) -> list[PlannedStep]:
    """Return a report step for each leased report that no step writes."""
    used = {step.operation for step in steps}
    taken = {step.id for step in steps} | {item.name for item in contract.inputs}
    added = []
    for name in contract.capabilities:
        operation = operations.get(name)
        if operation is not None and is_report(operation) and name not in used:
            step_id = free_name("report", taken)
            added.append(PlannedStep(step_id, name, REPORT_STEP))
            taken.add(step_id)
    return added


def input_of(name: str, specs: Mapping[str, InputSpec]) -> InputSpec | None:
    """Return what an operation says of an input; ``*`` speaks for names that it does not list."""
    if name in specs:
        return specs[name] if name != ANY_INPUT else None
    further = specs.get(ANY_INPUT)
    return evolve(further, name=name) if further is not None else None


def free_name(wanted: str, taken: set[str]) -> str:
    """Return ``wanted``, or it with the first number that makes it free."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}" in taken:
        number += 1
    return f"{wanted}_{number}"


@frozen
class _Resolver:
    contract: Contract
    operations: Mapping[str, Operation]
    findings: Findings
    references: References

    def step(self, step: Step, index: int) -> PlannedStep | None:
        path = self.findings.spot("steps", index, step.id, "id")
        if step.use not in self.contract.capabilities:
            hint = suggest(step.use, self.contract.capabilities, "Leased are")
            self.findings.problem(
                (*path, "use"),
                found=f"{step.use}, which is not leased",
                expected="one of `capabilities`",
                hint=f"{hint} If it is meant, add it to `capabilities`.",
            )
            return None
        operation = self.operations.get(step.use)
        if operation is None:
            return None
        self._check_workflow(operation, path)
        bindings = self._bindings(step, operation, index, path)
        kind = self._kind(step, operation, bindings)
        return PlannedStep(step.id, step.use, kind, bindings, step.params)

    def _check_workflow(self, operation: Operation, path: DocumentPath) -> None:
        made = [out.type for out in operation.outputs if out.type in HYPOTHESIS_KINDS]
        if made and not self.contract.workflow.hypothesis_verification:
            self.findings.problem(
                (*path, "use"),
                found=f"{operation.name}, which makes a {made[0]}",
                expected="hypothesis verification switched on",
                hint="Set workflow: {hypothesis_verification: true}.",
            )

    def _kind(self, step: Step, operation: Operation, bindings: Mapping[str, Binding]) -> str:
        if is_evaluator(operation):
            data = bindings.get("data")
            return FINAL_EVALUATION if data and data.view == FINAL else VISIBLE_EVALUATION
        if step.id == self.contract.holdout.generated_by:
            return FINAL_DATA
        return REPORT_STEP if is_report(operation) else CAPABILITY

    def _bindings(
        self, step: Step, operation: Operation, index: int, path: DocumentPath
    ) -> dict[str, Binding]:
        specs = {spec.name: spec for spec in bindable_inputs(operation)}
        bindings = {}
        for name, reference in step.inputs.items():
            place = (*path, "inputs", name)
            spec = input_of(name, specs)
            if spec is None:
                self.findings.problem(
                    place,
                    found=f"the input `{name}`",
                    expected=f"an input of {step.use}",
                    hint=suggest(name, specs, "It takes") or "It takes none.",
                    at_key=True,
                )
                continue
            bound = self.references.bind(Use(reference, spec, operation, place), index)
            if bound is not None:
                bindings[name] = bound
        for name, spec in specs.items():
            if not spec.optional and name not in step.inputs:
                self._miss(spec, step, path)
        return bindings

    def _miss(self, spec: InputSpec, step: Step, path: DocumentPath) -> None:
        kinds = f" ({' or '.join(spec.types)})" if spec.types else ""
        self.findings.problem(
            (*path, "inputs"),
            found=f"no input `{spec.name}`",
            expected=f"`{spec.name}`{kinds}, which {step.use} needs",
            hint=f"Add inputs: {{{spec.name}: NAME}}, an input or an earlier step.",
        )
