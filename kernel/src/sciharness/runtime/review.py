"""Review: everything that can be said of a contract before a run exists."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sciharness.contract.findings import raise_for
from sciharness.contract.lock import Lock, contract_digest
from sciharness.contract.preflight import Preflight, preflight
from sciharness.contract.read import Reading, examine_contract
from sciharness.contract.records import Contract
from sciharness.errors import HarnessError
from sciharness.plugins import Leasable, Plugins, builtin_pins
from sciharness.problems import Problem
from sciharness.runtime.foreseeing import Foresight
from sciharness.runtime.publishing import publishers
from sciharness.store.home import Home
from sciharness.workers.confinement import probe


@frozen
class Review:
    """A contract with its leases, its publishers by deliverable, and what preflight found."""

    path: Path
    reading: Reading
    leases: Mapping[str, Leasable]
    preflight: Preflight | None
    publishers: Mapping[str, Leasable] = field(factory=dict)
    roles: Mapping[str, Leasable] = field(factory=dict)

    @property
    def parts(self) -> dict[str, str]:
        """The pins of reasoner and executor: the kernel's own, or a plugin's."""
        return {**builtin_pins(), **{part: str(role.pin) for part, role in self.roles.items()}}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, of reading and of preflight, in the order of their places."""
        found = self.preflight.problems if self.preflight is not None else ()
        return tuple(
            sorted(
                dict.fromkeys((*self.reading.problems, *found)),
                key=lambda item: (item.line or 0, item.column or 0),
            )
        )

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What a careful person would look at again."""
        return self.preflight.warnings if self.preflight is not None else ()

    def check(self) -> None:
        """Raise the error that the problems stand for, if there are any."""
        raise_for(self.problems, str(self.path))

    def lock(self) -> Lock:
        """Return the lock that this contract has with what is installed now."""
        assert self.reading.document is not None and self.preflight is not None
        return Lock(
            contract=contract_digest(self.reading.document),
            inputs={item.name: item.sha256 for item in self.preflight.inputs},
            pins={**pins_of(self.leases), **self.publisher_pins(), **self.parts},
        )

    def publisher_pins(self) -> dict[str, str]:
        """Return the pins of the publishers that this contract uses, by their names."""
        return pins_of({lease.operation.name: lease for lease in self.publishers.values()})

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the review as ``check --json`` prints it."""
        inputs = self.preflight.inputs if self.preflight is not None else ()
        steps = self.preflight.steps if self.preflight is not None else ()
        return {
            "ok": not self.problems,
            "problems": [item.to_dict() for item in self.problems],
            "warnings": [item.to_dict() for item in self.warnings],
            "pins": [str(lease.pin) for _, lease in sorted(self.leases.items())],
            "inputs": [item.to_dict() for item in inputs],
            "steps": [{"id": step.id, "use": step.operation, "kind": step.kind} for step in steps],
            "capabilities": [_capability(lease) for _, lease in sorted(self.leases.items())],
            "label_isolation": probe(),
        }


def pins_of(leases: Mapping[str, Leasable]) -> dict[str, str]:
    """Return the pins of leased capabilities by their names."""
    return {name: str(lease.pin) for name, lease in sorted(leases.items())}


def review_contract(home: Home, path: Path) -> Review:
    """Return everything that can be said of the contract in the file ``path``."""
    reading = examine_contract(path)
    if reading.draft is None:
        return Review(path, reading, {}, None)
    plugins = Plugins(home)
    makers = publishers(plugins) if reading.draft.deliver else {}
    leases, unavailable = _lease_all(plugins, reading.draft.capabilities)
    roles = _chosen_roles(plugins, reading.draft)
    ahead = Foresight.of(home, reading.draft, path.parent, reading.document)
    found = preflight(
        reading.draft,
        path.parent,
        leases,
        unavailable,
        document=reading.document,
        roles=roles,
        doubtful=reading.doubtful,
        deliverables=tuple(makers),
        check_table=ahead.check_table,
        free_bytes=shutil.disk_usage(home.path).free,
    )
    found = ahead.completed(found, leases)
    usable = {part: one for part, one in roles.items() if not isinstance(one, HarnessError)}
    used = {name: makers[name] for name in reading.draft.deliver if name in makers}
    return Review(path, reading, leases, found, used, usable)


def _chosen_roles(plugins: Plugins, contract: Contract) -> dict[str, Leasable | HarnessError]:
    """Return the plugins' parts that a contract chooses, or why they cannot be had."""
    chosen = {"reasoner": contract.reasoner.use, "executor": contract.executor.use}
    found: dict[str, Leasable | HarnessError] = {}
    for part, name in chosen.items():
        if "." not in name:  # one of the kernel's, or no name of a plugin's part
            continue
        try:
            found[part] = plugins.role(part, name)
        except HarnessError as fault:
            found[part] = fault
    return found


def _lease_all(
    plugins: Plugins, names: tuple[str, ...]
) -> tuple[dict[str, Leasable], dict[str, HarnessError]]:
    leases: dict[str, Leasable] = {}
    unavailable: dict[str, HarnessError] = {}
    for name in dict.fromkeys(names):
        try:
            leases[name] = plugins.lease(name)
        except HarnessError as fault:
            unavailable[name] = fault
    return leases, unavailable


def _capability(lease: Leasable) -> dict[str, Any]:  # Any: JSON values
    return {
        "name": lease.operation.name,
        "group": lease.operation.group,
        "metrics": list(lease.operation.metrics),
        "trusted_metrics": sorted(lease.trusted_metrics),
    }
