"""Runs are created, started, paused, resumed, cancelled and killed, and always tell the truth."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sciharness.workers.processes import descendants

NOTES: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.note"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}


def notes(*pauses: float, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"n{number}", "use": "toy.note", "with": {"pause": pause, **fields}}
        for number, pause in enumerate(pauses)
    ]


@pytest.fixture
def long(steered: Any) -> Any:
    """Three notes, the second of which takes a minute."""
    steered.harness.contract(**NOTES, steps=notes(0, 60, 0))
    return steered


@pytest.fixture
def short(steered: Any) -> Any:
    """Three notes, the second of which takes five seconds."""
    steered.harness.contract(**NOTES, steps=notes(0, 5, 0))
    return steered


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_new_creates_only_and_start_runs(short: Any) -> None:
    harness = short.harness
    run = harness("new", "c.yaml", "--json", code=0).json

    assert run["status"] == "created"
    assert short.kinds() == ["RunCreated"]
    assert harness("start", "1", "--json", code=0).json["status"] == "succeeded"
    assert "is succeeded" in harness("start", "1", code=2).err


def test_pause_waits_for_the_safe_point(short: Any, conforms: Callable[..., None]) -> None:
    process = short.start("run", "c.yaml", "--json")
    short.until("ActionStarted", times=2)

    said = short.harness("pause", "1", code=0).err
    code, out, _ = end(process)

    paused = json.loads(out)
    assert "will pause after" in said
    assert code == 4
    assert paused["status"] == "paused" and paused["error"]["kind"] == "waiting"
    conforms("failed run", paused)
    assert short.settled() == ["n0", "n1"]


def test_a_paused_run_goes_on_where_it_stopped(short: Any) -> None:
    process = short.start("run", "c.yaml")
    short.until("ActionStarted", times=2)
    short.harness("pause", "1", "--wait", code=0)
    end(process)

    resumed = short.harness("resume", "1", "--json", code=0).json

    assert resumed["status"] == "succeeded"
    assert short.settled() == ["n0", "n1", "n2"]
    assert resumed["budget"]["actions"]["used"] == 3
    assert resumed["budget"]["solver_calls"]["used"] == 3


def test_pause_now_stops_the_action_and_it_runs_again(long: Any) -> None:
    process = long.start("run", "c.yaml", "--json")
    long.until("ActionStarted", times=2)
    asked = time.monotonic()

    long.harness("pause", "1", "--now", code=0)
    code, out, _ = end(process)

    paused = json.loads(out)
    assert time.monotonic() - asked < 15
    assert code == 4 and paused["status"] == "paused"
    assert paused["budget"]["actions"]["used"] == 1
    assert long.settled() == ["n0"]
    assert "ActionStopped" in long.kinds()


def test_what_a_stopped_action_would_have_given_is_not_kept(long: Any) -> None:
    # toy.note answers a request to stop with a note that says `in haste`.
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)
    long.harness("pause", "1", "--now", code=0)
    end(process)

    names = [item["step"] for item in long.harness.show()["artifacts"]]

    assert names == ["n0"]


def test_a_paused_run_costs_nothing(short: Any) -> None:
    process = short.start("run", "c.yaml")
    short.until("ActionStarted", times=2)
    short.harness("pause", "1", "--wait", code=0)
    end(process)
    used = short.harness("budget", "1", "--json", code=0).json["budget"]["wall_time"]["used"]

    time.sleep(8)
    resumed = short.harness("resume", "1", "--json", code=0).json

    # The last step is a moment's work; the pause would be 8 s more.
    assert resumed["budget"]["wall_time"]["used"] - used < 7.5


def test_pause_of_what_does_not_run(short: Any) -> None:
    harness = short.harness
    harness("new", "c.yaml", code=0)

    assert "the run is created" in harness("pause", "1", code=2).err
    harness("start", "1", code=0)
    assert "the run is succeeded" in harness("pause", "1", code=2).err
    assert "the run is succeeded" in harness("cancel", "1", code=2).err


def test_cancel_ends_a_running_action_and_keeps_what_was_done(long: Any) -> None:
    process = long.start("run", "c.yaml", "--json")
    long.until("ActionStarted", times=2)
    asked = time.monotonic()

    long.harness("cancel", "1", code=0)
    code, out, _ = end(process)

    run = json.loads(out)
    assert time.monotonic() - asked < 15
    assert code == 130 and run["status"] == "cancelled"
    assert [item["step"] for item in run["artifacts"]] == ["n0", "report"]
    assert run["export"] is not None
    long.harness("verify", "1", code=0)
    assert "the run is cancelled" in long.harness("resume", "1", code=2).err


def test_cancel_of_a_run_that_nobody_works_on(short: Any) -> None:
    harness = short.harness
    harness("new", "c.yaml", code=0)

    harness("cancel", "1", "-n", code=0)
    assert short.status() == "created"
    run = harness("cancel", "1", "--json", code=0).json

    assert run["status"] == "cancelled" and run["delivery"] == "none"
    assert run["export"] is not None


def test_the_first_interrupt_waits_for_the_safe_point(short: Any) -> None:
    process = short.start("run", "c.yaml")
    short.until("ActionStarted", times=2)

    process.send_signal(signal.SIGINT)
    code, _, err = end(process)

    assert code == 130
    assert "press Ctrl-C again" in err and "harness resume" in err
    assert short.status() == "interrupted"
    assert short.settled() == ["n0", "n1"]
    assert short.harness("resume", "1", "--json", code=0).json["status"] == "succeeded"


def test_the_second_interrupt_stops_at_once(long: Any) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)

    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    code, _, _ = end(process)

    assert code == 130
    assert time.monotonic() - asked < 10
    assert long.status() == "interrupted"
    assert long.settled() == ["n0"]


def living(mark: str) -> list[str]:
    """Return the processes whose command line holds a word."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in place.read_bytes():
                found.append(place.parent.name)
    return found


def twice(long: Any, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)


STOPS: dict[str, Callable[[Any, subprocess.Popen[str]], object]] = {
    "pause --now": lambda long, process: long.harness("pause", "1", "--now", code=0),
    "cancel": lambda long, process: long.harness("cancel", "1", code=0),
    "Ctrl-C twice": twice,
    "kill -9": lambda long, process: process.kill(),
}


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
@pytest.mark.parametrize("how", STOPS)
def test_the_whole_process_tree_of_an_action_ends(steered: Any, how: str) -> None:
    # Public report T-02: the children left the session, hold the output and ignore SIGTERM.
    mark = f"brood-{secrets.token_hex(8)}"
    steps = [{"id": "brood", "use": "toy.brood", "with": {"mark": mark}}]
    steered.harness.contract(**{**NOTES, "capabilities": ["toy.brood"]}, steps=steps)
    process = steered.start("run", "c.yaml")
    steered.until("ActionProgress")
    assert len(living(mark)) == 2
    asked = time.monotonic()

    STOPS[how](steered, process)
    end(process)
    while living(mark) and time.monotonic() - asked < 12:
        time.sleep(0.05)

    assert living(mark) == []


def test_a_signal_to_all_processes_at_once_is_no_failure_of_the_action(long: Any) -> None:
    # What a shutdown or a batch system does: the worker is gone before we hear of it.
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)

    for pid in [*descendants(process.pid), process.pid]:
        os.kill(pid, signal.SIGTERM)
    code, _, _ = end(process)

    assert code == 130
    assert long.settled() == ["n0"]
    assert long.status() == "interrupted"


def test_a_killed_run_is_interrupted_everywhere(long: Any, killed: Callable[..., None]) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)

    killed(process)

    harness = long.harness
    assert long.status() == "interrupted"
    assert harness.show()["status"] == "interrupted"
    assert harness("list", "--json", code=0).json["runs"][0]["status"] == "interrupted"
    harness("events", "1", "--follow", code=0)  # it does not wait for a dead owner


def test_a_killed_run_repeats_only_what_was_not_complete(
    steered: Any, killed: Callable[..., None]
) -> None:
    # Public report T-03: kill during action 3 of 5; resume runs 3 to 5 and charges each once.
    steered.harness.contract(**NOTES, steps=notes(0, 0, 3, 0, 0))
    process = steered.start("run", "c.yaml")
    steered.until("ActionStarted", times=3)
    killed(process)

    resumed = steered.harness("resume", "1", "--json", code=0).json

    assert steered.settled() == ["n0", "n1", "n2", "n3", "n4"]
    assert steered.kinds().count("ActionStarted") == 6
    for key in ("actions", "solver_calls", "reasoner_calls"):
        assert resumed["budget"][key]["used"] == 5


def test_the_time_of_a_killed_attempt_is_charged(long: Any, killed: Callable[..., None]) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionProgress", times=3)  # one a second
    killed(process)
    time.sleep(2.0)  # dead time is no running time
    process = long.start("resume", "1")
    long.until("RunStarted", times=2)

    used = long.harness("budget", "1", "--json", code=0).json["budget"]["wall_time"]["used"]
    process.kill()

    started = [one["body"] for one in long.harness.events() if one["kind"] == "RunStarted"]
    assert 1.5 < started[1]["usage"]["wall_time"] < 8.0
    assert used >= started[1]["usage"]["wall_time"]


def test_a_killed_run_can_be_paused_and_cancelled(long: Any, killed: Callable[..., None]) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)
    killed(process)

    long.harness("pause", "1", code=0)
    assert long.status() == "paused"
    long.harness("cancel", "1", code=0)

    assert long.status() == "cancelled"
    long.sound()


def test_run_offers_to_go_on_and_fresh_starts_anew(long: Any, killed: Callable[..., None]) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)
    killed(process)

    process = long.start("run", "c.yaml")
    long.until("RunStarted", times=2)
    long.harness("pause", "1", "--now", code=0)
    _, _, err = end(process)
    other = long.start("run", "c.yaml", "--fresh")
    long.until("ActionStarted", "2")
    killed(other)

    assert "continuing the unfinished run" in err and "--fresh" in err
    assert len(long.harness("list", "--json", code=0).json["runs"]) == 2


def test_a_run_that_is_at_work_has_one_owner(long: Any) -> None:
    process = long.start("run", "c.yaml")
    long.until("ActionStarted", times=2)

    refused = long.harness("resume", "1")
    long.harness("cancel", "1", code=0)
    end(process)

    assert refused.code == 2
    assert "works on this run" in refused.err


def test_several_runs_share_one_home(steered: Any) -> None:
    harness = steered.harness
    for name in ("a", "b", "c"):
        harness.contract(**NOTES, title=name, steps=notes(1, 1, text=name), name=f"{name}.yaml")

    processes = [steered.start("run", f"{name}.yaml", "--json") for name in ("a", "b", "c")]
    ended = [end(process) for process in processes]

    runs = [json.loads(out) for _, out, _ in ended]
    assert [code for code, _, _ in ended] == [0, 0, 0]
    assert len({run["run_id"][:5] for run in runs}) == 3
    assert len({item["sha256"] for run in runs for item in run["artifacts"]}) > 3
    steered.sound()


def test_follow_prints_until_the_end(short: Any) -> None:
    process = short.start("run", "c.yaml")
    short.until("RunStarted")
    followed = short.harness("events", "1", "--follow", "--json", code=0)
    end(process)

    kinds = [json.loads(line)["kind"] for line in followed.out.splitlines()]
    assert kinds == short.kinds()
    assert kinds[-1] == "DeliveryFinished"


@pytest.mark.slow
def test_fifty_new_at_once_are_fifty_runs(steered: Any) -> None:
    # Public report T-03: 50 parallel `new` give 50 distinct IDs and no partial folder.
    steered.harness.contract(**NOTES, steps=notes(0))
    processes = [steered.start("new", "c.yaml") for _ in range(50)]

    ended = [end(process) for process in processes]

    ids = [out.strip() for _, out, _ in ended]
    assert [code for code, _, _ in ended] == [0] * 50
    assert len(set(ids)) == 50
    assert sorted(int(one[:5]) for one in ids) == list(range(1, 51))
    assert list((steered.harness.home / "tmp").iterdir()) == []
    steered.sound()
