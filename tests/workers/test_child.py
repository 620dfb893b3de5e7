"""The one child runner: limits, a certain end, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sciharness.workers.child import ChildResult, Failure, Grants, Limits, run_child

MIB = 1024**2


def python(code: str, folder: Path, *, confined: bool = True, **limits: object) -> ChildResult:
    return run_child(
        [sys.executable, "-c", code],
        cwd=folder,
        limits=Limits(**limits),  # type: ignore[arg-type]
        grants=Grants(write=(folder,)) if confined else None,
    )


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until(holds: object, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def test_a_program_gives_output_and_exit_code(tmp_path: Path) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"

    said = python(code, tmp_path)

    assert (said.stdout, said.stderr) == (b"out\n", b"err\n")
    assert (said.returncode, said.failure) == (3, None)
    assert said.cpu_seconds > 0


def test_it_runs_in_its_folder_and_leads_a_session_of_its_own(tmp_path: Path) -> None:
    said = python("import os; print(os.getcwd(), os.getsid(0) == os.getpid())", tmp_path)

    assert said.stdout.decode().split() == [str(tmp_path), "True"]


def test_no_such_program(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run_child(["no-such-program"], cwd=tmp_path, grants=None)
    with pytest.raises(FileNotFoundError):
        run_child([str(tmp_path)], cwd=tmp_path, grants=None)


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('kept', flush=True); time.sleep(60)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('kept', flush=True); time.sleep(60)",
        "print('kept', flush=True)\nwhile True: pass",
        "print('kept', flush=True)\nsum(iter(int, 1))",
    ],
    ids=["sleep", "ignores SIGTERM", "busy", "one call into C"],
)
def test_a_time_limit_holds(tmp_path: Path, code: str) -> None:
    said = python(code, tmp_path, wall_seconds=0.6)

    assert (said.failure, said.stdout) == ("timeout", b"kept\n")
    assert said.seconds < 0.6 + 2.0


@pytest.mark.parametrize("leaves_session", [False, True])
@pytest.mark.parametrize("parent_waits", [False, True])
def test_grandchildren_end_with_the_child(
    tmp_path: Path, leaves_session: bool, parent_waits: bool
) -> None:
    # It holds the pipe, ignores SIGTERM, and is an orphan when its parent does not wait.
    code = f"""
import os, signal, sys, time
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if {leaves_session}:
        os.setsid()
        if os.fork():
            os._exit(0)
    print(os.getpid(), flush=True)
    time.sleep(60)
time.sleep(60 if {parent_waits} else 0.3)
"""

    said = python(code, tmp_path, wall_seconds=1.0)

    assert said.seconds < 1.0 + 2.0
    assert said.failure == ("timeout" if parent_waits else None)
    assert not is_alive(int(said.stdout))


def test_many_forks_all_end(tmp_path: Path) -> None:
    code = """
import os, time
for _ in range(6):
    os.fork()
os.setsid() if os.getpid() != os.getpgid(0) else None
open(str(os.getpid()), 'w').close()
time.sleep(60)
"""

    said = python(code, tmp_path, wall_seconds=1.5)
    started = [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]

    assert said.failure == "timeout"
    assert said.seconds < 1.5 + 2.0
    assert len(started) > 30
    assert not any(is_alive(pid) for pid in started)


def test_endless_output_is_cut(tmp_path: Path) -> None:
    said = python("while True: print('x' * 99)", tmp_path, output_bytes=100_000, wall_seconds=30)

    assert said.failure == "output_limit"
    assert said.stdout == (b"x" * 99 + b"\n") * 1000


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("bytearray(2 << 30)", "memory"),
        ("import numpy; numpy.ones(1 << 29)", "memory"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "memory"),
        (
            "import os, sys; print('std::bad_alloc', file=sys.stderr, flush=True); os.abort()",
            "memory",
        ),
        ("import os; os.abort()", "crash"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crash"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "crash"),
        ("open('big', 'wb').write(bytes(9 << 20))", "file_limit"),
        ("raise SystemExit(1)", None),
        ("print('a MemoryError is only talked about')", None),
    ],
)
def test_an_end_is_told_by_its_kind(tmp_path: Path, code: str, failure: Failure | None) -> None:
    said = python(code, tmp_path, memory_bytes=1024 * MIB, file_bytes=8 * MIB, wall_seconds=30)

    assert said.failure == failure


def test_a_program_that_ignores_no_file_limit_dies_of_it(tmp_path: Path) -> None:
    said = run_child(
        ["dd", "if=/dev/zero", "of=big", "bs=1M", "count=9"],
        cwd=tmp_path,
        limits=Limits(file_bytes=8 * MIB),
        grants=Grants(write=(tmp_path,)),
    )

    assert said.failure == "file_limit"
    assert (tmp_path / "big").stat().st_size == 8 * MIB


def test_a_crash_leaves_no_core(tmp_path: Path) -> None:
    said = python(
        "import resource, os; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True);"
        "os.abort()",
        tmp_path,
    )

    assert said.stdout == b"(0, 0)\n"
    assert [path.name for path in tmp_path.iterdir() if "core" in path.name] == []


def test_a_cancellation_ends_it(tmp_path: Path) -> None:
    started = time.monotonic()

    said = run_child(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        cwd=tmp_path,
        grants=None,
        cancelled=lambda: time.monotonic() - started > 0.3,
    )

    assert said.failure == "cancelled"
    assert time.monotonic() - started < 0.3 + 2.0


def test_a_short_lived_thread_may_run_one(tmp_path: Path) -> None:
    found: list[ChildResult] = []
    thread = threading.Thread(target=lambda: found.append(python("print(1)", tmp_path)))
    thread.start()
    thread.join()

    assert found[0].stdout == b"1\n"


KERNEL = """
import sys
from pathlib import Path
from sciharness.workers.child import run_child
folder = Path(sys.argv[1])
run_child([sys.executable, "-c", sys.argv[2]], cwd=folder, grants=None)
"""
FAMILY = """
import os, time
if os.fork() == 0:
    os.setsid()
open(str(os.getpid()), "w").close()
time.sleep(60)
"""


def test_nothing_outlives_a_killed_kernel(tmp_path: Path) -> None:
    kernel = subprocess.Popen([sys.executable, "-c", KERNEL, str(tmp_path), FAMILY])

    def family() -> list[int]:
        return [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]

    assert wait_until(lambda: len(family()) == 2, 10)
    kernel.send_signal(signal.SIGKILL)
    kernel.wait()

    assert wait_until(lambda: not any(is_alive(pid) for pid in family()), 2)


def test_a_killed_supervisor_is_a_memory_failure_and_leaves_no_child(tmp_path: Path) -> None:
    code = "import os, signal, time; print(os.getpid(), flush=True);"
    code += "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"

    said = python(code, tmp_path, confined=False, wall_seconds=20)

    assert said.failure == "memory"
    assert wait_until(lambda: not is_alive(int(said.stdout)), 2)


@pytest.mark.usefixtures("confined")
def test_a_confined_child_cannot_signal_its_supervisor(tmp_path: Path) -> None:
    said = python("import os; os.kill(os.getppid(), 9)", tmp_path)

    assert b"PermissionError" in said.stderr


def test_equal_programs_hash_texts_equally(tmp_path: Path) -> None:
    first, second = (python("print(hash('text'), set('abcdef'))", tmp_path) for _ in range(2))

    assert first.stdout == second.stdout


def test_the_runner_leaves_no_descriptor_and_no_thread_behind(tmp_path: Path) -> None:
    python("print(1)", tmp_path)
    before = (len(os.listdir("/proc/self/fd")), threading.active_count())
    for _ in range(3):
        python("print(1)", tmp_path)

    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
