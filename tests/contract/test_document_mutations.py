"""Whatever happens to a good contract, the answer is a contract or typed problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contract.document import load_document, parse_document
from sciharness.contract.read import examine_document, read_contract
from sciharness.errors import ContractError

GOOD = """\
schema: research-contract-v1
title: Pendulum period law  # note
goal: >-
  Find a formula
  for the period.
questions: ["why?", 'how']
inputs:
  - {name: data, path: pendulum.csv, role: labelled_table, units: {length: m}}
capabilities: [symbolic_regression.search, evaluation.regression]
constraints: {symbolic_regression.search: [{when: {}, require: {max_evaluations: 5}}]}
acceptance:
  - {metric: relative_rmse, op: "<=", value: 0.02, trusted: true}
budget: {actions: 20, wall_time: 10m}
holdout: {fraction: 0.2, seed: 0}
steps:
  - id: fit
    use: symbolic_regression.search
    inputs: {data: data}
    with: {max_evaluations: 2000000, deep: [1, [2, {a: null}]]}
publish: {id: example.pendulum, version: 0.1.0}
seed: 0
"""
MARKS = [*"{}[]:,-?&*!|>'\"%@`#\n\t \\0x1e.~<=", "---\n", "...", "\u2028", "\x00", "\ud7ff"]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 12))
        mark = draw(st.sampled_from(MARKS) | st.text(max_size=3))
        text = text[:place] + mark + text[place + cut :]
    return text


def survives(text: str, name: str) -> None:
    document = None
    refusal: ContractError | None = None
    try:
        document = parse_document(text, name)
    except ContractError as fault:
        refusal = fault
    if document is None:
        assert refusal is not None
        assert refusal.problems
        assert all(problem.line is None or problem.line >= 1 for problem in refusal.problems)
        return
    json.dumps(document.value, allow_nan=False).encode()
    reading = examine_document(document)
    assert reading.contract is not None or reading.problems


@settings(max_examples=250, deadline=None)
@given(mutated(GOOD))
def test_mutated_yaml_gives_a_contract_or_problems(text: str) -> None:
    survives(text, "c.yaml")


@settings(max_examples=150, deadline=None)
@given(mutated(json.dumps(parse_document(GOOD).value, indent=1)))
def test_mutated_json_gives_a_contract_or_problems(text: str) -> None:
    survives(text, "c.json")
    survives(text, "c.yaml")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_bytes_give_a_contract_or_problems(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "mutated.yaml"
    path.write_bytes(bytes(content))

    contract, problems = read_contract(path)

    assert (contract is None) == bool(problems)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cf", "Cn"))
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc_.- é", max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(PLAIN)
def test_json_values_come_back_as_they_were(value: object) -> None:
    text = json.dumps(value)

    assert parse_document(text, "v.json").value == json.loads(text)


def test_the_unchanged_contract_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(GOOD)

    contract, problems = read_contract(path)

    assert problems == []
    assert contract is not None
    assert load_document(path).place(("steps", 0, "with", "deep")) == (19, 44)
