"""Acceptance criteria by themselves: read from a file or an option, checked against a contract."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import evolve

from sciharness.contract._build import build_contract
from sciharness.contract._consistency import check_consistency
from sciharness.contract._criteria import CriteriaCheck
from sciharness.contract.document import Document, parse_value
from sciharness.contract.fields import CRITERION
from sciharness.contract.findings import Findings, raise_for
from sciharness.contract.leases import Lease
from sciharness.contract.records import Contract, Criterion
from sciharness.contract.scalars import BROKEN
from sciharness.contract.shapes import Field, ListOf, Record
from sciharness.contract.steps import Plan
from sciharness.errors import UsageError

_SHAPE = Record(
    {"acceptance": Field(ListOf(CRITERION, least=1), required=True)},
    expected="a list of criteria, or a mapping with acceptance",
)
_TEXT = re.compile(r"(?P<metric>[^<>=]*[^<>=\s])\s*(?P<op><=|>=|==|<|>)\s*(?P<rest>[^<>=]+)")
_TRUST = {"": None, "trusted": True, "any": False}


def read_criteria(document: Document) -> tuple[Criterion, ...]:
    """Return the criteria in a document: a list of them, or a mapping with ``acceptance``.

    Raises:
        ContractError: they are no criteria; all findings are in ``problems``.
    """
    inside = document
    if isinstance(document.value, list):
        # Their places are those of the list itself.
        places = {("acceptance", *path): place for path, place in document.places.items()}
        keys = {("acceptance", *path): place for path, place in document.keys.items()}
        inside = evolve(document, value={"acceptance": document.value}, places=places, keys=keys)
    findings = Findings(inside)
    values = _SHAPE.read(inside.value, (), findings)
    if values is not BROKEN:
        check_consistency(values, findings)
    raise_for(findings.sorted_problems(), document.name)
    return build_contract(values).acceptance


def read_criterion(text: str, known: Sequence[Criterion], *, place: str) -> Criterion:
    """Return a criterion such as ``relative_rmse<=0.01`` or ``r2 > 0.9 trusted``.

    Without ``trusted`` or ``any`` it stays as trusted as the criterion among
    ``known`` that it replaces; a new one takes any value.

    Raises:
        UsageError: the text is no criterion.
    """
    match = _TEXT.fullmatch(text.strip())
    value, _, trust = match["rest"].strip().partition(" ") if match else ("", "", "")
    threshold = _number(value, place)
    if match is None or threshold is None or trust.strip() not in _TRUST:
        raise UsageError(
            f"found `{text}`",
            where=place,
            hint="Write METRIC<=NUMBER (or <, >=, >, ==), and `trusted` or `any` after it.",
        )
    metric, said = match["metric"].strip(), _TRUST[trust.strip()]
    before = next((item.trusted for item in known if item.metric == metric), False)
    trusted = before if said is None else said
    return Criterion(metric, match["op"], threshold, trusted)


def _number(text: str, place: str) -> float | None:
    value = parse_value(text, place) if text else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def check_criteria(
    contract: Contract, criteria: Sequence[Criterion], leases: Mapping[str, Lease], plan: Plan
) -> None:
    """Refuse criteria that nothing which the contract leases could meet.

    Raises:
        ContractError: naming each criterion and what stands against it.
    """
    values = {
        "acceptance": [
            {"metric": item.metric, "op": item.op, "value": item.value, "trusted": item.trusted}
            for item in criteria
        ]
    }
    findings = Findings(Document("", values))
    check_consistency(dict(values), findings)
    known = all(name in leases for name in contract.capabilities)
    CriteriaCheck(evolve(contract, acceptance=tuple(criteria)), leases, plan, findings, known).run()
    raise_for(findings.sorted_problems(), "criteria")
