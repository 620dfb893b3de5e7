"""Process trees: who descends from whom, ending all of them, dying with the parent.

Works from ``/proc`` on Linux and from ``ps`` on other POSIX systems; a process
that left its session is found by its parents, since on Linux the supervisor is
a child subreaper and inherits orphans.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
ON_LINUX = sys.platform.startswith("linux")


def die_with_parent(parent: int, signum: int) -> None:
    """Ask for ``signum`` when the parent's thread ends; exit at once if it ended already."""
    _prctl(_PR_SET_PDEATHSIG, signum)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_from_peers() -> None:
    """Close memory, environment and descriptors of this process to others of the same user.

    Where there is no Landlock a child could read the start environment of its
    parent in ``/proc``. It does not bind root.
    """
    _prctl(_PR_SET_DUMPABLE, 0)


def descendants(root: int) -> list[int]:
    """Return the IDs of all living descendants of ``root``, parents before children."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = list(children.get(root, ()))
    while waiting:
        pid = waiting.pop(0)
        found.append(pid)
        waiting.extend(children.get(pid, ()))
    return found


def end_descendants(
    root: int, *, within: float = 1.0, reap: Callable[[], object] = lambda: None
) -> bool:
    """Kill all descendants of ``root``; return whether none is left.

    They are stopped first, so that none can fork away while others are killed.
    ``reap`` is called in between; a supervisor collects its ended children there.
    """
    deadline = time.monotonic() + within
    while True:
        living = descendants(root)
        if not living:
            return True
        _signal_all(living, signal.SIGSTOP)
        _signal_all(descendants(root), signal.SIGKILL)
        reap()
        if time.monotonic() > deadline:
            return not descendants(root)
        time.sleep(0.002)


def can_list() -> bool:
    """Return whether processes can be listed; inside a confined process they cannot."""
    if not ON_LINUX:
        return True
    try:
        os.listdir("/proc")
    except OSError:
        return False
    return True


def end_unlisted(
    child: int, *, scoped: bool, reap: Callable[[], bool], within: float = 1.0
) -> bool:
    """Kill a child of a confined supervisor and all it started; return whether none is left.

    ``reap`` collects the ended and says when no child is left. With ``scoped``,
    as ``landlock.scope_signals`` said, "everyone" is this process and what it
    started; else only the child's process group is reached, and what left it
    ends with the worker above.
    """
    deadline = time.monotonic() + within
    while not reap():
        with contextlib.suppress(OSError):  # all have ended and wait to be reaped
            os.kill(-1 if scoped else -child, signal.SIGKILL)
        if time.monotonic() > deadline:
            return reap()
        time.sleep(0.002)
    return True


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of the children it has waited for.

    Zero where the system does not tell (other than Linux), or once it ended.
    """
    if not ON_LINUX or pid <= 0:
        return 0.0
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # The clock of another process, as clock_getcpuclockid(3) makes it: nanoseconds, not ticks.
        own = time.clock_gettime(~pid << 3 | 2)
    except (OSError, IndexError):
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _signal_all(pids: Iterable[int], signum: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, signum)
        except OSError:
            continue


def _parents() -> Iterable[tuple[int, int]]:
    return _parents_from_proc() if ON_LINUX else _parents_from_ps()


def _parents_from_proc() -> Iterable[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name in brackets may hold spaces and brackets; fields follow the last one.
                state, parent = file.read().rpartition(b")")[2].split(None, 2)[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            yield int(name), int(parent)


def _parents_from_ps() -> Iterable[tuple[int, int]]:
    import subprocess

    listed = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=False
    )
    for line in listed.stdout.splitlines():
        pid, parent, state = line.split(None, 2)
        if not state.startswith("Z"):
            yield int(pid), int(parent)


def _prctl(option: int, value: int) -> None:
    if ON_LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
