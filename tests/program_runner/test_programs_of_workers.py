"""A confined process starts programs of its own: granted less than itself, never more."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sciharness import programs

needs_confinement = pytest.mark.skipif(
    programs.isolation() == "none", reason="nothing is confined on this machine"
)

STARTS_A_PROGRAM = """
import json, sys
from pathlib import Path
from sciharness.programs import Grants, run_child
work = Path(sys.argv[1])
inner = work / "inner"
inner.mkdir()
grants = Grants(write=(inner,), execute=(work / "tool",))
said = run_child([str(work / "tool"), *sys.argv[2:]], cwd=inner, grants=grants)
print(json.dumps([said.returncode, said.stdout.decode(), said.stderr.decode()]))
"""


def outer(work: Path, *words: str, execute: bool = True) -> list[object]:
    """Return what a program says that a confined process starts in its workspace."""
    found = shutil.which("cat")
    assert found is not None
    shutil.copy(found, work / "tool")
    said = programs.run_child(
        [sys.executable, "-c", STARTS_A_PROGRAM, str(work), *words],
        cwd=work,
        grants=programs.Grants(write=(work,), execute=(work,) if execute else ()),
    )
    assert said.stdout, said.stderr
    return list(json.loads(said.stdout))


def test_a_program_of_the_workspace_runs(tmp_path: Path) -> None:
    (tmp_path / "inner-note").write_text("hello")
    assert outer(tmp_path, "/proc/version")[0] == 0


@needs_confinement
def test_it_reads_only_what_it_was_granted_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not for the program")
    code, printed, said = outer(tmp_path, str(tmp_path / "secret"))
    assert (code, printed) == (1, "")
    assert "Permission denied" in str(said)


@needs_confinement
def test_without_the_right_to_execute_nothing_of_the_workspace_runs(tmp_path: Path) -> None:
    found = shutil.which("cat")
    assert found is not None
    shutil.copy(found, tmp_path / "tool")
    code = (
        "import subprocess, sys\n"
        "try: subprocess.run([sys.argv[1], '/dev/null'])\n"
        "except PermissionError: print('refused')"
    )
    said = programs.run_child(
        [sys.executable, "-c", code, str(tmp_path / "tool")],
        cwd=tmp_path,
        grants=programs.Grants(write=(tmp_path,)),
    )
    assert said.stdout.strip() == b"refused"


@needs_confinement
@pytest.mark.parametrize("threads", [0, 1])
def test_the_kernel_tells_whether_there_are_other_threads(threads: int) -> None:
    code = (
        "import sys, threading\n"
        "for _ in range(int(sys.argv[1])):\n"
        "    threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "from sciharness.workers.landlock import is_single_threaded\n"
        "print(is_single_threaded())"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(threads)], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == str(threads == 0)


FLEES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "w") as mark:
            print(os.getpid(), file=mark)
        time.sleep(600)
    os._exit(0)
time.sleep(600 if sys.argv[2] == "stays" else 1)
"""

STARTS_A_FLEEING_ONE = """
import sys, time
from pathlib import Path
from sciharness.programs import Grants, Limits, run_child
work = Path(sys.argv[1])
said = run_child(
    [sys.executable, "-c", sys.argv[2], str(work / "mark"), sys.argv[3]],
    cwd=work, grants=Grants(write=(work,)), limits=Limits(wall_seconds=2.0),
)
print(said.failure, flush=True)
(work / "ended").touch()
time.sleep(600)
"""


@needs_confinement
@pytest.mark.parametrize(("stays", "failure"), [("stays", "timeout"), ("leaves", "None")])
def test_what_left_the_session_of_a_program_ends_with_it(
    tmp_path: Path, stays: str, failure: str
) -> None:
    words = [sys.executable, "-c", STARTS_A_FLEEING_ONE, str(tmp_path), FLEES, stays]
    fled: list[bool] = []

    def look() -> bool:
        if not (tmp_path / "ended").exists():
            return False
        fled.append(Path("/proc", (tmp_path / "mark").read_text().strip()).exists())
        return True

    said = programs.run_child(
        words, cwd=tmp_path, grants=programs.Grants(write=(tmp_path,)), cancelled=look
    )
    assert said.stdout.decode().strip() == failure
    assert fled == [False]
