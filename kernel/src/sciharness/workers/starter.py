"""The permanent thread that starts workers."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from sciharness.workers.worker import Worker


class Starter:
    """A thread that outlives the workers it starts: they die with the thread that made them."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Worker], queue.SimpleQueue[Any]] | None]
        self._calls = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True, name="sciharness-starter").start()

    def call(self, start: Callable[[], Worker]) -> Worker:
        """Return what ``start`` returns, called in the permanent thread; raise what it raises."""
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()  # Any: a worker or an exception
        self._calls.put((start, answer))
        found = answer.get()
        if isinstance(found, BaseException):
            raise found
        assert isinstance(found, Worker)
        return found

    def stop(self) -> None:
        """Let the thread end, after the workers it started have ended."""
        self._calls.put(None)

    def _run(self) -> None:
        while (asked := self._calls.get()) is not None:
            start, answer = asked
            try:
                answer.put(start())
            except BaseException as error:  # noqa: BLE001  raised again where it was asked
                answer.put(error)
