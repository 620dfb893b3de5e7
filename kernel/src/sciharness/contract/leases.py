"""What the contract side needs to know about a capability that can be leased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sciharness.contract.findings import Findings
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract
from sciharness.descriptors import Operation
from sciharness.errors import HarnessError


class Lease(Protocol):
    """A leased capability: its description and the trust this installation gives it."""

    @property
    def operation(self) -> Operation:
        """What the capability takes, makes and reports."""

    @property
    def trusted_metrics(self) -> frozenset[str]:
        """Metrics that count as trusted here."""

    @property
    def trusted_labels(self) -> bool:
        """Whether it may make final data."""


def check_leases(
    contract: Contract,
    leases: Mapping[str, Lease],
    unavailable: Mapping[str, HarnessError],
    findings: Findings,
) -> None:
    """Note each capability of the contract that cannot be leased, with the reason."""
    for index, name in enumerate(contract.capabilities):
        path = findings.spot("capabilities", index, name)
        if name in leases:
            _check_permission(contract, name, leases[name].operation.permission, path, findings)
            continue
        fault = unavailable.get(name)
        if fault is None:
            hint = "`harness plugin list` shows what is installed."
            findings.problem(path, found=name, expected="an installed capability", hint=hint)
        else:
            found = fault.message if name in fault.message else f"{name}: {fault.message}"
            findings.problem(path, found=found, hint=fault.hint, kind=fault.kind)


def _check_permission(
    contract: Contract, name: str, permission: str, path: DocumentPath, findings: Findings
) -> None:
    """Note a capability that only a switch of the contract allows, and that is off."""
    if permission and not getattr(contract.permissions, permission, False):
        findings.problem(
            path,
            found=f"{name} without it",
            expected=f"the permission {permission}",
            hint=f"Set permissions: {{{permission}: true}} if that is wanted.",
        )
