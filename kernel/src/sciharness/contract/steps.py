"""Planned steps: what a run will do, in order, with every input bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from sciharness.contract.findings import Findings
from sciharness.contract.records import Contract
from sciharness.descriptors import Operation

TRAIN = "train"
VERIFICATION = "verification"
FINAL = "final"
WHOLE = "whole"

CAPABILITY = "capability"
FINAL_EVALUATION = "final_evaluation"
VISIBLE_EVALUATION = "visible_evaluation"
REPORT_STEP = "report"
FINAL_DATA = "final_data"


@frozen
class Binding:
    """Where one input of a step comes from.

    ``source`` is ``input`` or ``step`` and ``name`` its name. ``artifact`` is
    the file name of one artifact of that step; ``None`` binds by type (for a
    predictor: its three files). ``view`` tells which rows are seen: ``train``,
    ``verification``, ``final``, or ``whole`` for what is not split.
    """

    source: str
    name: str
    artifact: str | None = None
    view: str = WHOLE


@frozen
class PlannedStep:
    """One step of the plan.

    ``kind`` is ``capability``, ``final_evaluation`` (freezes its predictor and
    looks at sealed labels), ``visible_evaluation`` (reports only),
    ``final_data`` (the step of ``holdout.generated_by``) or ``report``.
    ``params`` are as in the contract, without defaults.
    """

    id: str
    operation: str
    kind: str = CAPABILITY
    bindings: Mapping[str, Binding] = field(factory=dict)
    params: Mapping[str, Any] = field(factory=dict)  # Any: JSON values

    def step_bindings(self) -> tuple[Binding, ...]:
        """Return the bindings to other steps."""
        return tuple(item for item in self.bindings.values() if item.source == "step")


@frozen
class Plan:
    """The planned steps; ``complete`` is false if problems or gaps left some out."""

    steps: tuple[PlannedStep, ...] = ()
    complete: bool = True


def sealed_from_others(
    steps: Sequence[PlannedStep], trusted: frozenset[str]
) -> tuple[PlannedStep, ...]:
    """Return the steps with final rows shown to ``trusted`` evaluators alone.

    Another evaluator judges the visible rows of the same table instead: what
    it says is reported, and it freezes nothing.
    """
    return tuple(
        step if step.kind != FINAL_EVALUATION or step.operation in trusted else _visible(step)
        for step in steps
    )


def _visible(step: PlannedStep) -> PlannedStep:
    data = evolve(step.bindings["data"], view=TRAIN)
    return evolve(step, kind=VISIBLE_EVALUATION, bindings={**step.bindings, "data": data})


def plan_steps(
    contract: Contract,
    operations: Mapping[str, Operation],
    findings: Findings | None = None,
    types: Mapping[str, str] | None = None,
) -> Plan:
    """Return the steps of a contract: its own, or those derived from its capabilities.

    ``operations`` holds the leased capabilities by name; one that is missing
    there is known to be unavailable and draws no further problem. ``types``
    gives artifact types of contract inputs where the file name does not tell.
    Problems go to ``findings``.
    """
    from sciharness.contract._derive import derive_steps
    from sciharness.contract._resolve import resolve_steps

    collected = findings if findings is not None else Findings()
    plan = derive_steps if contract.steps is None else resolve_steps
    before = len(collected.problems)
    steps = plan(contract, operations, collected, types or {})
    known = all(name in operations for name in contract.capabilities)
    return Plan(steps, complete=known and len(collected.problems) == before)
