"""Preflight: everything that can be said about a contract before a run exists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from attrs import field, frozen

from sciharness.contract._criteria import CriteriaCheck
from sciharness.contract._lattices import check_lattices
from sciharness.contract._requests import check_constraints, check_requests
from sciharness.contract._tables import CheckedTable, TableCheck, check_copies, check_tables
from sciharness.contract._workflow import (
    check_choices,
    check_delivery,
    check_workflow,
    warn_unused,
)
from sciharness.contract.document import Document
from sciharness.contract.findings import Findings
from sciharness.contract.inputs import InputFacts, check_file
from sciharness.contract.leases import Lease, check_leases
from sciharness.contract.records import Contract
from sciharness.contract.steps import Plan, PlannedStep, plan_steps
from sciharness.errors import HarnessError
from sciharness.problems import Problem

__all__ = ["CheckedTable", "Lease", "Preflight", "TableCheck", "preflight"]

# A labelled table is stored in parts beside its own bytes.
_COPIES = 2


@frozen
class Preflight:
    """What preflight found: all problems, warnings, the planned steps and the inputs."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()
    steps: tuple[PlannedStep, ...] = ()
    inputs: tuple[InputFacts, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing stands against a start."""
        return not self.problems


@frozen
class _Review:
    contract: Contract
    leases: Mapping[str, Lease]
    findings: Findings
    doubtful: frozenset[str] = field(factory=frozenset)

    def sure(self, *sections: str) -> bool:
        """Whether conclusions may be drawn from these parts of the contract."""
        return self.doubtful.isdisjoint(sections)

    @property
    def known(self) -> bool:
        """Whether everything that the contract means to lease is in view."""
        available = all(name in self.leases for name in self.contract.capabilities)
        return available and self.sure("capabilities")

    def plan(self, inputs: tuple[InputFacts, ...]) -> Plan:
        derives = self.contract.steps is None and self.contract.reasoner.use != "recipe"
        if derives or not self.sure("capabilities", "inputs", "steps", "holdout", "workflow"):
            return Plan(complete=False)
        operations = {name: lease.operation for name, lease in self.leases.items()}
        types = {item.name: item.type for item in inputs}
        return plan_steps(self.contract, operations, self.findings, types)

    def judge(self, plan: Plan) -> None:
        """Compare what the contract asks for with what the plan gives."""
        operations = {name: lease.operation for name, lease in self.leases.items()}
        check_requests(self.contract, operations, plan.steps, self.findings)
        if self.sure("capabilities"):
            check_constraints(self.contract, operations, self.findings)
        if self.sure("inputs", "holdout"):
            CriteriaCheck(self.contract, self.leases, plan, self.findings, self.known).run()
        check_workflow(self.contract, self.leases, plan, self.findings)
        warn_unused(self.contract, self.leases, plan, self.findings)


def preflight(
    contract: Contract,
    folder: Path,
    operations: Mapping[str, Lease],
    unavailable: Mapping[str, HarnessError] | None = None,
    *,
    document: Document | None = None,
    doubtful: frozenset[str] = frozenset(),
    executors: Collection[str] = ("local",),
    reasoners: Collection[str] = ("recipe",),
    roles: Mapping[str, Lease | HarnessError] | None = None,
    deliverables: Collection[str] | None = None,
    check_table: TableCheck | None = None,
    free_bytes: int | None = None,
) -> Preflight:
    """Return every problem of a contract with the installation and the files at hand.

    ``folder`` is the contract's own. ``operations`` holds what can be leased
    of its capabilities, ``unavailable`` the reason for each that cannot.
    ``document`` gives the places; ``doubtful`` are parts that reading found
    broken, from which nothing is concluded. ``roles`` holds the plugins' parts
    that it chooses (``executor``, ``reasoner``). ``deliverables`` are those that an
    installed publisher makes (``None``: not looked at), ``check_table`` is
    asked about each table, ``free_bytes`` is the space for inputs. Nothing is
    run and nothing is written.
    """
    findings = Findings(document)
    leases = {name: operations[name] for name in contract.capabilities if name in operations}
    review = _Review(contract, leases, findings, doubtful)
    check_leases(contract, leases, unavailable or {}, findings)
    inputs = _inputs(contract, folder, findings)
    _check_space(inputs, free_bytes, findings)
    check_lattices(contract, contract.capabilities, findings)
    check_copies(contract, inputs, findings)
    if check_table is not None:
        check_tables(contract, folder, [item.name for item in inputs], check_table, findings)
    plan = review.plan(inputs)
    review.judge(plan)
    if review.sure("permissions", "deliver"):
        check_delivery(contract, deliverables, findings)
    known = {"executor": executors, "reasoner": reasoners}
    check_choices(contract, known, roles or {}, findings)
    problems = tuple(findings.sorted_problems())
    return Preflight(problems, tuple(findings.warnings), plan.steps, inputs)


def _inputs(contract: Contract, folder: Path, findings: Findings) -> tuple[InputFacts, ...]:
    found = []
    for index, item in enumerate(contract.inputs):
        path = findings.spot("inputs", index, item.name, "name")
        facts = check_file(item, folder, path, findings)
        if facts is not None:
            found.append(facts)
    return tuple(found)


def _check_space(
    inputs: tuple[InputFacts, ...], free_bytes: int | None, findings: Findings
) -> None:
    needed = _COPIES * sum(item.bytes for item in inputs)
    if free_bytes is not None and needed > free_bytes:
        found = f"inputs that need {needed} bytes in the home, where {free_bytes} are free"
        hint = "Free some space, or choose another home with --home."
        findings.problem(("inputs",), kind="data", found=found, expected="room for them", hint=hint)
