"""A limit stops a run with everything kept; raising it goes on in one step, nothing paid twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NOTHING = [{"id": f"s{number}", "use": "toy.nothing"} for number in range(5)]
FIVE: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.nothing"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
    "steps": NOTHING,
    "budget": {"actions": 3, "wall_time": "1h"},
}
NOTE = {"capabilities": ["toy.note"], "acceptance": FIVE["acceptance"]}


@pytest.fixture(scope="module")
def exhausted(fresh: Callable[..., Any]) -> Any:
    """Public report T-04: three actions are allowed, the work needs five."""
    made = fresh("exhausted")
    made.contract(**FIVE)
    return made, made("run", "c.yaml", "--json")


@pytest.fixture(scope="module")
def raised(exhausted: Any) -> Any:
    made, _ = exhausted
    return made("budget", "1", "--add", "actions=2", "--json")


def test_at_the_limit_the_run_ends_with_code_5(exhausted: Any) -> None:
    _, ended = exhausted

    assert ended.code == 5
    assert ended.json["status"] == "budget_exhausted"
    assert "harness budget" in ended.json["error"]["hint"]
    assert Path(ended.json["export"]).is_dir()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "actions=3"], "more than the limit of today, 3"),
        (["--set", "actions=2"], "more than the limit of today, 3"),
        (["--add", "actions=0"], "whole number above zero"),
        (["--add", "actions=-1"], "whole number above zero"),
        (["--add", "actions=1.5"], "whole number above zero"),
        (["--add", "action=5"], "actions"),
        (["--add", "failures=1"], "no limit that could be raised"),
        (["--add", "wall_time=1h"], "this one ended the run"),
        (["--set", "wall_time=90"], "90s, 10m or 1h30m"),
        (["--add", "actions"], "KEY=AMOUNT"),
        (["--add", "actions=1", "--add", "actions=2"], "each key once"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_raises_nothing_is_refused(exhausted: Any, words: list[str], said: str) -> None:
    made, _ = exhausted

    refused = made("budget", "1", *words, code=2)

    assert said in refused.err
    assert "BudgetRaised" not in made.kinds()


def test_a_dry_run_shows_and_changes_nothing(exhausted: Any) -> None:
    made, ended = exhausted

    shown = made("budget", "1", "--set", "actions=9", "-n", "--json", code=0).json

    assert shown["changes"] == {"actions": {"from": 3, "to": 9}}
    assert shown["goes_on"] is True
    assert made.show() == ended.json


def test_raising_goes_on_with_what_was_left(exhausted: Any, raised: Any) -> None:
    made, _ = exhausted
    settled = [e["body"]["action"]["step"] for e in made.events() if e["kind"] == "ActionFinished"]

    assert raised.code == 0
    assert raised.json["status"] == "succeeded"
    assert "error" not in raised.json
    assert settled == ["s0", "s1", "s2", "s3", "s4"]
    assert raised.json["budget"]["actions"] == {"used": 5, "limit": 5}
    assert raised.json["budget"]["reasoner_calls"]["used"] == 5


def test_raising_and_going_on_are_one_commit(exhausted: Any, raised: Any) -> None:
    made, _ = exhausted
    events = made.events()
    (number,) = [n for n, event in enumerate(events) if event["kind"] == "BudgetRaised"]

    assert events[number]["body"]["changes"] == {"actions": {"from": 3, "to": 5}}
    assert events[number + 1]["kind"] == "RunStarted"
    assert events[number]["time"] == events[number + 1]["time"]  # one commit, one time


def test_the_report_is_written_anew(exhausted: Any, raised: Any) -> None:
    made, _ = exhausted
    reports = [item for item in raised.json["artifacts"] if item["name"] == "report.md"]
    export = Path(raised.json["export"])

    text = made("report", "1", "--markdown", code=0).out

    assert len(reports) == 2
    assert "ended early" in Path(reports[0]["path"]).read_text("utf-8")
    assert "ended early" not in text
    assert (export / "report.md").read_text("utf-8").strip() == text.strip()
    made("verify", "1", code=0)
    made("verify", export, code=0)


def test_a_run_that_no_limit_ended_is_not_raised(exhausted: Any, raised: Any) -> None:
    made, _ = exhausted

    assert "no limit ended it" in made("budget", "1", "--add", "actions=1", code=2).err


def test_the_budget_is_shown(exhausted: Any, raised: Any) -> None:
    made, _ = exhausted

    shown = made("budget", "1", code=0).out

    assert "actions           5 of 5" in shown
    assert "of 1h" in shown


def test_a_paid_report_is_not_paid_again(steered: Any) -> None:
    # Two steps and the report use up three actions; two more are the two steps that are left.
    capabilities = ["toy.nothing", "reporting.write"]
    four = {**FIVE, "capabilities": capabilities, "steps": NOTHING[:4]}
    steered.harness.contract(**four)
    first = steered.harness("run", "c.yaml", "--json", code=5).json

    run = steered.harness("budget", "1", "--add", "actions=2", "--json", code=0).json

    assert first["budget"]["actions"] == {"used": 3, "limit": 3}
    assert run["budget"]["actions"] == {"used": 5, "limit": 5}
    assert [item["name"] for item in run["artifacts"]].count("report.html") == 2
    assert steered.settled()[-1] == "report"


def test_a_second_limit_can_be_met_and_raised(steered: Any) -> None:
    steered.harness.contract(**{**FIVE, "budget": {"actions": 1}})
    steered.harness("run", "c.yaml", code=5)

    again = steered.harness("budget", "1", "--add", "actions=1", code=5)
    whole = steered.harness("budget", "1", "--set", "actions=unlimited", "--json", code=0).json

    assert "used 2 of 2" in again.err
    assert whole["budget"]["actions"] == {"used": 5, "limit": None}
    assert steered.settled() == ["s0", "s1", "s2", "s3", "s4"]


def test_a_running_run_gets_more_before_its_next_action(steered: Any) -> None:
    steps = [
        {"id": "slow", "use": "toy.note", "with": {"pause": 3}},
        {"id": "next", "use": "toy.note"},
    ]
    fields = {**NOTE, "inputs": None, "holdout": "none", "steps": steps, "budget": {"actions": 1}}
    steered.harness.contract(**fields)
    process = steered.start("run", "c.yaml", "--json")
    steered.until("ActionStarted")

    shown = steered.harness("budget", "1", "--add", "actions=1", "--json", code=0).json
    out, _ = process.communicate(timeout=60)

    assert shown["status"] == "running"
    assert shown["budget"]["actions"] == {"used": 0, "limit": 2, "reserved": 1}
    assert process.returncode == 0
    assert json.loads(out)["budget"]["actions"] == {"used": 2, "limit": 2}


def test_a_paused_run_stays_paused(steered: Any) -> None:
    steered.harness.contract(**FIVE)
    steered.harness("new", "c.yaml", code=0)

    shown = steered.harness("budget", "1", "--set", "actions=6", "--json", code=0).json

    assert shown["status"] == "created"
    assert shown["budget"]["actions"]["limit"] == 6
    assert steered.harness("start", "1", "--json", code=0).json["status"] == "succeeded"


def test_an_action_out_of_time_runs_again_with_more(steered: Any) -> None:
    steps = [
        {"id": "first", "use": "toy.note"},
        {"id": "slow", "use": "toy.note", "with": {"pause": 4, "stubborn": True}},
    ]
    fields = {**NOTE, "inputs": None, "holdout": "none", "steps": steps}
    steered.harness.contract(**fields, budget={"wall_time": "1s"})

    first = steered.harness("run", "c.yaml", "--json", code=5).json
    run = steered.harness("budget", "1", "--set", "wall_time=5m", "--json", code=0).json

    assert first["budget"]["actions"]["used"] == 1
    assert first["budget"]["failures"]["used"] == 0
    assert steered.settled() == ["first", "slow"]
    assert run["budget"]["actions"]["used"] == 2
    assert run["budget"]["wall_time"]["used"] > first["budget"]["wall_time"]["used"] > 1.0
