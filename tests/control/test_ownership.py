"""One owner per run, permissions that outlast a kill, deliveries that can be tried again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciharness.failpoints import VARIABLE
from sciharness.store.home import Home

NOTES: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.note"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}


def notes(*pauses: float) -> list[dict[str, Any]]:
    return [
        {"id": f"n{number}", "use": "toy.note", "with": {"pause": pause}}
        for number, pause in enumerate(pauses)
    ]


def test_an_owner_that_was_replaced_writes_nothing_more(steered: Any) -> None:
    # As on a shared disk: another machine took the run over, since it could not see our process.
    steered.harness.contract(**NOTES, steps=notes(3, 0))
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted")
    with Home.open(steered.harness.home) as home, home.writing() as tx:
        other = json.dumps({"host": "elsewhere", "pid": 1, "started": "1"})
        tx.execute("UPDATE runs SET owner = ?", (other,))

    _, err = process.communicate(timeout=60)

    assert process.returncode == 2
    assert "taken this run over" in err
    assert "ActionFinished" not in steered.kinds()
    steered.sound()


def test_a_pause_from_where_the_owner_cannot_be_seen_stops_it(steered: Any) -> None:
    steered.harness.contract(**NOTES, steps=notes(3, 0))
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted")
    with Home.open(steered.harness.home) as home, home.writing() as tx:
        (owner,) = tx.execute("SELECT owner FROM runs").fetchone()
        tx.execute("UPDATE runs SET owner = ?", (json.dumps({**json.loads(owner), "host": "x"}),))

    steered.harness("pause", "1", code=0)
    process.communicate(timeout=60)

    assert process.returncode == 2
    assert steered.status() == "paused"
    assert steered.harness("resume", "1", "--json", code=0).json["status"] == "succeeded"


def test_leave_to_look_once_more_outlasts_a_kill(steered: Any) -> None:
    harness = steered.harness
    harness.table()
    harness.contract()
    harness("run", "c.yaml", code=0)
    steps = [
        {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}, "with": {"bias": 0.01}},
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data"},
        },
    ]
    harness.contract(name="other.yaml", steps=steps)

    harness("run", "other.yaml", "--spend-holdout", **{VARIABLE: "predictor.frozen"})
    resumed = harness("resume", "2", "--json", code=0).json

    assert resumed["holdout_queries"][0]["look"] == 2
    assert resumed["holdout_queries"][0]["spent"] is True


def test_a_failed_delivery_can_be_tried_again(steered: Any) -> None:
    harness = steered.harness
    harness.contract(**NOTES, steps=notes(0))
    run_id = harness("new", "c.yaml", code=0).out.strip()
    in_the_way = harness.home / "exports" / run_id
    in_the_way.mkdir()
    (in_the_way / "mine.txt").write_text("not an export", "utf-8")

    failed = harness("start", "1", "--json", code=6).json
    shutil.rmtree(in_the_way)
    again = harness("resume", "1", "--json", code=0).json

    assert (failed["status"], failed["delivery"]) == ("succeeded", "failed")
    assert "harness resume" in failed["error"]["hint"]
    assert (again["status"], again["delivery"]) == ("succeeded", "succeeded")
    assert "error" not in again
    assert Path(again["export"], "report.md").is_file()
    assert steered.settled() == ["n0"]


def test_paid_model_calls_of_a_killed_attempt_stay_charged(
    steered: Any, killed: Callable[..., None]
) -> None:
    # What cannot be undone is charged although the action runs again; all else once.
    charge = {"usage": {"model_calls": 3, "solver_calls": 5}, "pause": 60}
    steps = [{"id": "a", "use": "toy.charge", "with": charge}]
    steered.harness.contract(**{**NOTES, "capabilities": ["toy.charge"]}, steps=steps)
    process = steered.start("run", "c.yaml")
    steered.until("ActionCharged")
    killed(process)
    process = steered.start("resume", "1")
    steered.until("ActionCharged", times=2)
    steered.harness("pause", "1", "--now", code=0)
    process.communicate(timeout=60)

    used = steered.harness("budget", "1", "--json", code=0).json["budget"]

    assert used["model_calls"]["used"] == 6
    assert used["solver_calls"]["used"] == 0
    assert used["actions"]["used"] == 0


def test_run_tells_of_a_run_that_its_budget_ended(steered: Any) -> None:
    steered.harness.contract(**NOTES, steps=notes(0, 0), budget={"actions": 1})
    steered.harness("run", "c.yaml", code=5)

    again = steered.harness("run", "c.yaml", code=5)

    assert "harness budget 00001-" in again.err
    assert len(steered.harness("list", "--json", code=0).json["runs"]) == 2
