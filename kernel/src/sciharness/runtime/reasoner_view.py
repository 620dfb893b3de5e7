"""What a reasoner is shown of a run: facts and metrics, no path, no row and no label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict

from sciharness.contract.proposals import bindable_inputs, is_report
from sciharness.contract.records import Contract, Step
from sciharness.plugins import Leasable
from sciharness.roles import ReasonerView
from sciharness.runtime.criteria import judge
from sciharness.runtime.records import ActionRecord, StagedInput, to_plain
from sciharness.runtime.state import RunState

Json = dict[str, Any]  # Any: JSON values

# Notes of older actions are left out, so that a long run still fits into one message.
_NOTED = 50


def reasoner_view(state: RunState, leases: Mapping[str, Leasable]) -> ReasonerView:
    """Return the view of a run as it stands now."""
    contract = state.contract
    settled = [one for one in state.settled if one.step in state.proposals]
    recent = {one.index for one in settled[-_NOTED:]}
    return ReasonerView(
        goal=contract.goal,
        questions=contract.questions,
        inputs=tuple(_input(staged) for staged in state.inputs.values()),
        capabilities=tuple(
            _capability(lease)
            for name, lease in leases.items()
            if name in contract.capabilities and not is_report(lease.operation)
        ),
        constraints=_constraints(contract),
        workflow=asdict(contract.workflow),
        criteria=tuple(
            verdict.to_dict() for verdict in judge(state.criteria, state.metrics, state.undefined)
        ),
        actions=tuple(_action(state, one, noted=one.index in recent) for one in settled),
        refusals=tuple(_proposed(state, one) for one in state.refusals),
        budget_left={
            key: left
            for key in state.budget.limits
            if (left := state.budget.remaining(key)) is not None
        },
    )


def _input(staged: StagedInput) -> Json:
    shown: Json = {"name": staged.name, "role": staged.role, "type": staged.type}
    if staged.table is not None:
        table = to_plain(staged.table)
        del table["dialect"]
        shown["table"] = table
    if staged.sealed is not None:
        shown["rows"] = {
            "train": staged.sealed.rows_train,
            "verification": staged.sealed.rows_verification,
            "final": staged.sealed.rows_final,
        }
    return shown


def _capability(lease: Leasable) -> Json:
    operation = lease.operation
    return {
        "name": operation.name,
        "summary": operation.summary,
        "group": operation.group,
        "inputs": [asdict(spec) for spec in bindable_inputs(operation)],
        "outputs": [asdict(spec) for spec in operation.outputs],
        "metrics": list(operation.metrics),
        "request": dict(operation.request_schema),
    }


def _constraints(contract: Contract) -> Json:
    return {
        name: [{"when": dict(rule.when), "require": dict(rule.require)} for rule in rules]
        for name, rules in contract.constraints.items()
    }


def _proposed(state: RunState, record: ActionRecord) -> Json:
    step = state.proposals.get(record.step, Step(record.step, record.capability))
    return {
        "id": step.id,
        "use": step.use,
        "inputs": dict(step.inputs),
        "with": dict(step.params),
        "reason": record.reason,
        "message": record.message,
    }


def _action(state: RunState, record: ActionRecord, *, noted: bool) -> Json:
    return {
        **_proposed(state, record),
        "status": record.status,
        "metrics": [
            {"name": one.name, "value": one.value, "source": one.source}
            for one in state.metrics
            if one.action == record.index
        ],
        "artifacts": [
            {"name": one.name, "type": one.type} for one in state.artifacts_of(record.step)
        ],
        "notes": list(record.notes) if noted else [],
    }
