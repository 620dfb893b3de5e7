"""The gate: what a proposed action has to pass before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from sciharness.contract.artifact_types import HYPOTHESIS_KINDS
from sciharness.contract.constraints import broken_by
from sciharness.contract.records import Contract


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
    contract: Contract,
    capability: str,
    request: Mapping[str, Any],  # Any: JSON values
) -> Refusal | None:
    """Refuse a request, defaults filled in, that breaks a rule of the contract."""
    for number, rule in enumerate(contract.constraints.get(capability, ())):
        broken = broken_by(rule, request)
        if broken:
            return Refusal("constraint", f"constraints.{capability}[{number}]: {broken}")
    return None


def check_permission(contract: Contract, permission: str) -> Refusal | None:
    """Refuse an operation that needs a switch of the contract which is off."""
    if not permission or getattr(contract.permissions, permission, False):
        return None
    return Refusal("permission", f"permissions.{permission} is off")


def check_workflow(contract: Contract, outputs: Sequence[str]) -> Refusal | None:
    """Refuse operations of the hypothesis workflow while it is switched off."""
    if contract.workflow.hypothesis_verification:
        return None
    wanted = set(HYPOTHESIS_KINDS).intersection(outputs)
    if wanted:
        return Refusal("workflow", f"hypothesis verification is off, {min(wanted)} is refused")
    return None
