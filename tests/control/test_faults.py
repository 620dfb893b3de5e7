"""Full disks and failing devices: no false success, nothing acknowledged lost, all resumable."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from acknowledged import lost

from sciharness.runtime.looking import view_of
from sciharness.store.fsck import fsck
from sciharness.store.home import Home
from sciharness.store.runs import TERMINAL, Runs

SMALL: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "capabilities": ["toy.note", "toy.nothing"],
    "acceptance": [{"metric": "value", "op": ">=", "value": 1}],
}
SHIM = Path(__file__).parent / "faults.c"
# About as many changes as there are to the files of a home in one small run.
MOST = 400
# Each of the four ways starts at another write, so that together they reach all of them.
STRIDE = int(os.environ.get("HARNESS_TEST_FAULT_STRIDE", "4"))


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that lets the k-th write fail, put before the C library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler, or no Linux: writes cannot be made to fail")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, SHIM, "-ldl"], check=True)
    return made


@pytest.fixture
def faulty(fresh: Callable[..., Any], shim: Path) -> Callable[..., Any]:
    """Run the contract in a new home whose changes fail from the k-th on, or only that one."""

    def run(at: int, number: int, *, once: bool) -> tuple[Any, Any]:
        made = fresh("faulty")
        made.contract(**SMALL)
        environment = {
            "LD_PRELOAD": str(shim),
            "FAULT_BELOW": str(made.home),
            "FAULT_AT": str(at),
            "FAULT_ERRNO": str(number),
            "FAULT_COUNT": str(made.folder / "count"),
        }
        if once:
            environment["FAULT_LAST"] = str(at)
        return made, made("-v", "run", "c.yaml", **environment)

    return run


def assert_truthful(made: Any, ended: Any) -> None:
    """What the faulty command said is so, and a sound disk lets the run go on to its end."""
    with Home.open(made.home) as home:
        assert fsck(home).problems == ()
        assert lost(home, ended.err) == 0
        runs = Runs(home).listing()
        assert not any(run.is_owned for run in runs)
        if ended.code == 0:
            assert [(run.status, run.delivery) for run in runs] == [("succeeded", "succeeded")]
        elif ended.code == 6:
            assert [(run.status, run.delivery) for run in runs] == [("succeeded", "failed")]
    assert ended.code in {0, 1, 2, 6}, ended.err
    assert "Traceback" not in ended.err, ended.err
    assert_goes_on(made)


def assert_goes_on(made: Any) -> None:
    again = made("run", "c.yaml", "--json")
    assert again.code == 0, again.err
    with Home.open(made.home) as home:
        for run in Runs(home).listing():
            view, state = view_of(home, run.run_id)
            assert run.status in TERMINAL and run.delivery != "pending"
            assert [action.step for action in state.settled] == ["note", "nothing"]
            assert view["budget"]["actions"]["used"] == 2
        assert fsck(home).problems == ()


@pytest.mark.parametrize("at", [40, 150])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
def test_a_failing_write_is_no_success(faulty: Callable[..., Any], at: int, number: int) -> None:
    assert_truthful(*faulty(at, number, once=True))


@pytest.mark.slow
@pytest.mark.parametrize("once", [True, False], ids=["once", "for good"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
def test_every_write_may_fail(faulty: Callable[..., Any], number: int, once: bool) -> None:
    codes: dict[int, int] = {}
    first = 1 + (2 * once + (number == errno.EIO)) % STRIDE
    for at in range(first, MOST, STRIDE):
        made, ended = faulty(at, number, once=once)
        assert_truthful(made, ended)
        codes[ended.code] = codes.get(ended.code, 0) + 1
        shutil.rmtree(made.home)
        if int((made.folder / "count").read_text("utf-8")) < at:
            break
    else:
        raise AssertionError(f"still failing at write {MOST}")
    how = f"{errno.errorcode[number]}, {'once' if once else 'for good'}"
    print(f"\nevery {STRIDE}th of {at} writes failed ({how}): exit codes {codes}")


@pytest.fixture
def small_disk(tmp_path: Path, fresh: Callable[..., Any]) -> Iterator[Any]:
    """A home on a file system of 48 MiB, the contract beside it on the large one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48m", "none", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount")
    made = fresh("full")
    shutil.copytree(made.home, place / "home")
    moved = made.moved(home=place / "home")
    moved.contract(**SMALL)
    moved("doctor", code=0)
    assert (place / "home" / "reserve").exists()
    yield moved
    subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)


def fill(made: Any, leave: int) -> Path:
    """Take all room on the disk but ``leave`` bytes."""
    filler = made.home.parent / "filler"
    room = os.statvfs(made.home)
    with filler.open("wb", buffering=0) as sink, suppress(OSError):
        left = room.f_bavail * room.f_frsize - leave
        while left > 0:
            left -= sink.write(bytes(min(left, 1 << 20)))
    return filler


def assert_stopped_on_the_record(made: Any) -> None:
    """No run is left that only its dead owner could have told of."""
    with Home.open(made.home) as home:
        for run in Runs(home).listing():
            assert run.recorded != "running", "no last event was written"
        assert fsck(home).problems == ()


def test_a_disk_that_fills_up_during_an_action_is_told_and_the_run_goes_on_later(
    small_disk: Any, steer: Callable[[Any], Any]
) -> None:
    steps = [
        {"id": "note", "use": "toy.note", "with": {"pause": 3}},
        {"id": "nothing", "use": "toy.nothing"},
    ]
    small_disk.contract(**SMALL, steps=steps)
    process = small_disk.start("-v", "run", "c.yaml", "--json")
    steer(small_disk).until("ActionStarted")
    filler = fill(small_disk, 0)
    _, said = process.communicate(timeout=60)

    with Home.open(small_disk.home) as home:
        (run,) = Runs(home).listing()
        assert run.recorded == "interrupted"
        assert lost(home, said) == 0
    assert process.returncode == 1
    assert "Make room on the disk" in said and "harness resume" in said
    assert "No space left" in small_disk.show()["error"]["message"] or "full" in said
    filler.unlink()
    assert_goes_on(small_disk)
    assert (small_disk.home / "reserve").exists()


def test_a_plugin_without_room_is_interrupted_not_failed(small_disk: Any) -> None:
    # 9 MiB of text do not fit beside the filler, and fit without it.
    steps = [
        {"id": "note", "use": "toy.note", "with": {"text": "x" * 4096, "copies": 2200}},
        {"id": "nothing", "use": "toy.nothing"},
    ]
    small_disk.contract(**SMALL, steps=steps)
    filler = fill(small_disk, 5 << 20)

    ended = small_disk("run", "c.yaml", "--json", code=1)

    assert ended.json["status"] == "interrupted"
    assert "no room is left" in ended.json["error"]["message"]
    assert ended.json["budget"]["failures"]["used"] == 0
    filler.unlink()
    assert_goes_on(small_disk)


def test_a_disk_without_any_room_is_named(small_disk: Any) -> None:
    small_disk("run", "c.yaml", code=0)
    filler = fill(small_disk, 0)

    told = small_disk("list", code=1)
    filler.unlink()

    assert "no room is left on the disk" in told.err
    small_disk("list", code=0)


@pytest.mark.slow
def test_thirty_sizes_of_a_full_disk_lose_nothing(small_disk: Any) -> None:
    codes: dict[int, int] = {}
    for number in range(30):
        filler = fill(small_disk, number * 16384)
        ended = small_disk("-v", "run", "c.yaml", "--fresh")
        codes[ended.code] = codes.get(ended.code, 0) + 1
        filler.unlink()
        with Home.open(small_disk.home) as home:
            assert lost(home, ended.err) == 0
        assert ended.code in {0, 1, 6}, ended.err
        assert "Traceback" not in ended.err, ended.err
        assert_stopped_on_the_record(small_disk)
        small_disk("doctor", code=0)  # makes the reserve anew
    with Home.open(small_disk.home) as home:
        left = [run.run_id for run in Runs(home).listing() if run.status not in TERMINAL]
    for run_id in left:
        small_disk("resume", run_id, code=0)
    assert_goes_on(small_disk)
    print(
        f"\n30 sizes: exit codes {codes}, {len(left)} runs resumed to their end,"
        " acknowledged events lost 0, runs without an end 0"
    )
