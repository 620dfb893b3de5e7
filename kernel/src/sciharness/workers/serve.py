"""The worker: loads one verified plugin and runs its operations, one after the other.

It starts confined (see the shim). Standard input and output of the plugin are
not the protocol's: those two pipes move to private descriptors first, and what
a plugin prints goes to the log.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import Any

from sciharness.workers.wire import Message, WireError, decode, encode, read_lines, write_all


def main(level: str) -> None:
    """Serve the kernel until it closes the pipe or says so."""
    source, sink = _take_pipes()
    header = _read_header(source)
    try:
        link = Link(source, sink, header.pop("rest"))
        plugin = _load(header, link)
    except BaseException as error:  # noqa: BLE001  whatever a plugin raises is a typed failure
        write_all(sink, encode(_failure_of(error, "import")))
        return
    link.send({"ready": True, "level": level})
    from sciharness.workers.operate import run

    for message in link.messages():
        try:
            if "describe" in message:
                answer: Message = {"descriptor": plugin.describe()}
            else:
                answer = run(plugin, message["run"], link)
        except BaseException as error:  # noqa: BLE001  even SystemExit ends only the action
            answer = _failure_of(error, "error")
        _flush()
        link.send({**answer, "id": message["id"]})


class Link:
    """The worker's end of the two pipes; a thread reads, so that a cancellation is heard."""

    def __init__(self, source: int, sink: int, rest: bytes) -> None:
        self._source = source
        self._sink = sink
        self._rest = rest
        self._waiting: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.cancelled = False

    def listen(self) -> None:
        """Start reading; from then on the end of the pipe ends this process."""
        threading.Thread(target=self._read, daemon=True, name="sciharness-link").start()

    def messages(self) -> Iterator[Message]:
        """Yield what the kernel asks for."""
        while True:
            yield self._waiting.get()

    def send(self, message: Message) -> None:
        """Send a message to the kernel."""
        line = encode(message)
        with self._lock:
            write_all(self._sink, line)

    def _read(self) -> None:
        try:
            for line in read_lines(self._source, start=self._rest):
                message = decode(line)
                if "cancel" in message:
                    self.cancelled = True
                else:
                    self.cancelled = False
                    self._waiting.put(message)
        finally:
            os._exit(0)  # the kernel is gone


def _flush() -> None:
    """Let what was printed reach the log before the answer does."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _take_pipes() -> tuple[int, int]:
    """Move the protocol to descriptors that no child inherits; give the plugin a null and a log."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def _read_header(source: int) -> dict[str, Any]:  # Any: JSON values and bytes
    """Return the first message, with the files whose bytes follow it."""
    pending = bytearray()
    while b"\n" not in pending:
        pending += _more(source)
    line, _, rest = pending.partition(b"\n")
    header: dict[str, Any] = decode(bytes(line))
    wanted = sum(size for package in header["packages"] for _, size in package["files"])
    while len(rest) < wanted:
        rest += _more(source)
    view, position = bytes(rest), 0
    for package in header["packages"]:
        files: dict[str, bytes] = {}
        for name, size in package["files"]:
            files[name] = view[position : position + size]
            position += size
        package["files"] = files
    header["rest"] = view[position:]
    return header


def _more(source: int) -> bytes:
    chunk = os.read(source, 1 << 20)
    if not chunk:
        os._exit(1)
    return chunk


def _load(header: dict[str, Any], link: Link) -> Any:  # Any: JSON values; a plugin, imported late
    from sciharness.workers.finder import VerifiedFinder, install

    for package in header["packages"]:
        install(VerifiedFinder(package["root"], package["files"]))
        if package["root"] not in sys.path:
            sys.path.append(package["root"])  # what it depends on lies beside it
    link.listen()
    from sciharness.workers.loaded import load

    return load(header["plugin_id"], header["entry_point"])


def _failure_of(error: BaseException, reason: str) -> Message:
    """Return the message for an exception: its type, its words, its traceback."""
    import errno
    import traceback

    detail = "".join(traceback.format_exception(error))[-8000:]
    message = f"{type(error).__name__}: {error}"[:2000]
    found = getattr(error, "reason", None)
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        during = " during import" if reason == "import" else ""
        reason, message = "memory", f"out of memory{during}: {error}"[:2000]
    elif getattr(error, "errno", None) == errno.EFBIG:
        reason, message = "file_limit", f"a file grew beyond its limit: {error}"[:2000]
    elif type(error).__name__ == "ActionFailed" and isinstance(found, str):
        reason, message = found, str(error)
    elif reason != "import" and (refusal := _refusal_of(error)):
        reason, message = refusal, str(error)
    elif isinstance(error, ImportError):
        reason = "import"  # also a library that an operation imports late
    if isinstance(error, WireError | ValueError) and not message:
        message = type(error).__name__
    return {"failed": {"reason": reason, "message": message, "detail": detail}}


def _refusal_of(error: BaseException) -> str:
    """Return ``request`` or ``data`` if an operation refused one of them, else nothing."""
    names = {base.__name__ for base in type(error).__mro__}
    kinds = {"RequestError": "request", "DataError": "data"}
    return next((kind for name, kind in kinds.items() if name in names), "")


if __name__ == "__main__":  # without a shim (Windows): unconfined
    main("none")
