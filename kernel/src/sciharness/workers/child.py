"""The one child runner: any program, with limits, confinement and a certain end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from attrs import define, field, frozen

from sciharness.workers.environment import child_environment
from sciharness.workers.launch import Ending, Grants, Launched, Limits, launch

__all__ = ["ChildResult", "Failure", "Grants", "Limits", "child_environment", "run_child"]

Failure = Literal["timeout", "memory", "output_limit", "file_limit", "crash", "cancelled"]

_LOOK_SECONDS = 0.05
_NO_MEMORY = (
    b"MemoryError",
    b"bad_alloc",
    b"annot allocate memory",
    b"Out of memory",
    b"Unable to allocate",
    b"failed to map segment",
)


@frozen
class ChildResult:
    """What a child left behind.

    ``returncode`` is negative for a signal and ``None`` if the program never
    started. ``failure`` is ``None`` for a program that ended by itself without
    a signal, whatever its exit code; a MemoryError is ``memory`` all the same.
    ``stdout`` and ``stderr`` are what was written before the end, up to the
    limit.
    """

    returncode: int | None
    failure: Failure | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    seconds: float
    cpu_seconds: float


def run_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    grants: Grants | None,
    cancelled: Callable[[], bool] = lambda: False,
) -> ChildResult:
    """Run a program to its end, or to the first limit, and return what it left.

    Everything it started ends with it, processes that left its session too.
    ``grants=None`` runs it unconfined, else it reads and writes only what is
    granted (where the machine can do that, see ``confinement.probe``).
    ``env`` is the whole environment, by default :func:`child_environment`.

    Raises:
        FileNotFoundError: there is no such program.
        ConfinementError: it could not be confined as promised.
    """
    limits = limits or Limits()
    started = time.monotonic()
    running = launch(
        argv,
        cwd=cwd,
        env=child_environment(cwd, 1) if env is None else env,
        limits=limits,
        grants=grants,
    )
    pumps = [
        Pump.started(stream, limits.output_bytes)
        for stream in (running.process.stdout, running.process.stderr)
        if stream is not None
    ]
    try:
        stopped = _wait(running, pumps, limits, started, cancelled)
    finally:
        running.end()
        for pump in pumps:
            pump.join()
        ending = running.ending()
        running.close()
    _refuse_unstarted(ending)
    out, err = (pump.kept() for pump in pumps)
    return ChildResult(
        ending.returncode,
        stopped or failure_of(ending, err, limited=limits.memory_bytes is not None),
        out,
        err,
        time.monotonic() - started,
        ending.cpu_seconds,
    )


@define(eq=False)
class Pump:
    """Reads a pipe to its end, keeps what the limit allows, and says when there was more."""

    stream: IO[bytes]
    limit: int
    overflowed: bool = False
    _chunks: list[bytes] = field(factory=list)
    _size: int = 0
    _lock: threading.Lock = field(factory=threading.Lock)
    _thread: threading.Thread | None = None

    @classmethod
    def started(cls, stream: IO[bytes], limit: int) -> Pump:
        """Return a pump that already reads, in a thread of its own."""
        pump = cls(stream, limit)
        pump._thread = threading.Thread(target=pump._run, daemon=True)
        pump._thread.start()
        return pump

    def reset(self) -> None:
        """Forget what came so far."""
        with self._lock:
            self._chunks.clear()
            self._size = 0

    def kept(self) -> bytes:
        """Return what came so far, up to the limit."""
        with self._lock:
            return b"".join(self._chunks)

    def join(self) -> None:
        """Wait for the end of the pipe, briefly: a stray holder must not block the run."""
        assert self._thread is not None
        self._thread.join(1.0)

    def _run(self) -> None:
        # Closed by this thread alone: a number closed elsewhere could be another pipe by now.
        with self.stream, contextlib.suppress(OSError):
            while chunk := os.read(self.stream.fileno(), 65536):
                self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        with self._lock:
            room = self.limit - self._size
            self.overflowed = self.overflowed or len(chunk) > room
            if room > 0:
                self._chunks.append(chunk[:room])
                self._size += min(len(chunk), room)


def failure_of(ending: Ending, stderr: bytes, *, limited: bool) -> Failure | None:
    """Return the typed failure of a program that no limit of ours stopped."""
    code = ending.returncode
    if code == 0:
        return None
    tail = stderr[-4096:]
    if any(sign in tail for sign in _NO_MEMORY):
        return "memory"
    if code == -int(getattr(signal, "SIGXFSZ", 25)) or b"File too large" in tail:
        return "file_limit"
    if limited and code == -int(getattr(signal, "SIGKILL", 9)):
        return "memory"  # nobody of ours killed it: the kernel's out-of-memory killer did
    return "crash" if code is None or code < 0 else None


def _wait(
    running: Launched,
    pumps: list[Pump],
    limits: Limits,
    started: float,
    cancelled: Callable[[], bool],
) -> Failure | None:
    while not running.ended(_LOOK_SECONDS):
        if any(pump.overflowed for pump in pumps):
            return "output_limit"
        if limits.wall_seconds is not None and time.monotonic() - started > limits.wall_seconds:
            return "timeout"
        if cancelled():
            return "cancelled"
    return "output_limit" if any(pump.overflowed for pump in pumps) else None


def _refuse_unstarted(ending: Ending) -> None:
    from sciharness.workers.confinement import ConfinementError

    if ending.refusal.startswith(("FileNotFoundError", "PermissionError", "NotADirectoryError")):
        raise FileNotFoundError(ending.refusal)
    if ending.refusal:
        raise ConfinementError(ending.refusal)
