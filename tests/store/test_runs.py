"""Runs: IDs, finding them again, who works on them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from attrs import evolve

from sciharness.errors import UsageError
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.owners import Owner, is_alive
from sciharness.store.runs import Runs


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """A process that says who it is and then waits."""
    code = (
        "import sys; from sciharness.store.owners import Owner;"
        "print(Owner.current().to_text(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def _owner_of(child: subprocess.Popen[str]) -> Owner:
    assert child.stdout is not None
    return Owner.parse(child.stdout.readline())


def _create(home: Home, *run_ids: str, title: str = "t") -> None:
    for run_id in run_ids:
        EventLog(home).create(run_id, [("RunCreated", {})], projection={"title": title})


def test_ids_sort_by_age_and_their_number_is_enough(home: Home) -> None:
    runs = Runs(home)
    ids = []
    for _ in range(12):
        ids.append(runs.new_run_id())
        _create(home, ids[-1])

    assert ids == sorted(ids) == [run.run_id for run in runs.listing()]
    assert [runs.find(str(number)).run_id for number in (1, 2, 12)] == [ids[0], ids[1], ids[11]]


def test_a_unique_prefix_finds_the_run(home: Home) -> None:
    _create(home, "00001-aaaaaa", "00002-bbbbbb")

    assert Runs(home).find("00002-b").run_id == "00002-bbbbbb"


def test_an_ambiguous_prefix_names_the_candidates(home: Home) -> None:
    _create(home, "00001-aaaaaa", "00001-bbbbbb", "00002-cccccc")

    with pytest.raises(UsageError, match="00001-aaaaaa, 00001-bbbbbb") as caught:
        Runs(home).find("00001")

    assert caught.value.exit_code == 2
    assert "00002" not in str(caught.value)


@pytest.mark.parametrize("prefix", ["", "9", "00001-b", "%", "0000_"])
def test_what_fits_no_run_is_refused(home: Home, prefix: str) -> None:
    _create(home, "00001-aaaaaa")

    with pytest.raises(UsageError, match="no run"):
        Runs(home).find(prefix)


def test_runs_of_one_contract_are_listed(home: Home) -> None:
    for run_id, digest in (("r1", "a"), ("r2", "b"), ("r3", "a")):
        EventLog(home).create(run_id, [("RunCreated", {})], projection={"contract": digest})

    assert [run.run_id for run in Runs(home).listing(contract="a")] == ["r1", "r3"]


def test_the_listing_entry_has_the_fixed_fields(home: Home) -> None:
    _create(home, "00001-aaaaaa", title="Drift")

    assert Runs(home).get("00001-aaaaaa").to_dict() == {
        "run_id": "00001-aaaaaa",
        "title": "Drift",
        "status": "created",
        "delivery": "none",
        "created": "2030-01-01T00:00:01.000000Z",
    }


def test_a_running_run_of_a_living_process_is_running(home: Home) -> None:
    _create(home, "r1")
    Runs(home).claim("r1")
    EventLog(home).append("r1", [("Started", {})], projection={"status": "running"})

    assert Runs(home).get("r1").status == "running"


def test_a_running_run_without_an_owner_is_interrupted(home: Home) -> None:
    _create(home, "r1")
    EventLog(home).append("r1", [("Started", {})], projection={"status": "running"})

    run = Runs(home).get("r1")

    assert (run.status, run.recorded) == ("interrupted", "running")


def test_a_killed_owner_leaves_an_interrupted_run_that_can_be_claimed(
    home: Home, child: subprocess.Popen[str]
) -> None:
    owner = _owner_of(child)
    EventLog(home).create("r1", [("RunCreated", {})], projection={"status": "running"}, owner=owner)
    alive = Runs(home).get("r1").status

    # Not waited for on purpose: a zombie must count as dead.
    child.kill()
    _until_dead(owner)

    assert (alive, Runs(home).get("r1").status) == ("running", "interrupted")
    assert Runs(home).claim("r1") == Owner.current()


def test_a_run_of_a_living_process_is_not_taken(home: Home, child: subprocess.Popen[str]) -> None:
    owner = _owner_of(child)
    EventLog(home).create("r1", [("RunCreated", {})], projection={}, owner=owner)

    with pytest.raises(UsageError, match=f"process {owner.pid} works on this run"):
        Runs(home).claim("r1")


def test_a_process_id_used_again_is_another_process(child: subprocess.Popen[str]) -> None:
    owner = _owner_of(child)

    assert is_alive(owner)
    assert not is_alive(evolve(owner, started="1"))
    assert not is_alive(evolve(owner, host="another"))


def test_an_owner_tells_neither_host_nor_user(home: Home) -> None:
    import getpass
    import platform

    text = Owner.current().to_text()

    assert platform.node() not in text
    assert getpass.getuser() not in text


def test_a_released_run_can_be_taken_by_anybody(home: Home) -> None:
    _create(home, "r1")
    runs = Runs(home)
    runs.claim("r1")

    runs.release("r1")

    assert runs.get("r1").owner is None


def test_a_thousand_runs_of_two_hundred_events_are_listed_quickly(home: Home) -> None:
    log = EventLog(home)
    events = [("Progress", {"fraction": 0.5, "message": "x" * 80})] * 200
    with home.writing() as tx:
        for number in range(1, 1001):
            run_id = f"{number:05d}-aaaaaa"
            log.create(run_id, events[:1], projection={"title": "t"}, tx=tx)
    with home.writing() as tx:
        tx.execute(
            "INSERT INTO events SELECT run_id, seq + number, record, hash FROM events,"
            " (WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n"
            " WHERE number < 199) SELECT number FROM n)"
        )

    start = time.process_time()
    found = len(Runs(home).listing()), Runs(home).find("00777").run_id
    seconds = time.process_time() - start

    assert found == (1000, "00777-aaaaaa")
    assert seconds < 0.2


def _until_dead(owner: Owner) -> None:
    for _ in range(1000):
        if not is_alive(owner):
            return
        time.sleep(0.005)
    raise AssertionError("the killed process still counts as alive")
