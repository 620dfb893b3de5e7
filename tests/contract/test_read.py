from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciharness.contract.document import parse_document
from sciharness.contract.read import (
    examine_contract,
    parse_contract,
    raise_for,
    read_contract,
    read_input,
)
from sciharness.contract.records import Contract, Holdout
from sciharness.errors import ContractError, IntegrityError
from sciharness.problems import Problem

FULL = """\
schema: research-contract-v1
title: Pendulum period law
goal: Find a formula for the period.
questions: [Does amplitude matter?]
inputs:
  - name: data
    path: pendulum.csv
    role: labelled_table
    task: regression
    target: period
    features: [length, amplitude]
    ignore: [note]
    weights: w
    units: {length: m, period: s}
    missing: drop
  - {name: solver, path: ../solver/, role: reference_solver, solver: {executable: bin/solve}}
capabilities: [symbolic_regression.search, evaluation.regression, reporting.write]
constraints: {symbolic_regression.search: [{when: {loss: mae}, require: {max_evaluations: 7}}]}
acceptance:
  - {metric: relative_rmse, op: "<=", value: 0.02, trusted: true}
  - {metric: task_completion, op: ">=", value: 1}
workflow: {hypothesis_verification: true, required_artifacts: [SCIENTIFIC_REPORT, dataset]}
permissions: {publish_plugins: true}
budget: {actions: 20, cpu_hours: 0.5, wall_time: 1h30m, failures: }
holdout: {group: batch, fraction: 0.3, verification: 0.1, max_queries: 2}
executor: {use: local}
reasoner: {use: some.reasoner, temperature: 0.1}
steps:
  - {id: fit, use: symbolic_regression.search, inputs: {data: data}, with: {max_evaluations: 9}}
deliver: [predictor_plugin]
publish: {id: example.pendulum, version: 0.1.0, install: true}
seed: 7
"""
LEAST: dict[str, Any] = {
    "schema": "research-contract-v1",
    "title": "T",
    "goal": "G",
    "capabilities": ["evaluation.regression"],
    "acceptance": [{"metric": "r2", "op": ">=", "value": 0.9}],
}


def contract_of(text: str) -> Contract:
    contract, problems = parse_contract(parse_document(text, "c.yaml"))
    assert problems == []
    assert contract is not None
    return contract


def problems_of(text: str) -> list[Problem]:
    contract, problems = parse_contract(parse_document(text, "c.yaml"))
    assert contract is None
    return problems


def with_fields(**fields: Any) -> str:
    return json.dumps({**LEAST, **fields})


def said(**fields: Any) -> str:
    return "\n".join(map(str, problems_of(with_fields(**fields))))


def test_every_field_is_read() -> None:
    contract = contract_of(FULL)

    data, solver = contract.inputs
    assert data.features == ("length", "amplitude")
    assert (data.ignore, data.weights, data.missing) == (("note",), "w", "drop")
    assert data.units == {"length": "m", "period": "s"}
    assert solver.solver == {"executable": "bin/solve"}
    assert contract.budget == {"actions": 20, "cpu_hours": 0.5, "wall_time": 5400.0}
    assert contract.holdout == Holdout("group", 0.3, 0, 2, "batch", 0.1)
    assert contract.workflow.required_artifacts == ("scientific_report", "DATASET")
    assert contract.reasoner.options == {"temperature": 0.1}
    assert contract.steps is not None
    assert contract.steps[0].params == {"max_evaluations": 9}
    assert contract.publish["predictor_plugin"].install
    assert contract.constraints["symbolic_regression.search"][0].when == {"loss": "mae"}
    assert contract.acceptance[0].trusted
    assert not contract.acceptance[1].trusted
    assert contract.seed == 7


def test_what_is_left_out_takes_the_documented_default() -> None:
    contract = contract_of(json.dumps(LEAST))

    assert contract == Contract("T", "G", ("evaluation.regression",), contract.acceptance)
    assert contract.holdout == Holdout("fraction", 0.2, 0, 1)
    assert contract.budget == {}
    assert contract.steps is None


def test_yaml_and_json_of_one_contract_are_equal() -> None:
    as_json = json.dumps(parse_document(FULL).value)

    assert contract_of(FULL) == contract_of(as_json)


@pytest.mark.parametrize(
    ("holdout", "mode"),
    [
        ("none", "none"),
        ({"fraction": 0.5}, "fraction"),
        ({"group": "g"}, "group"),
        ({"order": "last", "fraction": 0.1}, "order"),
        ({"generated_by": "final"}, "generated"),
        ({}, "fraction"),
    ],
)
def test_each_form_of_holdout_is_read(holdout: object, mode: str) -> None:
    assert contract_of(with_fields(holdout=holdout)).holdout.mode == mode


def test_a_table_without_a_role_is_sealed_other_files_are_not() -> None:
    inputs = [
        {"name": name, "path": path}
        for name, path in [("a", "a.csv"), ("b", "b.TSV"), ("c", "c.parquet"), ("d", "d.json")]
    ]

    roles = [item.role for item in contract_of(with_fields(inputs=inputs)).inputs]

    assert roles == ["labelled_table"] * 3 + ["other"]


def test_budget_unlimited_and_blank_limit_nothing() -> None:
    assert contract_of(with_fields(budget="unlimited")).budget == {}
    assert contract_of(with_fields(budget=None)).budget == {}
    assert contract_of(with_fields(budget={"actions": None})).budget == {}


def test_several_packages_have_identities_of_their_own() -> None:
    publish = {"predictor_plugin": {"id": "a"}, "solver_adapter": {"id": "b.c"}}

    contract = contract_of(with_fields(publish=publish))

    assert {name: item.id for name, item in contract.publish.items()} == {
        "predictor_plugin": "a",
        "solver_adapter": "b.c",
    }


def test_all_problems_come_at_once_in_order_with_place_and_hint() -> None:
    text = """\
schema: research-contract-v1
title: 3
goul: G
capabilities: [evaluation.regression]
acceptance:
  - {metric: r2, op: "=>", value: "0.9", trusted: yes}
budget: {actions: 3.0, solver_cals: 5}
"""

    found = [(p.line, p.column, p.path, p.hint) for p in problems_of(text)]

    assert found == [
        (2, 8, "title", 'Put it in quotes: "3".'),
        (3, 1, "goul", "Did you mean `goal`?"),
        (6, 22, "acceptance[0].op", "Did you mean `>=`?"),
        (6, 35, "acceptance[0].value", "Remove the quotes."),
        (6, 51, "acceptance[0].trusted", "YAML 1.2 knows only true and false; write true."),
        (7, 19, "budget.actions", "Write 3."),
        (7, 24, "budget.solver_cals", "Did you mean `solver_calls`?"),
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"schema": "research-contract-v2"}, "schema: expected `research-contract-v1`"),
        ({"title": "x" * 121}, "at most 120"),
        ({"title": "a\nb"}, "title of one line"),
        ({"title": "  "}, "title of one line"),
        ({"goal": ""}, "not blank"),
        ({"goal": None}, "nothing (null)"),
        ({"inputs": [{"name": f"i{n}", "path": "x"} for n in range(21)]}, "at most 20"),
        ({"inputs": [{"name": "a", "path": "x"}] * 2}, "taken by inputs[0]"),
        ({"inputs": [{"name": "a.b", "path": "x"}]}, "inputs[0].name"),
        ({"inputs": [{"name": "a"}]}, "inputs[0].path: expected the required key"),
        ({"inputs": [{"name": "a", "path": "/etc/passwd"}]}, "relative to the contract"),
        ({"inputs": [{"name": "a", "path": "~/x"}]}, "relative to the contract"),
        ({"inputs": [{"name": "a", "path": "C:/x"}]}, "relative to the contract"),
        ({"inputs": [{"name": "a", "path": "https://example.org/x"}]}, "relative to the contract"),
        ({"inputs": [{"name": "a", "path": "a\\b"}]}, "Write a/b."),
        ({"inputs": [{"name": "a", "path": "x", "role": "latice"}]}, "Did you mean `lattice`?"),
        ({"inputs": [{"name": "a", "path": "x", "target": "y"}]}, "only for role labelled_table"),
        (
            {"inputs": [{"name": "a", "path": "x.csv", "target": "y", "features": ["y"]}]},
            "which is target as well",
        ),
        ({"inputs": [{"name": "a", "path": "x.csv", "features": []}]}, "at least 1"),
        ({"inputs": [{"name": "a", "path": "x.csv", "ignore": "note"}]}, "Write [note]."),
        ({"capabilities": []}, "at least 1"),
        ({"capabilities": ["a.b", "a.b"]}, "a second time"),
        ({"capabilities": ["Nope"]}, "a capability name such as"),
        ({"acceptance": []}, "at least 1"),
        ({"acceptance": [LEAST["acceptance"][0]] * 2}, "each metric once"),
        ({"acceptance": [{"metric": "r2", "op": ">=", "value": True}]}, "a number"),
        (
            {"acceptance": [{"metric": "task_completion", "op": ">=", "value": 0.5}]},
            "the only form of it",
        ),
        ({"budget": {"actions": True}}, "found true"),
        ({"budget": {"actions": 0}}, ">= 1"),
        ({"budget": {"experiments": "1_000"}}, "Write 1000"),
        ({"budget": {"wall_time": 90}}, "90s"),
        ({"budget": {"wall_time": "0m"}}, "a duration"),
        ({"budget": {"wall_time": "1.5h"}}, "a duration"),
        ({"budget": {"wall_time": "10 m"}}, "a duration"),
        ({"budget": {"cpu_hours": 0}}, "> 0"),
        ({"budget": "unlimted"}, "Did you mean `unlimited`?"),
        ({"holdout": None}, "or `none`"),
        ({"holdout": "None"}, "Did you mean `none`?"),
        ({"holdout": {"fraction": 1}}, "< 1"),
        ({"holdout": {"fraction": 0.6, "verification": 0.4}}, "leave rows to learn from"),
        ({"holdout": {"group": "g", "order": "last"}}, "only one of them"),
        ({"holdout": {"generated_by": "s", "fraction": 0.2}}, "only one of them"),
        ({"holdout": {"order": "first"}}, "`last`"),
        ({"steps": []}, "at least 1"),
        ({"steps": [{"id": "s", "use": "a.b", "width": {}}]}, "Did you mean `with`?"),
        ({"steps": [{"id": "s", "use": "a.b", "inputs": {"data": 3}}]}, "`STEP.ARTIFACT`"),
        (
            {"steps": [{"id": "a", "use": "a.b"}], "inputs": [{"name": "a", "path": "x"}]},
            "taken by inputs[0]",
        ),
        ({"deliver": ["predictor plugin"]}, "what a publisher delivers"),
        ({"publish": {"version": "1"}}, "the required key `id`"),
        ({"publish": {"id": "a", "version": 0.1}}, 'Put it in quotes: "0.1".'),
        ({"publish": {"id": "a", "version": "one"}}, "a version such as"),
        ({"publish": {"id": "runtime.x"}}, "outside `runtime.`"),
        (
            {"publish": {"id": "a"}, "deliver": ["predictor_plugin", "solver_adapter"]},
            "one identity for 2 packages",
        ),
        ({"executor": 3}, "a mapping with use"),
        ({"reasoner": {"model": "x"}}, "the required key `use`"),
        ({"seed": 1.0}, "Write 1."),
        ({"seed": True}, "found true"),
        ({"seed": 2**32}, "4294967295"),
        ({"constraints": {"a.b": {"when": {}}}}, "a list"),
        ({"constraints": {"a.b": [{"when": {}}]}}, "the required key `require`"),
        ({"constraints": {"a.b": [{"when": {}, "require": {}, "unless": {}}]}}, "`unless`"),
        ({"workflow": {"final_predictor": "yes"}}, "write true"),
        ({"permissions": {"publish_plugin": True}}, "Did you mean `publish_plugins`?"),
    ],
)
def test_a_broken_field_is_refused(fields: dict[str, Any], expected: str) -> None:
    assert expected in said(**fields)


@pytest.mark.parametrize("text", ["[1, 2]", "text", "null", "3"])
def test_a_document_that_is_no_mapping_is_refused(text: str) -> None:
    assert "a mapping with the fields of research-contract-v1" in str(problems_of(text)[0])


def test_the_capability_in_a_path_is_quoted() -> None:
    problems = problems_of(with_fields(constraints={"beam.track": [{"when": 3, "require": {}}]}))

    assert problems[0].path == 'constraints["beam.track"][0].when'


def test_a_missing_file_is_a_problem_not_an_exception(tmp_path: Path) -> None:
    contract, problems = read_contract(tmp_path / "gone.yaml")

    assert contract is None
    assert "no such file" in str(problems[0])


def test_the_sound_parts_of_a_broken_contract_are_kept_for_preflight(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FULL.replace("target: period", "target: 3").replace("budget:", "bugdet:"))

    reading = examine_contract(path)

    assert reading.contract is None
    assert reading.draft is not None
    assert reading.draft.inputs[0].target is None
    assert reading.draft.acceptance[0].metric == "relative_rmse"
    assert {"inputs", "budget"} <= reading.doubtful
    assert "steps" not in reading.doubtful


def test_the_gravest_problem_decides_the_exit_code() -> None:
    with pytest.raises(ContractError, match="2 problems") as contract_error:
        raise_for([Problem("data", "c.yaml"), Problem("contract", "c.yaml")])
    with pytest.raises(IntegrityError) as integrity_error:
        raise_for([Problem("contract"), Problem("integrity")], "c.yaml")
    raise_for([])

    assert contract_error.value.exit_code == 3
    assert integrity_error.value.exit_code == 7
    assert len(integrity_error.value.problems) == 2


def test_fields_of_an_input_outside_a_run_are_checked_alike() -> None:
    item = read_input({"name": "data", "path": "/tmp/x.csv", "target": "y", "ignore": ["note"]})

    assert (item.role, item.target, item.ignore) == ("labelled_table", "y", ("note",))
    with pytest.raises(ContractError) as caught:
        read_input({"name": "data", "path": "x.csv", "traget": "y"})
    assert "Did you mean `target`?" in str(caught.value.problems[0])
