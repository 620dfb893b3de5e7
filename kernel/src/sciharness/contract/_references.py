"""References of steps: which input or artifact is meant, and whether it may be seen."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from sciharness.contract._matching import (
    LABELLED,
    VERIFICATION_GROUP,
    fits_as_table,
    fits_role,
    fits_type,
    fitting_outputs,
    hint_about_target,
    input_type,
    is_evaluator,
    is_split,
    makes_predictor,
    visible_view,
    wants_predictor,
)
from sciharness.contract.findings import Findings, suggest
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract, ContractInput, Step
from sciharness.contract.steps import FINAL, TRAIN, VERIFICATION, Binding
from sciharness.descriptors import Operation
from sciharness.plugin import InputSpec


@frozen
class Use:
    """One place where a step names what it takes: for which input of which operation."""

    reference: str
    spec: InputSpec
    operation: Operation
    path: DocumentPath

    @property
    def name(self) -> str:
        """The input or step that is named."""
        return self.reference.partition(".")[0]

    @property
    def part(self) -> str:
        """What stands after the first dot: a view or an artifact."""
        return self.reference.partition(".")[2]

    @property
    def wanted(self) -> str:
        """What would fit, for messages."""
        return " or ".join(self.spec.types) or "an artifact"


@frozen
class References:
    """Turns references of steps into bindings; problems go to ``findings``."""

    contract: Contract
    operations: Mapping[str, Operation]
    findings: Findings
    types: Mapping[str, str]

    def bind(self, use: Use, index: int) -> Binding | None:
        """Return what a reference in the step at ``index`` means, ``None`` after a problem."""
        steps = self.contract.steps or ()
        for item in self.contract.inputs:
            if item.name == use.name:
                return self._bind_input(item, use)
        for step in steps[:index]:
            if step.id == use.name:
                return self._bind_step(step, use)
        if any(step.id == use.name for step in steps):
            found = f"the step `{use.name}`, which does not come before"
            hint = "Steps run in the order in which they stand."
            return self._refuse(use, found, "an earlier step", hint)
        known = [*(item.name for item in self.contract.inputs), *(s.id for s in steps[:index])]
        hint = suggest(use.name, known, "Known here")
        return self._refuse(use, f"`{use.name}`", "an input or an earlier step", hint)

    def _refuse(self, use: Use, found: str, expected: str, hint: str = "") -> Binding | None:
        """Note a problem and return nothing, as the binding that could not be made."""
        self.findings.problem(use.path, found=found, expected=expected, hint=hint)
        return None

    def _bind_input(self, item: ContractInput, use: Use) -> Binding | None:
        if is_evaluator(use.operation):
            return self._bind_judged(item, use)
        kind = input_type(item, self.types)
        if use.spec.types and not fits_role(use.spec, item) and not fits_type(use.spec, kind):
            found = f"the input `{item.name}` of role {item.role} and type {kind}"
            return self._refuse(use, found, use.wanted, hint_about_target(use.spec, [item]))
        if use.part == "":
            return Binding("input", item.name, None, visible_view(item, self.contract))
        if use.part == TRAIN and item.role == LABELLED:
            return Binding("input", item.name, None, visible_view(item, self.contract))
        if use.part == VERIFICATION and item.role == LABELLED:
            return self._bind_verification(item, use)
        parts = f"`{item.name}`"
        if item.role == LABELLED:
            parts += f", `{item.name}.train` or `{item.name}.verification`"
        return self._refuse(use, f"`{use.reference}`", parts)

    def _bind_verification(self, item: ContractInput, use: Use) -> Binding | None:
        holdout = self.contract.holdout
        found = f"`{use.reference}`"
        if not is_split(item, holdout) or holdout.verification is None:
            hint = "Set holdout: {verification: 0.2}."
            return self._refuse(use, found, "rows set apart by holdout.verification", hint)
        if use.operation.group != VERIFICATION_GROUP:
            expected = f"these rows only in steps of group {VERIFICATION_GROUP}"
            return self._refuse(use, found, expected)
        return Binding("input", item.name, None, VERIFICATION)

    def _bind_judged(self, item: ContractInput, use: Use) -> Binding | None:
        if wants_predictor(use.spec):
            found = f"the input `{item.name}`"
            return self._refuse(use, found, "a step that makes a predictor")
        if item.role != LABELLED or use.part not in ("", TRAIN):
            found = f"`{use.reference}` of role {item.role}"
            expected = "a labelled table (its final rows) or its `.train` rows"
            return self._refuse(use, found, expected, hint_about_target(use.spec, [item]))
        if use.operation.task not in ("", item.task):
            found = f"the table `{item.name}` of task {item.task}"
            expected = f"one of task {use.operation.task}, which {use.operation.name} judges"
            return self._refuse(use, found, expected)
        final = not use.part and is_split(item, self.contract.holdout)
        view = FINAL if final else visible_view(item, self.contract)
        return Binding("input", item.name, None, view)

    def _bind_step(self, source: Step, use: Use) -> Binding | None:
        sealed = source.id == self.contract.holdout.generated_by
        if is_evaluator(use.operation) and not wants_predictor(use.spec):
            if sealed and not use.part:
                return Binding("step", source.id, None, FINAL)
            expected = "a labelled table, its `.train` rows, or the step of holdout.generated_by"
            return self._refuse(use, f"`{use.reference}`", expected)
        if sealed:
            found = f"the step `{source.id}`, whose labels are sealed"
            return self._refuse(use, found, "it only as `data` of an evaluator")
        producer = self.operations.get(source.use)
        if producer is None:  # unavailable, and reported as such
            return Binding("step", source.id, use.part or None)
        if wants_predictor(use.spec):
            return self._bind_predictor(source, producer, use)
        if use.part:
            return self._bind_artifact(source, producer, use)
        return self._bind_by_type(source, producer, use)

    def _bind_predictor(self, source: Step, producer: Operation, use: Use) -> Binding | None:
        if use.part:
            expected = f"`{source.id}` alone: a predictor is three files"
            return self._refuse(use, f"`{use.reference}`", expected)
        if not makes_predictor(producer):
            found = f"the step `{source.id}`, which makes none"
            expected = "a step that writes one model.json, inference.py and model_card.json"
            return self._refuse(use, found, expected)
        return Binding("step", source.id)

    def _bind_artifact(self, source: Step, producer: Operation, use: Use) -> Binding | None:
        written = {output.name: output.type for output in producer.outputs}
        kind = written.get(use.part)
        if written and kind is None:
            hint = suggest(use.part, written, "It writes")
            expected = f"an artifact of `{source.id}`"
            return self._refuse(use, f"`{use.reference}`", expected, hint)
        spec = use.spec
        if kind and spec.types and not fits_type(spec, kind) and not fits_as_table(spec, kind):
            return self._refuse(use, f"`{use.reference}` of type {kind}", use.wanted)
        return Binding("step", source.id, use.part)

    def _bind_by_type(self, source: Step, producer: Operation, use: Use) -> Binding | None:
        if not producer.outputs:  # it does not say what it writes; the run will show
            return Binding("step", source.id)
        fitting = fitting_outputs(use.spec, producer)
        if len(fitting) == 1:
            return Binding("step", source.id, fitting[0].name)
        names = [f"`{source.id}.{output.name}`" for output in fitting or producer.outputs]
        listed = ", ".join(names)
        found = f"`{source.id}` with {len(fitting)} artifacts that fit"
        hint = f"Name one: {listed}." if fitting else f"It writes {listed}."
        return self._refuse(use, found, f"exactly one ({use.wanted})", hint)
