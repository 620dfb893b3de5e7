"""Criteria are revised on the record, the evidence is judged at once, past outcomes stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

BASE: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.note", "toy.charge"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
    "steps": [{"id": "a", "use": "toy.note"}],
}


@pytest.fixture(scope="module")
def done(fresh: Callable[..., Any]) -> Any:
    """A run that has met its criteria, which are then made harder."""
    made = fresh("revision")
    made.contract(**BASE)
    made("run", "c.yaml", code=0)
    return made


@pytest.fixture(scope="module")
def revised(done: Any) -> Any:
    return done("criteria", "1", "--set", "value>=2", "--why", "too easy", "--json", code=0).json


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "value"], "METRIC<=NUMBER"),
        (["--set", "value>=two"], "METRIC<=NUMBER"),
        (["--set", "value=>2"], "METRIC<=NUMBER"),
        (["--set", "value>=true"], "METRIC<=NUMBER"),
        (["--set", "value>=.nan"], "METRIC<=NUMBER"),
        (["--set", "value>=1"], "criteria of today"),
        (["--remove", "value"], "at least one criterion"),
        (["--remove", "other"], "no criterion is on other"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_no_revision_is_refused(done: Any, words: list[str], said: str) -> None:
    refused = done("criteria", "1", *words)

    assert refused.code in {2, 3}
    assert said in refused.err or "finite" in refused.err
    assert "CriteriaRevised" not in done.kinds()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("valu>=2", "Did you mean `value`"),
        ("value>=2 trusted", "no evaluator"),
        ("task_completion>=2", "the only form of it"),
    ],
)
def test_what_could_not_stand_in_the_contract_is_refused(done: Any, text: str, said: str) -> None:
    refused = done("criteria", "1", "--set", text, code=3)

    assert said in refused.err
    assert "CriteriaRevised" not in done.kinds()


def test_a_dry_run_judges_and_keeps_nothing(done: Any) -> None:
    shown = done("criteria", "1", "--set", "value>=2", "-n", code=0).out

    assert "NOT met: 1 is not >= 2" in shown
    assert "CriteriaRevised" not in done.kinds()


def test_the_evidence_is_judged_at_once(revised: Any) -> None:
    (verdict,) = revised["criteria"]

    assert verdict["threshold"] == 2 and verdict["value"] == 1 and verdict["met"] is False


def test_a_finished_run_keeps_its_status_and_says_so(done: Any, revised: Any) -> None:
    shown = done("show", "1", "--json", code=0).json

    assert revised["status"] == shown["status"] == "succeeded"
    assert shown["conditions"] == "completed under the old conditions"
    assert "completed under the old conditions" in done("status", "1", code=0).out
    assert shown["criteria"][0]["met"] is False


def test_the_revision_is_on_the_record(done: Any, revised: Any) -> None:
    (event,) = [one for one in done.events() if one["kind"] == "CriteriaRevised"]

    assert event["body"]["why"] == "too easy"
    assert event["body"]["replaced"][0]["value"] == 1
    assert event["body"]["acceptance"][0]["value"] == 2
    assert revised["revisions"][0]["seq"] == event["seq"]
    done("verify", "1", code=0)
    done("export", "1", "--out", "again.zip", code=0)
    done("verify", "again.zip", code=0)


def test_a_file_gives_the_whole_list(done: Any, revised: Any) -> None:
    path = done.folder / "criteria.yaml"
    path.write_text('- {metric: value, op: ">=", value: 0.5}\n', "utf-8")

    shown = done("criteria", "1", "--edit", path, "--json", code=0).json
    path.write_text('acceptance:\n  - {metric: value, op: "~", value: 1}\n', "utf-8")
    refused = done("criteria", "1", "--edit", path, code=3)

    assert shown["criteria"][0]["met"] is True
    assert "conditions" in shown and "completed under" not in shown["conditions"]
    assert "criteria.yaml:2" in refused.err


def test_a_running_run_is_not_revised(steered: Any) -> None:
    steps = [{"id": "a", "use": "toy.note", "with": {"pause": 60}}, {"id": "b", "use": "toy.note"}]
    steered.harness.contract(**{**BASE, "steps": steps})
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted")

    refused = steered.harness("criteria", "1", "--set", "value>=2", code=2)
    steered.harness("pause", "1", "--now", code=0)
    process.communicate()
    steered.harness("criteria", "1", "--set", "value>=2", code=0)
    steered.harness("criteria", "1", "--set", "value<=1 any", code=0)

    assert "harness pause" in refused.err
    assert steered.status() == "paused"
    assert [item["threshold"] for item in steered.harness.show()["criteria"]] == [1.0]


def test_a_paused_run_ends_by_the_revised_criteria(steered: Any) -> None:
    steps = [{"id": "a", "use": "toy.note"}, {"id": "b", "use": "toy.note", "with": {"pause": 3}}]
    steered.harness.contract(**{**BASE, "steps": steps})
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted", times=2)
    steered.harness("pause", "1", "--wait", code=0)
    process.communicate()
    steered.harness("criteria", "1", "--set", "value>=2", code=0)

    run = steered.harness("resume", "1", "--json", code=1).json

    assert run["status"] == "failed"
    assert run["conditions"] == "the criteria were revised; they hold for the whole run"


def test_a_trusted_criterion_stays_trusted(steered: Any) -> None:
    steered.harness.table()
    steered.harness.contract()
    steered.harness("run", "c.yaml", code=0)

    shown = steered.harness("criteria", "1", "--set", "relative_rmse<=1e-9", "--json", code=0).json

    (verdict,) = shown["criteria"]
    assert verdict["trusted"] is True and verdict["met"] is False
    assert shown["conditions"] == "completed under the old conditions"
    assert json.loads(json.dumps(shown)) == shown
