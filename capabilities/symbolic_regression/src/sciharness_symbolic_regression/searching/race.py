"""Run bounded pieces of work in forked children: in parallel, killable, in a fixed order.

Results come back in the order of the jobs however many children run at a time,
so what is made of them does not depend on the number of workers. A job that
crashes costs its own result only.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from attrs import define, field, frozen

from sciharness_symbolic_regression.samples.memory import give_back_at_once, give_back_memory

POLL_SECONDS = 0.1
PR_SET_PDEATHSIG = 1

Json = Mapping[str, Any]  # Any: JSON values
Say = Callable[[Json], None]
Job = Callable[[Say], Json]


@frozen
class Result:
    """What became of one job: its value, or the last it said before it was ended.

    ``state`` is ``done``, ``failed``, ``ended`` (killed while running) or
    ``skipped`` (never started).
    """

    state: str
    value: Json | None = None
    error: str = ""


@define
class Stop:
    """When to end: a moment of the monotonic clock, or a cancelled run."""

    deadline: float | None
    cancelled: Callable[[], bool]

    def reason(self) -> str | None:
        """Return ``cancelled``, ``time_limit`` or None."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time_limit"
        return "cancelled" if self.cancelled() else None


def race(
    jobs: Sequence[Job],
    workers: int,
    stop: Stop,
    *,
    enough: Callable[[Sequence[Result]], bool] = lambda done: False,
    news: Callable[[int, Json], None] = lambda index, said: None,
) -> list[Result]:
    """Return one result per job, in order.

    ``enough`` is asked about growing runs of finished jobs from the first on;
    when it says yes, later jobs are ended and their results dropped. ``news``
    hears what jobs say while they run, and their values.
    """
    # What runs beside each other shares the cores; also, one thread is one order of sums. It is
    # set here, since a forked child of a confined worker may not read what it has loaded.
    with _one_thread():
        if not hasattr(os, "fork"):
            return _one_after_another(jobs, stop, enough, news)
        give_back_memory()  # children would make copies of it
        runners = _Runners(jobs, stop, enough, news)
        try:
            return runners.run(max(1, workers))
        finally:
            runners.end_all()


def _one_thread() -> AbstractContextManager[object]:
    import scipy.linalg  # noqa: F401  its BLAS has to be there to be told
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


@define
class _Child:
    index: int
    pid: int
    pipe: int
    unread: bytes = b""
    said: Json | None = None
    result: Result | None = None


@define
class _Runners:
    jobs: Sequence[Job]
    stop: Stop
    enough: Callable[[Sequence[Result]], bool]
    news: Callable[[int, Json], None]
    results: dict[int, Result] = field(factory=dict)
    running: dict[int, _Child] = field(factory=dict)
    checked: int = 0

    def run(self, workers: int) -> list[Result]:
        waiting = list(range(len(self.jobs)))
        with selectors.DefaultSelector() as selector:
            while waiting or self.running:
                while waiting and len(self.running) < workers:
                    child = _start(waiting.pop(0), self.jobs)
                    self.running[child.index] = child
                    selector.register(child.pipe, selectors.EVENT_READ, child)
                for key, _ in selector.select(POLL_SECONDS):
                    if not self.read(key.data):
                        selector.unregister(key.data.pipe)
                        self.finish(key.data)
                if self.has_enough():
                    return self.listed()[: self.checked]
                if self.stop.reason() is not None:
                    break
        self.end_all()
        return self.listed()

    def has_enough(self) -> bool:
        """Ask about each longer run of finished jobs once, so the answer needs no clock."""
        while self.checked in self.results:
            self.checked += 1
            if self.enough([self.results[index] for index in range(self.checked)]):
                return True
        return False

    def read(self, child: _Child) -> bool:
        block = os.read(child.pipe, 1 << 16)
        *lines, child.unread = (child.unread + block).split(b"\n")
        for line in lines:
            kind, value = json.loads(line)
            if kind == "said":
                child.said = value
                self.news(child.index, value)
            elif kind == "done":
                child.result = Result("done", value)
                self.news(child.index, value)
            else:
                child.result = Result("failed", child.said, str(value))
        return bool(block)

    def finish(self, child: _Child) -> None:
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        crashed = Result("failed", child.said, f"ended with status {status}")
        self.results[child.index] = child.result or crashed
        del self.running[child.index]

    def end_all(self) -> None:
        for child in list(self.running.values()):
            os.kill(child.pid, signal.SIGKILL)
            os.close(child.pipe)
            os.waitpid(child.pid, 0)
            self.results[child.index] = child.result or Result("ended", child.said)
            del self.running[child.index]

    def listed(self) -> list[Result]:
        return [self.results.get(index, Result("skipped")) for index in range(len(self.jobs))]


def _start(index: int, jobs: Sequence[Job]) -> _Child:
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _in_child(jobs[index], writing, parent)
    os.close(writing)
    return _Child(index, pid, reading)


def _in_child(job: Job, pipe: int, parent: int) -> None:
    """Run the job, write what it says and gives to the pipe, and never return."""
    status = 1
    try:
        die_with(parent)
        give_back_at_once()  # what a child takes, it takes beside all others
        gc.freeze()  # to look at what the parent made would copy it
        os.dup2(2, 1)  # the parent's stdout belongs to the worker's protocol

        def write(kind: str, value: Any) -> None:  # Any: JSON values
            text = json.dumps([kind, value], allow_nan=False)
            _write_all(pipe, text.encode() + b"\n")

        try:
            write("done", job(lambda said: write("said", said)))
            status = 0
        except Exception:  # noqa: BLE001  whatever an engine raises is this job's result
            write("failed", traceback.format_exc(limit=-8))
    finally:
        os._exit(status)


def _write_all(pipe: int, block: bytes) -> None:
    while block:
        block = block[os.write(pipe, block) :]


def die_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends; elsewhere nothing is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    if sys.platform == "linux":
        import ctypes  # only in the child

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _one_after_another(
    jobs: Sequence[Job],
    stop: Stop,
    enough: Callable[[Sequence[Result]], bool],
    news: Callable[[int, Json], None],
) -> list[Result]:
    """Run the jobs here, where there is no fork; a running job cannot be ended."""
    results: list[Result] = []
    for index, job in enumerate(jobs):
        if stop.reason() is not None:
            results.append(Result("skipped"))
            continue
        try:
            value = job(partial(news, index))
            results.append(Result("done", value))
            news(index, value)
        except Exception:  # noqa: BLE001  as in a child
            results.append(Result("failed", None, traceback.format_exc(limit=-8)))
        if enough(results):
            return results
    return results
