"""Tables and copies: what the table reader says, and that no sealed bytes come in twice."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sciharness.contract._matching import LABELLED, is_split
from sciharness.contract.fields import INPUT
from sciharness.contract.findings import Findings
from sciharness.contract.inputs import InputFacts
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract, ContractInput, Criterion, Holdout
from sciharness.problems import Problem

_TABLE_ROLES = (LABELLED, "table")
_OPERATORS = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


class CheckedTable(Protocol):
    """What the table reader says of a table without splitting it.

    ``facts["baseline"]`` holds the kind of a predictor that knows only the
    visible target values, and under ``metrics`` what it reaches.
    """

    @property
    def problems(self) -> Sequence[Problem]:
        """Everything that stands against reading it."""

    @property
    def warnings(self) -> Sequence[str]:
        """What a careful person would look at again."""

    @property
    def facts(self) -> Mapping[str, Any]:  # Any: JSON values
        """Facts about it."""


TableCheck = Callable[[Path, ContractInput, Holdout], CheckedTable]


def check_tables(
    contract: Contract,
    folder: Path,
    present: Iterable[str],
    check: TableCheck,
    findings: Findings,
) -> None:
    """Let the table reader look at each table that is there; take over what it finds."""
    names = set(present)
    for index, item in enumerate(contract.inputs):
        read = item.role in _TABLE_ROLES or item.directory
        if not read or item.name not in names:
            continue
        path = findings.spot("inputs", index, item.name, "name")
        checked = check(folder / item.path, item, contract.holdout)
        for problem in checked.problems:
            _take_over(problem, path, findings)
        for warning in checked.warnings:
            findings.warn(path, found=warning)
        if not checked.problems and item.role == LABELLED:
            _warn_easy(contract, checked.facts.get("baseline", {}), findings)


def check_copies(contract: Contract, facts: Sequence[InputFacts], findings: Findings) -> None:
    """Note inputs that would show the bytes whose final labels another input seals."""
    by_name = {item.name: item for item in facts}
    for sealed in contract.inputs:
        if sealed.name not in by_name or not is_split(sealed, contract.holdout):
            continue
        secret = _secret_digests(sealed, by_name[sealed.name])
        for index, other in enumerate(contract.inputs):
            if other is sealed or other.name not in by_name:
                continue
            held = by_name[other.name]
            if not secret.isdisjoint({held.sha256, *(digest for _, digest in held.files)}):
                path = findings.spot("inputs", index, other.name, "name")
                _refuse_copy(other, sealed, (*path, "path"), findings)


def _secret_digests(sealed: ContractInput, facts: InputFacts) -> set[str]:
    """Return the digests of what shows final labels: the whole, and a directory's target."""
    targets = {
        digest
        for name, digest in facts.files
        if name.endswith(".npy") and sealed.target in (None, name.removesuffix(".npy"))
    }
    return {facts.sha256, *targets}


def _take_over(problem: Problem, path: DocumentPath, findings: Findings) -> None:
    """Note a problem with a table: at its field of the contract, else at its own place."""
    if problem.line is None and problem.path in INPUT.fields:
        findings.adopt([problem], path)
    elif problem.line is None and problem.path.startswith("holdout"):
        findings.adopt([problem], ())
    elif problem.line is None and not problem.path:
        findings.adopt([problem], (*path, "path"))
    else:
        findings.problems.append(problem)


def _refuse_copy(
    other: ContractInput, sealed: ContractInput, path: DocumentPath, findings: Findings
) -> None:
    findings.problem(
        path,
        kind="data",
        found=f"`{other.name}` holds the bytes of `{sealed.name}`",
        expected=f"nothing else that shows the final labels of `{sealed.name}`",
        hint="Take one of the two out of the contract.",
    )


def _warn_easy(
    contract: Contract,
    baseline: Mapping[str, Any],  # Any: JSON values
    findings: Findings,
) -> None:
    metrics = baseline.get("metrics", {})
    for index, criterion in enumerate(contract.acceptance):
        value = metrics.get(criterion.metric)
        if value is None or not _holds(criterion, value):
            continue
        path = findings.spot("acceptance", index, criterion.metric, "metric")
        findings.warn(
            path,
            found=f"the {baseline['kind']} alone would meet {criterion.metric} {criterion.op} "
            f"{criterion.value:g} (about {value:.3g})",
            hint="A stricter threshold, or a metric such as r2, would tell more.",
        )


def _holds(criterion: Criterion, value: float) -> bool:
    return bool(_OPERATORS[criterion.op](value, criterion.value))
