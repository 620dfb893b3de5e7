"""`harness new --from`: what an earlier run asked for, as a contract to fill in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

RULE = {"when": {"text": "x"}, "require": {"pause": 0}}
EARLIER: dict[str, Any] = {
    "title": "Earlier: with a colon",
    "goal": 'Find it.\nIn two lines, with "quotes".',
    "questions": ["Why?", "- How?"],
    "capabilities": ["toy.note", "toy.fit", "evaluation.regression"],
    "constraints": {"toy.note": [RULE], "toy.fit": [{"when": {}, "require": {"bias": 0.0}}]},
    "workflow": {"required_artifacts": ["scientific_report"], "final_predictor": True},
    "budget": {"actions": 7, "cpu_hours": 1.5, "wall_time": "1h30m"},
    "permissions": {"publish_plugins": True},
    "seed": 5,
}


@pytest.fixture(scope="module")
def earlier(fresh: Callable[..., Any]) -> Any:
    made = fresh("copying")
    made.table()
    made.contract(**EARLIER)
    made("new", "c.yaml", code=0)
    return made


def test_the_copy_keeps_goal_rules_and_limits(earlier: Any) -> None:
    from sciharness.contract.read import examine_contract

    earlier("new", "--from", "1", "next.yaml", code=0)
    draft = examine_contract(earlier.folder / "next.yaml").draft

    assert draft is not None
    assert (draft.title, draft.goal) == (EARLIER["title"], EARLIER["goal"])
    assert list(draft.questions) == EARLIER["questions"]
    assert list(draft.capabilities) == EARLIER["capabilities"]
    assert draft.constraints["toy.note"][0].when == {"text": "x"}
    assert draft.workflow.final_predictor is True
    assert draft.acceptance[0].metric == "relative_rmse" and draft.acceptance[0].trusted
    assert draft.budget == {"actions": 7, "cpu_hours": 1.5, "wall_time": 5400.0}


def test_inputs_and_permissions_are_not_copied(earlier: Any) -> None:
    from sciharness.contract.read import examine_contract

    copied = earlier("new", "--from", "1", "other.yaml", "--json", code=0).json
    draft = examine_contract(earlier.folder / "other.yaml").draft

    assert draft is not None
    assert draft.inputs == () and draft.steps is None
    assert draft.permissions.publish_plugins is False
    assert copied["inputs_before"] == ["data (labelled_table)"]
    assert len(earlier("list", "--json", code=0).json["runs"]) == 1


def test_filled_in_it_passes(earlier: Any) -> None:
    earlier("new", "--from", "1", "filled.yaml", code=0)
    path = earlier.folder / "filled.yaml"
    inputs = "inputs: [{name: data, path: data.csv}]"
    path.write_text(path.read_text("utf-8").replace("inputs: []", inputs), "utf-8")

    assert earlier("check", "filled.yaml", code=0).out.endswith("ok\n")


def test_an_existing_file_is_left_alone(earlier: Any) -> None:
    before = (earlier.folder / "c.yaml").read_text("utf-8")

    refused = earlier("new", "--from", "1", "c.yaml", code=2)

    assert "exists" in refused.err
    assert (earlier.folder / "c.yaml").read_text("utf-8") == before


def test_a_dry_run_prints_the_contract(earlier: Any) -> None:
    shown = earlier("new", "--from", "1", "never.yaml", "-n", code=0).out

    assert shown.startswith("# Copied from run 00001-")
    assert not (earlier.folder / "never.yaml").exists()


def test_what_cannot_be_leased_is_dropped_and_named(earlier: Any) -> None:
    earlier("plugin", "revoke", "toy", code=0)

    copied = earlier("new", "--from", "1", "left.yaml", "--json", code=0)

    assert copied.json["capabilities"] == ["evaluation.regression"]
    assert [item["capability"] for item in copied.json["dropped"]] == ["toy.note", "toy.fit"]
    assert "left out: toy.fit" in copied.err
    text = (earlier.folder / "left.yaml").read_text("utf-8")
    assert "# not available: toy.fit" in text
    assert "constraints: {}" in text


def test_new_without_anything_is_a_usage_error(earlier: Any) -> None:
    assert "--from" in earlier("new", code=2).err
