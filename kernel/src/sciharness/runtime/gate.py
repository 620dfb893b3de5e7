"""The gate: what a proposed action has to pass before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from sciharness.contract.records import ConstraintRule, Contract


@frozen
class Refusal:
    """Why a proposed action may not run; recorded and told to the reasoner."""

    reason: str
    message: str


def check_lease(contract: Contract, capability: str) -> Refusal | None:
    """Refuse a capability that the contract does not lease, installed or not."""
    if capability in contract.capabilities:
        return None
    return Refusal("lease", f"{capability} is not leased by this contract")


def check_constraints(
    contract: Contract, capability: str, request: Mapping[str, Any]  # Any: JSON values
) -> Refusal | None:
    """Refuse a request, defaults filled in, that breaks a rule of the contract."""
    for number, rule in enumerate(contract.constraints.get(capability, ())):
        broken = _broken(rule, request)
        if broken:
            return Refusal("constraint", f"constraints.{capability}[{number}]: {broken}")
    return None


def check_workflow(contract: Contract, outputs: Sequence[str]) -> Refusal | None:
    """Refuse operations of the hypothesis workflow while it is switched off."""
    if contract.workflow.hypothesis_verification:
        return None
    kinds = {"hypothesis", "verification_plan", "verification_result"}
    wanted = kinds.intersection(outputs)
    if wanted:
        return Refusal("workflow", f"hypothesis verification is off, {min(wanted)} is refused")
    return None


def _broken(rule: ConstraintRule, request: Mapping[str, Any]) -> str:  # Any: JSON values
    if any(not same(request.get(name), value) for name, value in rule.when.items()):
        return ""
    for name, value in rule.require.items():
        if not same(request.get(name), value):
            return f"{name} has to be {value!r}, got {request.get(name)!r}"
    return ""


def same(found: object, wanted: object) -> bool:
    """Compare two JSON values as JSON does: ``true`` is not 1, 1 equals 1.0."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return found == wanted
