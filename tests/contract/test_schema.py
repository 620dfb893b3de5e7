"""The JSON Schema for editors and the loader have one opinion."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators

from sciharness.contract.document import parse_document
from sciharness.contract.fields import CONTRACT
from sciharness.contract.findings import Findings
from sciharness.contract.read import parse_contract
from sciharness.contract.schema import contract_json_schema

GOOD: dict[str, Any] = {
    "schema": "research-contract-v1",
    "title": "T",
    "goal": "G",
    "questions": ["q"],
    "inputs": [
        {
            "name": "data",
            "path": "a.csv",
            "role": "labelled_table",
            "features": ["x"],
            "units": {"x": "m"},
        },
        {
            "name": "solver",
            "path": "s",
            "role": "reference_solver",
            "solver": {
                "executable": "e",
                "command": ["{executable}"],
                "table": {"inputs": ["a"], "outputs": ["b"]},
                "smoke": {"args": ["-v"], "expect_exit": 0},
            },
        },
    ],
    "capabilities": ["a.b", "a.c"],
    "constraints": {"a.b": [{"when": {"x": 1}, "require": {"y": None}}]},
    "acceptance": [{"metric": "r2", "op": ">=", "value": 0.9, "trusted": True}],
    "workflow": {"hypothesis_verification": False, "required_artifacts": ["model"]},
    "permissions": {"publish_plugins": True},
    "budget": {"actions": 3, "cpu_hours": 0.5, "wall_time": "1h30m", "failures": None},
    "holdout": {"fraction": 0.2, "seed": 0, "group": "g"},
    "executor": "local",
    "reasoner": {"use": "x", "any": 1},
    "steps": [{"id": "s", "use": "a.b", "inputs": {"data": "data"}, "with": {"n": [1]}}],
    "deliver": ["predictor_plugin"],
    "publish": {"id": "a.b", "version": "1.0", "install": False},
    "seed": 0,
}
SPARE: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    3,
    0.5,
    1.5,
    1e300,
    "",
    " ",
    "x",
    "none",
    "unlimited",
    "last",
    "10m",
    "0s",
    "a.b",
    "A.b",
    "x" * 130,
    "a\nb",
    [],
    ["x"],
    ["x", "x"],
    [1],
    {},
    {"x": 1},
    {"id": "a"},
    {"predictor_plugin": {"id": "a"}},
    {"predictor_plugin": {"id": "a"}, "id": "b"},
    {"generated_by": "s"},
    {"generated_by": "s", "fraction": 0.1},
    {"order": "last", "group": "g"},
]
NAMES = ["title", "name", "op", "fraction", "use", "id", "extra", "with", "trusted", "actions"]


def is_plain_integer(checker: object, value: object) -> bool:
    # JSON Schema counts 3.0 as an integer; a contract does not (ruling Y-01).
    return isinstance(value, int) and not isinstance(value, bool)


STRICT = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_plain_integer),
)
VALIDATOR = STRICT(contract_json_schema())


def loader_accepts(value: Any) -> bool:
    findings = Findings()
    CONTRACT.read(value, (), findings)
    return not findings.problems


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path]
    for key, item in inner if isinstance(value, dict | list) else ():
        found += places(item, (*path, key)) if isinstance(item, dict | list) else [(*path, key)]
    return found


@st.composite
def changed(draw: st.DrawFn) -> Any:
    value = copy.deepcopy(GOOD)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(value)))
        spare = copy.deepcopy(draw(st.sampled_from(SPARE)))
        if not path:
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        what = draw(st.sampled_from(["set", "drop", "add", "double"]))
        if what == "set":
            parent[path[-1]] = spare
        elif what == "drop":
            del parent[path[-1]]
        elif isinstance(parent, dict):
            parent[draw(st.sampled_from(NAMES))] = spare
        elif what == "double":
            parent.append(copy.deepcopy(parent[path[-1]]))
        else:
            parent.append(spare)
    return value


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(contract_json_schema())
    json.dumps(contract_json_schema(), allow_nan=False)


def test_both_accept_the_good_contract() -> None:
    assert VALIDATOR.is_valid(GOOD)
    assert loader_accepts(GOOD)


@settings(max_examples=300, deadline=None)
@given(changed())
def test_schema_and_loader_agree(value: Any) -> None:
    assert VALIDATOR.is_valid(value) == loader_accepts(value)


@settings(max_examples=100, deadline=None)
@given(changed())
def test_what_the_loader_takes_the_schema_takes(value: Any) -> None:
    contract, _ = parse_contract(parse_document(json.dumps(value), "c.json"))

    assert contract is None or VALIDATOR.is_valid(value)


@pytest.mark.parametrize("name", sorted(CONTRACT.fields))
def test_every_field_tells_what_it_is_for(name: str) -> None:
    assert contract_json_schema()["properties"][name]["description"]


def test_defaults_of_the_schema_are_those_of_the_loader() -> None:
    least = {name: GOOD[name] for name in ("schema", "title", "goal", "capabilities", "acceptance")}
    shown = {
        name: part["default"]
        for name, part in contract_json_schema()["properties"].items()
        if "default" in part
    }

    without, _ = parse_contract(parse_document(json.dumps(least)))
    written, _ = parse_contract(parse_document(json.dumps({**least, **shown})))

    assert without == written
