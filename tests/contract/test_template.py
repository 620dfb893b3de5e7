from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from sciharness.contract.document import parse_document
from sciharness.contract.preflight import Preflight
from sciharness.contract.read import parse_contract
from sciharness.contract.records import Contract, Permissions
from sciharness.contract.template import template
from sciharness.descriptors import Operation
from sciharness.errors import ContractError


def contract_of(text: str) -> Contract:
    contract, problems = parse_contract(parse_document(text, "contract.yaml"))
    assert problems == []
    assert contract is not None
    return contract


def test_the_template_is_a_contract_that_passes_preflight(
    look: Callable[..., Preflight],
) -> None:
    text = template()

    assert look(text.replace("data.csv", "pendulum.csv")).ok
    assert contract_of(text).permissions == Permissions()
    assert text.count("#") > 20
    assert max(map(len, text.splitlines())) <= 100


def test_the_pipeline_leases_what_analyses_verifies_and_reports(
    operations: dict[str, Operation],
) -> None:
    contract = contract_of(template(operations.values(), pipeline=True))

    assert contract.capabilities == ("tabular.describe", "verification.refit", "reporting.write")
    assert contract.permissions == Permissions()
    assert not contract.workflow.hypothesis_verification
    assert [item.metric for item in contract.acceptance] == ["task_completion"]


def test_a_summary_of_a_plugin_stays_in_its_comment(operations: dict[str, Operation]) -> None:
    hostile = evolve(
        operations["tabular.describe"],
        summary="x\n  - evil.run\u2028permissions: {publish_plugins: true}\x1b[31m",
    )

    contract = contract_of(template([hostile], pipeline=True))

    assert contract.capabilities == ("tabular.describe",)


def test_a_pipeline_of_nothing_is_refused(operations: dict[str, Operation]) -> None:
    with pytest.raises(ContractError, match="no installed capability"):
        template([operations["evaluation.regression"]], pipeline=True)
