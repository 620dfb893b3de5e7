"""The kernel's end of one worker: start it, ask it, hear it, end it."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from attrs import define, field

from sciharness.workers.child import Pump, failure_of
from sciharness.workers.confinement import ConfinementError
from sciharness.workers.failures import REASONS, ActionFailed, ImportFailed, Reason
from sciharness.workers.launch import Ending, Grants, Launched, Limits, launch
from sciharness.workers.load_set import LoadSet
from sciharness.workers.processes import cpu_seconds
from sciharness.workers.texts import plain_text
from sciharness.workers.wire import MAX_ACTION, Message, WireError, decode, encode, read_lines

START_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_SEND_SECONDS = 30.0
_TAIL = 8000


@define
class Worker:
    """One running worker. Use it from one thread at a time."""

    load_set: LoadSet
    launched: Launched
    limits: Limits
    usable: bool = True
    _heard: queue.SimpleQueue[bytes | WireError | None] = field(factory=queue.SimpleQueue)
    _allowance: int = MAX_ACTION
    _log: Pump | None = None
    _spent: float = 0.0
    _asked: int = 0

    @classmethod
    def started(
        cls,
        load_set: LoadSet,
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: Limits,
        grants: Grants,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Worker:
        """Return a worker that has imported its plugin.

        Raises:
            ActionFailed: it did not; reason ``import``, ``memory``, ``crash``,
                ``timeout``, ``cancelled`` or ``output_limit``.
        """
        launched = launch(
            None, cwd=cwd, env=env, limits=limits, grants=grants, stdin=subprocess.PIPE
        )
        made = cls(load_set, launched, limits)
        made._listen()
        try:
            made._open(cancelled)
        except BaseException:
            made.close()
            raise
        return made

    def ask(
        self,
        message: Message | None,
        *,
        on_event: Callable[[Message], None] = lambda event: None,
        seconds: float | None = None,
        soft_seconds: float | None = None,
        cancel_seconds: float = 2.0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Message:
        """Send a message (``None``: only listen), hand on events, return the answer.

        When ``cancelled`` says so, or ``soft_seconds`` are over, the operation
        is asked to stop; ``cancel_seconds`` after a cancellation, or after
        ``seconds`` in all, the worker is ended.

        Raises:
            ActionFailed: with the typed reason; the worker is then not usable again
                unless the operation itself raised.
        """
        assert self._log is not None
        self._log.reset()
        self._allowance = MAX_ACTION
        started = time.monotonic()
        if message is not None:
            self._asked += 1
            self._send({**message, "id": self._asked})
        asked_at: float | None = None
        while True:
            answer = self._next()
            now = time.monotonic()
            if isinstance(answer, dict):
                if "event" in answer:
                    on_event(answer["event"])
                elif answer.get("id", 0) != self._asked:
                    raise self._ended("nonsense", "answered something it was not asked")
                elif "failed" in answer:
                    raise self._reported(answer["failed"])
                else:
                    return answer
            if seconds is not None and now - started > seconds:
                raise self._ended("timeout", f"stopped after {seconds:g} s")
            if self._log.overflowed:
                raise self._ended("output_limit", f"printed over {self._log.limit} bytes")
            if asked_at is None and cancelled():
                asked_at = now
                self._send({"cancel": True})
            elif asked_at is not None and now - asked_at > cancel_seconds:
                raise self._ended("cancelled", "was cancelled")
            if soft_seconds is not None and now - started > soft_seconds:
                soft_seconds = None
                self._send({"cancel": True})

    def cpu_seconds(self) -> float:
        """Return the CPU seconds the worker and what it waited for have taken so far."""
        return cpu_seconds(self.launched.pid) if self.usable else self._spent

    def log_tail(self) -> str:
        """Return the end of what the plugin printed since it was last asked."""
        kept = b"" if self._log is None else self._log.kept()[-_TAIL:]
        return plain_text(kept.decode("utf-8", "replace"), _TAIL)

    def close(self) -> Ending:
        """End the worker with everything it started, and return how it ended."""
        if not self.usable:
            return Ending()
        self.usable = False
        self.launched.end()
        if self._log is not None:
            self._log.join()
        ending = self.launched.ending()
        self._spent = ending.cpu_seconds
        self.launched.close()
        return ending

    def _listen(self) -> None:
        process = self.launched.process
        assert process.stdin and process.stdout and process.stderr
        if os.name == "posix":
            os.set_blocking(process.stdin.fileno(), False)
        self._log = Pump.started(process.stderr, self.limits.output_bytes)
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream, contextlib.suppress(OSError):
            try:
                for line in read_lines(stream.fileno()):
                    self._allowance -= len(line)
                    if self._allowance < 0:
                        raise WireError(f"more than {MAX_ACTION} bytes of messages", limit=True)
                    self._heard.put(line)
            except WireError as error:
                self._heard.put(error)
        self._heard.put(None)

    def _open(self, cancelled: Callable[[], bool]) -> None:
        opening, body = self.load_set.messages()
        if not self.launched.confined(START_SECONDS):
            raise self._died()
        self._send(opening, body)
        try:
            self.ask(None, seconds=START_SECONDS, cancelled=cancelled)
        except ActionFailed as failure:
            if failure.reason != "import":
                raise
            raise ImportFailed(
                failure.message, reason="import", detail=failure.detail, where=self._where()
            ) from failure

    def _next(self) -> Message | None:
        try:
            heard = self._heard.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            return None
        if heard is None:
            raise self._died()
        try:
            if isinstance(heard, WireError):
                raise heard
            return decode(heard)
        except WireError as error:
            raise self._ended("output_limit" if error.limit else "nonsense", str(error)) from error

    def _send(self, message: Message, body: bytes = b"") -> None:
        stream = self.launched.process.stdin
        assert stream is not None
        view = memoryview(encode(message) + body)
        with contextlib.suppress(BrokenPipeError):  # it ended: the reader tells
            while view:
                try:
                    view = view[os.write(stream.fileno(), view) :]
                except BlockingIOError as full:
                    if not select.select([], [stream], [], _SEND_SECONDS)[1]:
                        raise self._ended("nonsense", "does not read what it is told") from full

    def _reported(self, failed: Any) -> ActionFailed:  # Any: JSON values of the worker
        fields = failed if isinstance(failed, dict) else {}
        reason = fields.get("reason")
        known: Reason = reason if reason in REASONS else "nonsense"
        detail = plain_text(f"{fields.get('detail', '')}\n{self.log_tail()}".strip(), 2 * _TAIL)
        message = plain_text(str(fields.get("message", "")), _TAIL)
        return ActionFailed(message, reason=known, detail=detail, where=self._where())

    def _died(self) -> Exception:
        assert self._log is not None
        self.launched.ended(2.0)
        ending = self.close()
        if ending.refusal.startswith("ConfinementError"):
            return ConfinementError(ending.refusal.partition(": ")[2])
        limited = self.limits.memory_bytes is not None
        reason = failure_of(ending, self._log.kept(), limited=limited) or "crash"
        how = f"exit code {ending.returncode}"
        if ending.returncode is not None and ending.returncode < 0:
            how = f"signal {-ending.returncode}"
        message = ending.refusal or f"the worker ended by itself with {how}"
        return ActionFailed(message, reason=reason, detail=self.log_tail(), where=self._where())

    def _ended(self, reason: Reason, message: str) -> ActionFailed:
        self.close()
        return ActionFailed(message, reason=reason, detail=self.log_tail(), where=self._where())

    def _where(self) -> str:
        package = self.load_set.package
        return f"{package.plugin_id} {package.version}"
