"""Examples and guides: what cannot run or says too little is not kept and completes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

FAULTY = {
    "half a call": ({"example": "print(1"}, "it is no Python"),
    "a comment": ({"example": "# only a comment"}, "nothing is called"),
    "a definition": ({"example": "def use():\n    print(1)\n"}, "nothing is called"),
    "Latin-1": ({"example": "print('\xe9')"}, "is not UTF-8"),
    "UTF-7": ({"example": "# coding: utf-7\nprint(1)"}, "its encoding is utf-7"),
    "5000 brackets": ({"example": "(" * 5000}, "it is no Python"),
    "no fallback": ({"guide": "input, output and domain"}, "it says nothing of fallback"),
    "nothing": ({"guide": ""}, "it says nothing of input, output, domain, fallback"),
}


def delivered(made: Any, steps: dict[str, dict[str, str]], **fields: Any) -> Any:
    made.contract(
        inputs=None,
        holdout="none",
        capabilities=["toy.deliver"],
        acceptance=[{"metric": "value", "op": "==", "value": 1}],
        steps=[{"id": id, "use": "toy.deliver", "with": values} for id, values in steps.items()],
        **fields,
    )
    return made("run", "c.yaml", "--json")


@pytest.fixture(scope="module")
def faulty(fresh: Callable[..., Any]) -> Any:
    """A run in which each step writes a faulty file beside a good one."""
    made = fresh("faulty")
    steps = {f"step{number}": texts for number, (texts, _) in enumerate(FAULTY.values())}
    return made, delivered(made, steps)


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_file_is_not_kept(faulty: Any, name: str) -> None:
    made, ended = faulty
    texts, said = FAULTY[name]
    step = f"step{list(FAULTY).index(name)}"
    bad, good = "minimal_example.py", "usage_guide.md"
    bad, good = (good, bad) if "guide" in texts else (bad, good)

    actions = [event["body"].get("action", {}) for event in made.events()]
    (notes,) = [one["notes"] for one in actions if one.get("step") == step and one["notes"]]
    kept = [item["name"] for item in ended.json["artifacts"] if item["step"] == step]
    assert kept == [good]
    assert bad in notes[0] and said in notes[0]


def test_a_faulty_file_completes_nothing(harness: Any) -> None:
    ended = delivered(
        harness, {"make": {"example": "pass"}}, workflow={"required_artifacts": ["minimal_example"]}
    )

    assert ended.code == 1
    assert "no MINIMAL_EXAMPLE was produced" in ended.json["reason"]


def test_types_are_read_in_any_case_and_stored_in_their_own(harness: Any) -> None:
    ended = delivered(
        harness,
        {"make": {"kind": "Minimal_Example", "example": "import math\nprint(math.pi)\n"}},
        workflow={"required_artifacts": ["minimal_example", "Usage_Guide"]},
    )

    types = {item["name"]: item["type"] for item in ended.json["artifacts"]}
    assert ended.code == 0, ended.json.get("reason")
    assert types["minimal_example.py"] == "MINIMAL_EXAMPLE"
    assert types["usage_guide.md"] == "USAGE_GUIDE"
