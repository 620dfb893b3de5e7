"""Several processes that track chunks of one shared state; results do not depend on them.

Processes are forked, so each has the built line and the loaded kernel at
once and writes into the same memory. A particle moves as it would alone, so
neither the chunks nor who tracked them can be seen in the result.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn

from attrs import define, frozen

from sciharness_xsuite.tracking.chunk import Engine
from sciharness_xsuite.tracking.state import State

_TASK = struct.Struct("<qqq")
_DONE, _FAILED = b"+", b"-"
_MOST_TEXT = 2000
_LOOK_SECONDS = 0.2


class CrewError(RuntimeError):
    """A process of the crew ended or failed."""


class Stopped(Exception):
    """The work was cancelled while chunks were being tracked."""


@frozen
class Task:
    """Places ``first`` to ``last`` of the state's order, for some turns."""

    first: int
    last: int
    turns: int


@frozen
class _Member:
    process: int
    tasks: int  # write end of its pipe
    answers: int  # read end


@define
class Crew:
    """Forked processes, as a context manager that leaves none behind."""

    engine: Engine
    state: State
    size: int
    _members: tuple[_Member, ...] = ()

    def __enter__(self) -> Crew:
        for _ in range(self.size):
            self._members += (self._forked(),)
        return self

    def __exit__(self, *error: object) -> None:
        for member in self._members:
            os.close(member.tasks)
            os.close(member.answers)
            os.kill(member.process, signal.SIGKILL)  # idle, or its work is not wanted any more
        for member in self._members:
            os.waitpid(member.process, 0)

    def run(self, tasks: list[Task], cancelled: Callable[[], bool]) -> None:
        """Let the members do all tasks, each taking the next one when it is free.

        Raises:
            CrewError: a member ended or could not do its task.
            Stopped: the work is cancelled; the state is then of no use.
        """
        left = iter(tasks)
        open_tasks = dict.fromkeys(self._members, 0)
        for member in (*self._members, *self._members):  # one to do, one to go on with at once
            open_tasks[member] += _give(member, left)
        while busy := {one.answers: one for one, count in open_tasks.items() if count}:
            ready, _, _ = select.select(list(busy), [], [], _LOOK_SECONDS)
            for answers in ready:
                member = busy[answers]
                for _ in range(_done(member)):
                    open_tasks[member] += _give(member, left) - 1
            if cancelled():
                raise Stopped

    def _forked(self) -> _Member:
        task_end, tasks = os.pipe()
        answers, answer_end = os.pipe()
        process = os.fork()
        if process == 0:
            for other in self._members:
                os.close(other.tasks)
                os.close(other.answers)
            os.close(tasks)
            os.close(answers)
            _work(self.engine, self.state, task_end, answer_end)
        os.close(task_end)
        os.close(answer_end)
        return _Member(process, tasks, answers)


def _give(member: _Member, left: Iterator[Task]) -> bool:
    task = next(left, None)
    if task is None:
        return False
    try:
        os.write(member.tasks, _TASK.pack(task.first, task.last, task.turns))
    except BrokenPipeError as error:
        raise CrewError("a tracking process has ended") from error
    return True


def _done(member: _Member) -> int:
    """Return how many tasks a member has finished since it was asked last."""
    answer = os.read(member.answers, _MOST_TEXT)
    if not answer or answer.strip(_DONE):
        said = answer.lstrip(_DONE)[1:].decode("utf-8", "replace")
        why = said or "it was ended, perhaps for lack of memory"
        raise CrewError(f"a tracking process failed: {why}")
    return len(answer)


def _work(engine: Engine, state: State, tasks: int, answers: int) -> NoReturn:
    """Track until the pipe of tasks is closed; never returns into the parent's code."""
    try:
        while len(packed := os.read(tasks, _TASK.size)) == _TASK.size:
            first, last, turns = _TASK.unpack(packed)
            engine.track(state, state.order[first:last], turns)
            os.write(answers, _DONE)
    except BaseException:  # noqa: BLE001  whatever it is, the parent has to hear of it
        os.write(answers, _FAILED + traceback.format_exc(limit=-3).encode()[-_MOST_TEXT + 1 :])
    finally:
        os._exit(0)
