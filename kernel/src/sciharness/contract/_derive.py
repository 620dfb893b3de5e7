"""Derived steps: each leased capability once, by group, inputs bound by type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import define, field

from sciharness.contract._matching import (
    GENERAL_ROLES,
    LABELLED,
    VERIFICATION_GROUP,
    bindable_inputs,
    fits_as_table,
    fits_role,
    fits_type,
    hint_about_target,
    input_type,
    is_evaluator,
    is_report,
    is_split,
    makes_predictor,
    visible_view,
    wants_predictor,
)
from sciharness.contract._resolve import free_name
from sciharness.contract.findings import Findings
from sciharness.contract.records import ROLES, Contract, ContractInput
from sciharness.contract.steps import (
    CAPABILITY,
    FINAL,
    FINAL_EVALUATION,
    REPORT_STEP,
    VERIFICATION,
    VISIBLE_EVALUATION,
    Binding,
    PlannedStep,
)
from sciharness.descriptors import Operation
from sciharness.plugin import GROUPS, InputSpec


def derive_steps(
    contract: Contract,
    operations: Mapping[str, Operation],
    findings: Findings,
    types: Mapping[str, str],
) -> tuple[PlannedStep, ...]:
    """Return one step for each leased capability, in the order of the groups.

    Nothing is derived while a capability is unavailable: what it would have
    made is not known.
    """
    if any(name not in operations for name in contract.capabilities):
        return ()
    if contract.holdout.generated_by is not None:
        hint = "Write `steps`, with the step that takes `predictor` and makes the data."
        found = f"`{contract.holdout.generated_by}`, but no steps"
        path = ("holdout", "generated_by")
        findings.problem(path, found=found, expected="the ID of a step", hint=hint)
        return ()
    deriver = _Deriver(contract, operations, findings, types)
    for name in ordered_capabilities(contract, operations):
        deriver.add(name)
    return tuple(deriver.steps)


def ordered_capabilities(
    contract: Contract, operations: Mapping[str, Operation]
) -> tuple[str, ...]:
    """Return the leased capabilities in the order in which they run."""
    leased = [name for name in contract.capabilities if _runs(operations[name], contract)]
    return tuple(sorted(leased, key=lambda name: _rank(operations[name])))


def _runs(operation: Operation, contract: Contract) -> bool:
    verifies = operation.group == VERIFICATION_GROUP
    return contract.workflow.hypothesis_verification or not verifies


def _rank(operation: Operation) -> tuple[bool, int]:
    # The report itself comes after everything it may show.
    place = GROUPS.index(operation.group) if operation.group in GROUPS else len(GROUPS)
    return is_report(operation), place


@define
class _Deriver:
    contract: Contract
    operations: Mapping[str, Operation]
    findings: Findings
    types: Mapping[str, str]
    steps: list[PlannedStep] = field(factory=list)
    gaps: set[str] = field(factory=set)  # capabilities left out because of a problem

    def add(self, name: str) -> None:
        operation = self.operations[name]
        taken = {step.id for step in self.steps} | {item.name for item in self.contract.inputs}
        step_id = free_name(operation.operation, taken)
        if is_report(operation):
            self.steps.append(PlannedStep(step_id, name, REPORT_STEP))
            return
        bindings = self._bindings(operation)
        if bindings is None:
            self.gaps.add(name)
            return
        kind = CAPABILITY
        if is_evaluator(operation):
            final = bindings["data"].view == FINAL
            kind = FINAL_EVALUATION if final else VISIBLE_EVALUATION
        self.steps.append(PlannedStep(step_id, name, kind, bindings))

    def _bindings(self, operation: Operation) -> dict[str, Binding] | None:
        bindings: dict[str, Binding] = {}
        sound = True
        for spec in bindable_inputs(operation):
            if spec.optional and not spec.types:
                continue  # it would take anything, so nothing tells that it is meant
            candidates = self._candidates(spec, operation)
            if len(candidates) == 1:
                bindings[spec.name] = candidates[0]
            elif candidates or not spec.optional:
                sound = self._refuse(spec, operation, candidates) and sound
        return bindings if sound else None

    def _candidates(self, spec: InputSpec, operation: Operation) -> list[Binding]:
        if wants_predictor(spec):
            makers = [s for s in self.steps if makes_predictor(self.operations[s.operation])]
            trained = [Binding("step", step.id) for step in makers]
            given = [] if is_evaluator(operation) else self._inputs(spec, operation)
            return trained or given
        inputs = self._inputs(spec, operation)
        if is_evaluator(operation):
            return inputs
        return (
            [*inputs, *self._made(spec, fits_type)]
            or self._made(spec, fits_as_table)
            or self._inputs_of_type(spec, operation)
        )

    def _made(self, spec: InputSpec, fits: Callable[[InputSpec, str], bool]) -> list[Binding]:
        return [
            Binding("step", step.id, output.name)
            for step in self.steps
            for output in self.operations[step.operation].outputs
            if fits(spec, output.type)
        ]

    def _inputs(self, spec: InputSpec, operation: Operation) -> list[Binding]:
        """Return the inputs of a fitting role, else those of a fitting type and no other role."""
        if not spec.types:
            return [self._bind_input(item, operation) for item in self.contract.inputs]
        fitting = [item for item in self.contract.inputs if fits_role(spec, item)]
        if is_evaluator(operation):
            fitting = [item for item in fitting if operation.task in ("", item.task)]
        bound = [self._bind_input(item, operation) for item in fitting]
        return bound or self._inputs_of_type(spec, operation, GENERAL_ROLES)

    def _inputs_of_type(
        self, spec: InputSpec, operation: Operation, roles: tuple[str, ...] = ROLES
    ) -> list[Binding]:
        return [
            self._bind_input(item, operation)
            for item in self.contract.inputs
            if item.role in roles and fits_type(spec, input_type(item, self.types))
        ]

    def _bind_input(self, item: ContractInput, operation: Operation) -> Binding:
        view = visible_view(item, self.contract)
        if is_split(item, self.contract.holdout):
            if is_evaluator(operation):
                view = FINAL
            elif operation.group == VERIFICATION_GROUP and self.contract.holdout.verification:
                view = VERIFICATION
        return Binding("input", item.name, None, view)

    def _refuse(self, spec: InputSpec, operation: Operation, candidates: list[Binding]) -> bool:
        if not candidates and self.gaps:
            return False  # what it misses may be what another problem has kept out
        index = self.contract.capabilities.index(operation.name)
        path = self.findings.spot("capabilities", index, operation.name)
        expected = f"one {' or '.join(spec.types) or 'input'} for `{spec.name}`"
        found = f"nothing that {operation.name} could take"
        hint = "Add such an input, or write `steps` that say which input goes where."
        if candidates:
            names = ", ".join(f"`{_reference(binding)}`" for binding in candidates)
            found = f"{len(candidates)} candidates for {operation.name}: {names}"
            hint = "Write `steps` that say which input goes where."
        elif is_evaluator(operation) and wants_predictor(spec):
            hint = "Lease a capability that trains a predictor."
        elif is_evaluator(operation):
            expected = f"one {LABELLED} of task {operation.task} for `data`"
            hint = f"Add an input with role {LABELLED}, or do not lease {operation.name}."
        if not candidates:
            hint = hint_about_target(spec, self.contract.inputs) or hint
        self.findings.problem(path, found=found, expected=expected, hint=hint)
        return False


def _reference(binding: Binding) -> str:
    return f"{binding.name}.{binding.artifact}" if binding.artifact else binding.name
