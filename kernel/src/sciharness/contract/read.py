"""Reading contracts: from a file to a record, with all problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.contract._build import build_contract, build_input
from sciharness.contract._consistency import check_consistency, check_input
from sciharness.contract.document import Document, load_document
from sciharness.contract.fields import CONTRACT, INPUT
from sciharness.contract.findings import Findings, nearest, raise_for
from sciharness.contract.paths import split_path
from sciharness.contract.records import Contract, ContractInput
from sciharness.contract.scalars import BROKEN
from sciharness.errors import ContractError
from sciharness.problems import Problem

__all__ = [
    "Reading",
    "examine_contract",
    "examine_document",
    "parse_contract",
    "raise_for",
    "read_contract",
    "read_input",
]


@frozen(eq=False)
class Reading:
    """What came of reading a contract.

    ``contract`` is ``None`` if there are problems. ``draft`` then still holds
    the parts that are sound, so that preflight can go on looking;
    ``doubtful`` names the top-level fields it must not draw conclusions from.
    ``document`` is ``None`` if the text is no document at all.
    """

    problems: tuple[Problem, ...]
    document: Document | None = None
    draft: Contract | None = None
    doubtful: frozenset[str] = frozenset()

    @property
    def contract(self) -> Contract | None:
        """The contract, if nothing is wrong with it."""
        return None if self.problems else self.draft


def examine_contract(path: str | Path) -> Reading:
    """Return everything that can be said of the contract in the file ``path``.

    Nothing is raised for a bad file; inputs and capabilities are not looked at.
    """
    try:
        document = load_document(path)
    except ContractError as fault:
        return Reading(problems=fault.problems)
    return examine_document(document)


def examine_document(document: Document) -> Reading:
    """Return everything that can be said of the contract in a document."""
    findings = Findings(document)
    values = CONTRACT.read(document.value, (), findings)
    if values is BROKEN:
        return Reading(tuple(findings.problems), document)
    check_consistency(values, findings)
    problems = tuple(findings.sorted_problems())
    return Reading(problems, document, build_contract(values), _doubtful(document, problems))


def _doubtful(document: Document, problems: Iterable[Problem]) -> frozenset[str]:
    """Return the top-level fields with problems, misspelled ones by what they were meant as."""
    broken = {str(split_path(problem.path)[0]) for problem in problems if problem.path}
    meant = {
        nearest(name, CONTRACT.fields) for name in document.value if name not in CONTRACT.fields
    }
    return frozenset(broken | {name for name in meant if name})


def read_contract(path: str | Path) -> tuple[Contract | None, list[Problem]]:
    """Return the contract in the file ``path``, or ``None``, and all problems with it."""
    reading = examine_contract(path)
    return reading.contract, list(reading.problems)


def parse_contract(document: Document) -> tuple[Contract | None, list[Problem]]:
    """Return the contract in a document, or ``None``, and all problems with it."""
    reading = examine_document(document)
    return reading.contract, list(reading.problems)


def read_input(values: Mapping[str, Any], where: str = "") -> ContractInput:  # Any: JSON values
    """Return one input from its fields, as commands outside a run take it.

    A path may be absolute here, since no contract keeps it.

    Raises:
        ContractError: the fields do not fit; all findings are in ``problems``.
    """
    findings = Findings(file=where)
    read = INPUT.read(dict(values), ("inputs", 0), findings)
    if read is not BROKEN:
        check_input(read, ("inputs", 0), findings)
    raise_for(findings.problems, where)
    return build_input(read)
