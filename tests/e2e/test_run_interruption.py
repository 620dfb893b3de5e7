"""Killed, stopped or beside another: a run loses nothing, lies about nothing, charges once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NAMES = ("one", "two", "three", "four", "five")


def notes(made: Any, pause: float = 1.0, name: str = "c.yaml") -> None:
    """Write a contract of five notes, the third of which takes its time."""
    made.contract(
        inputs=None,
        holdout="none",
        capabilities=["toy.note"],
        acceptance=[{"metric": "value", "op": "==", "value": 1}],
        steps=[
            {
                "id": name,
                "use": "toy.note",
                "with": {"text": name, "pause": pause if name == "three" else 0.0},
            }
            for name in NAMES
        ],
        name=name,
    )


def wait_for(process: subprocess.Popen[str], words: str) -> str:
    """Read what a command says until it says ``words``."""
    assert process.stderr is not None
    heard = ""
    for line in process.stderr:
        heard += line
        if words in line:
            return heard
    raise AssertionError(f"it ended without saying {words!r}: {heard}")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def results(run: dict[str, Any]) -> dict[str, str]:
    """Return the IDs of all artifacts but the report, which tells of this very run."""
    return {
        f"{item['step']}.{item['name']}": item["id"]
        for item in run["artifacts"]
        if item["type"] != "scientific_report"
    }


def counted(run: dict[str, Any]) -> dict[str, float]:
    return {key: run["budget"][key]["used"] for key in ("actions", "solver_calls", "failures")}


@pytest.fixture(scope="module")
def undisturbed(fresh: Callable[..., Any]) -> Any:
    made = fresh("undisturbed")
    notes(made)
    return made("run", "c.yaml", "--json", code=0).json


@pytest.fixture(scope="module")
def killed(fresh: Callable[..., Any]) -> Any:
    """A run that was killed in the middle of its third action, as everything shows it."""
    made = fresh("killed")
    notes(made)
    process = made.start("run", "c.yaml")
    wait_for(process, "[3] three")
    process.send_signal(signal.SIGKILL)
    ended(process)
    shown = {word: made(word, "1", "--json", code=0).json for word in ("status", "show")}
    shown["list"] = made("list", "--json", code=0).json["runs"][0]
    return made, shown, made("resume", "1", "--json")


def test_a_killed_run_is_interrupted_everywhere(
    killed: Any, conforms: Callable[[str, Any], None]
) -> None:
    _, shown, _ = killed

    assert {word: run["status"] for word, run in shown.items()} == dict.fromkeys(
        ("status", "show", "list"), "interrupted"
    )
    conforms("run", shown["show"])
    assert set(results(shown["show"])) == {"one.note.txt", "two.note.txt"}


def test_a_resumed_run_ends_as_an_undisturbed_one(killed: Any, undisturbed: Any) -> None:
    _, _, resumed = killed

    assert resumed.code == 0
    assert results(resumed.json) == results(undisturbed)
    assert resumed.json["metrics"] == undisturbed["metrics"]
    assert resumed.json["criteria"] == undisturbed["criteria"]


def test_only_what_was_not_complete_runs_again(killed: Any) -> None:
    made, _, resumed = killed

    told = [line for line in resumed.err.splitlines() if line.startswith("[")]
    started = [event for event in made.events() if event["kind"] == "ActionStarted"]
    steps = [event["body"]["action"]["step"] for event in started]
    assert told == ["[3] three: toy.note", "[4] four: toy.note", "[5] five: toy.note"]
    assert steps == ["one", "two", "three", "three", "four", "five"]


def test_nothing_is_charged_twice(killed: Any, undisturbed: Any) -> None:
    _, _, resumed = killed

    assert counted(resumed.json) == counted(undisturbed)
    assert resumed.json["budget"]["reasoner_calls"] == undisturbed["budget"]["reasoner_calls"]


def test_the_record_of_a_killed_run_verifies(killed: Any) -> None:
    made, _, resumed = killed

    made("verify", "1", code=0)
    made("verify", resumed.json["export"], code=0)
    assert list((made.home / "workspaces").iterdir()) == []


def test_the_first_interrupt_waits_for_the_action(harness: Any, undisturbed: Any) -> None:
    notes(harness)
    process = harness.start("run", "c.yaml", "--json")
    wait_for(process, "[3] three")
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = ended(process)

    assert code == 130
    assert json.loads(out)["status"] == "interrupted"
    assert "press Ctrl-C again" in err and "harness resume" in err
    assert "three.note.txt" in results(json.loads(out))
    resumed = harness("run", "c.yaml", "--json", code=0)  # `run` continues it too
    assert "continuing the unfinished run" in resumed.err
    assert results(resumed.json) == results(undisturbed)
    assert counted(resumed.json) == counted(undisturbed)


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_a_second_interrupt_or_a_termination_stops_at_once(
    harness: Any, signals: tuple[signal.Signals, ...]
) -> None:
    notes(harness, pause=30.0)
    process = harness.start("run", "c.yaml", "--json")
    wait_for(process, "[3] three")
    asked = time.monotonic()
    for number in signals:
        os.killpg(process.pid, number)
        time.sleep(0.3)  # two signals at once would be heard as one
    code, out, _ = ended(process)

    assert code == 130
    assert time.monotonic() - asked < 10.0
    assert json.loads(out)["status"] == "interrupted"
    assert "three.note.txt" not in results(json.loads(out))  # written in haste, not kept


def test_a_run_that_is_worked_on_is_left_alone(harness: Any) -> None:
    notes(harness, pause=3.0)
    process = harness.start("run", "c.yaml", "--json")
    wait_for(process, "[3] three")

    second = harness("run", "c.yaml", code=2)
    shown = harness.show()

    assert f"process {process.pid}" in second.err
    assert shown["status"] == "running"
    assert ended(process)[0] == 0


def test_two_runs_go_side_by_side(harness: Any) -> None:
    notes(harness, pause=0.5, name="left.yaml")
    notes(harness, pause=0.6, name="right.yaml")
    both = [harness.start("run", name, "--json") for name in ("left.yaml", "right.yaml")]
    codes = [ended(process)[0] for process in both]

    runs = harness("list", "--json", code=0).json["runs"]
    assert codes == [0, 0]
    assert [run["status"] for run in runs] == ["succeeded", "succeeded"]
    for run in runs:
        harness("verify", run["run_id"], code=0)


def test_a_run_is_created_without_starting_it(harness: Any) -> None:
    harness.table()
    harness.contract()

    made = harness("new", "c.yaml", "--json", code=0).json
    started = harness("start", "1", "--json", code=0).json

    assert (made["status"], made["delivery"], made["metrics"]) == ("created", "none", [])
    assert made["sealed_holdout_targets"]["data"]["rows_final"] == 12
    assert started["run_id"] == made["run_id"]
    assert started["status"] == "succeeded"
    assert "succeeded" in harness("start", "1", code=2).err


def test_a_run_made_by_new_goes_on_without_its_files(harness: Any) -> None:
    harness.table()
    harness.contract()
    run_id = harness("new", "c.yaml", code=0).out.strip()
    for name in ("c.yaml", "data.csv"):
        (harness.folder / name).unlink()

    assert harness("start", run_id, "--json", code=0).json["status"] == "succeeded"


@pytest.fixture(scope="module")
def changed(fresh: Callable[..., Any]) -> Any:
    made = fresh("changed")
    made.table()
    made.contract()
    made("run", "c.yaml", code=0)
    return made


def test_a_changed_data_file_is_named(changed: Any) -> None:
    changed.table(seed=2)

    refused = changed("run", "c.yaml", "--json", code=7)

    (problem,) = refused.json["problems"]
    assert problem["path"] == "inputs.data"
    assert problem["found"] != problem["expected"]
    assert "final labels" in problem["hint"] and "harness lock c.yaml --update" in problem["hint"]


def test_a_changed_contract_is_named(changed: Any) -> None:
    changed.table()
    changed.contract(title="Another title")

    refused = changed("run", "c.yaml", "--json", code=7)

    assert [problem["path"] for problem in refused.json["problems"]] == ["contract"]
    changed("lock", "c.yaml", "--update", code=0)
    assert changed("run", "c.yaml", "--json", code=0).json["title"] == "Another title"


def test_comments_and_layout_change_nothing(changed: Any) -> None:
    changed.table()
    path = changed.contract(title="Another title")
    path.write_text("# a comment\n" + json.dumps(json.loads(path.read_text())), "utf-8")
    changed("lock", "c.yaml", "--update", code=0)

    changed("lock", "c.yaml", "--dry-run", code=0)
    changed("run", "c.yaml", code=0)


def test_an_interrupted_run_with_changed_data_is_not_continued(harness: Any) -> None:
    harness.table()
    harness.contract()
    harness("new", "c.yaml", code=0)
    harness.table(seed=3)

    refused = harness("run", "c.yaml", code=7)

    assert "data changed since" in refused.err
    assert [run["status"] for run in harness("list", "--json").json["runs"]] == ["created"]


def test_fresh_starts_anew(harness: Any) -> None:
    notes(harness, pause=0.0)
    harness("new", "c.yaml", code=0)

    harness("run", "c.yaml", "--fresh", code=0)

    statuses = [run["status"] for run in harness("list", "--json").json["runs"]]
    assert statuses == ["created", "succeeded"]


def count_events(home: Path) -> int:
    try:
        with sqlite3.connect(f"file:{home / 'harness.db'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 14))
def test_a_kill_after_any_event_loses_nothing(
    fresh: Callable[..., Any], number: int, judged: Any
) -> None:
    made = fresh("anywhere")
    made.table()
    made.contract()
    process = made.start("run", "c.yaml")
    while process.poll() is None and count_events(made.home) < number:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    ended(process)

    runs = made("list", "--json", code=0).json["runs"]
    done = [run for run in runs if run["status"] == "succeeded"]
    again = made.show() if done else made("run", "c.yaml", "--json", code=0).json
    assert results(again) == results(judged)
    assert again["criteria"] == judged["criteria"]
    assert [(look["look"], look["replayed"]) for look in again["holdout_queries"]] == [(1, False)]
    assert counted(again) == counted(judged)
    made("verify", "1", code=0)
    assert made("doctor", "--fsck", "--json", code=0).json["home"]["problems"] == []


@pytest.fixture(scope="module")
def judged(fresh: Callable[..., Any]) -> Any:
    made = fresh("judged")
    made.table()
    made.contract()
    return made("run", "c.yaml", "--json", code=0).json


@pytest.mark.slow
def test_many_runs_are_created_at_once(harness: Any) -> None:
    notes(harness, pause=0.0)
    processes = [harness.start("new", "c.yaml") for _ in range(50)]
    codes = [ended(process)[0] for process in processes]

    runs = harness("list", "--json", code=0).json["runs"]
    assert codes == [0] * 50
    assert len({run["run_id"] for run in runs}) == 50
    assert list((harness.home / "tmp").iterdir()) == []
