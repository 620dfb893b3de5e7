"""Jobs in children: order, crashes, killing, and children that do not outlive their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from sciharness_symbolic_regression.searching.race import Stop, race

NEVER = Stop(None, lambda: False)


def answer(value, pause=0.0):
    def job(say):
        time.sleep(pause)
        return {"value": value, "pid": os.getpid()}

    return job


def endless(say):
    say({"so far": 1})
    while True:
        time.sleep(60)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(workers):
    jobs = [answer(place, pause=0.05 * (3 - place)) for place in range(4)]

    results = race(jobs, workers, NEVER)

    assert [result.value["value"] for result in results] == [0, 1, 2, 3]
    assert all(result.value["pid"] != os.getpid() for result in results)


def test_a_job_that_crashes_costs_only_its_own_result():
    def killed(say):
        os.kill(os.getpid(), signal.SIGKILL)  # what a crash looks like from outside

    def wrong(say):
        raise ValueError("no such thing")

    def not_json(say):
        return {"value": float("nan")}

    results = race([answer(1), killed, wrong, not_json, answer(2)], 2, NEVER)

    states = [result.state for result in results]
    assert states == ["done", "failed", "failed", "failed", "done"]
    assert "no such thing" in results[2].error


def test_enough_is_asked_about_growing_runs_from_the_first_job_on():
    asked = []

    def enough(done):
        asked.append([result.value["value"] for result in done])
        return len(done) == 2

    quick_last = [answer(0, 0.3), answer(1), answer(2), endless]
    results = race(quick_last, 4, NEVER, enough=enough)

    assert asked == [[0], [0, 1]]
    assert [result.value["value"] for result in results] == [0, 1]


def test_a_deadline_ends_what_runs_and_keeps_what_was_said():
    started = time.monotonic()

    results = race([answer(1), endless, answer(2)], 1, Stop(started + 0.5, lambda: False))

    assert time.monotonic() - started < 1.5
    assert [result.state for result in results] == ["done", "ended", "skipped"]
    assert results[1].value == {"so far": 1}


def test_a_cancelled_race_leaves_no_child():
    pids = []

    def tell(say):
        say({"pid": os.getpid()})
        endless(say)

    race([tell, tell], 2, Stop(None, lambda: len(pids) == 2), news=lambda i, s: note(pids, s))

    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def note(pids, said):
    if "pid" in said:
        pids.append(said["pid"])


def test_what_a_job_prints_does_not_reach_standard_output():
    program = """
        from sciharness_symbolic_regression.searching.race import Stop, race
        import os
        def job(say):
            os.write(1, b"noise")
            print("more noise", flush=True)
            return {}
        race([job], 1, Stop(None, lambda: False))
        print("the answer")
    """

    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )

    assert run.stdout == "the answer\n"
    assert "noise" in run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_children_end_when_their_parent_is_killed(tmp_path):
    program = f"""
        import os, time
        from pathlib import Path
        from sciharness_symbolic_regression.searching.race import Stop, race
        def job(say):
            Path({str(tmp_path)!r}, str(os.getpid())).touch()
            time.sleep(60)
            return {{}}
        race([job, job], 2, Stop(None, lambda: False))
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)

    parent.kill()
    parent.wait()

    children = [int(path.name) for path in tmp_path.iterdir()]
    wait_for(lambda: not any(is_running(pid) for pid in children))


def wait_for(holds):
    for _ in range(400):
        if holds():
            return
        time.sleep(0.025)
    raise AssertionError("waited 10 s in vain")


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
