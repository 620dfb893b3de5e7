"""Running one operation inside the worker: request, context, outcome."""

from __future__ import annotations

import logging
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from sciharness.plugin import Context, Outcome
from sciharness.requests import COMMON, build_request
from sciharness.roles import Launch, NoOptions
from sciharness.workers.consulting import Consulted, consult
from sciharness.workers.failures import ActionFailed
from sciharness.workers.outcome import (
    checked_metrics,
    checked_notes,
    checked_outputs,
    is_artifact_name,
)
from sciharness.workers.wire import Message, input_from_plain

if TYPE_CHECKING:
    from sciharness.workers.loaded import LoadedPlugin
    from sciharness.workers.serve import Link

_EVERY_SECONDS = 0.05
_MAX_TEXT = 2000


def run(plugin: LoadedPlugin, asked: Message, link: Link) -> Message:
    """Run one operation, or ask one role, and return the message with its outcome.

    Raises:
        ActionFailed: what it gave back is no outcome.
        RequestError: the request class refuses its values.
    """
    offer = plugin.offers[asked["operation"]]
    reporter = Reporter(link)
    os.chdir(asked["workspace"])
    context = _context(asked, reporter, link)
    kind = getattr(offer, "request", NoOptions)
    request: object = build_request(kind, _with_common(kind, asked))
    try:
        with reporter.attached(context.log):
            if isinstance(offer, Consulted):
                return {"answer": consult(offer, request, asked["subject"], context)}
            outcome = offer.run(request, context)
    finally:
        reporter.flush()
    return {"done": _checked(outcome, context, getattr(offer, "metrics", ()))}


def _context(asked: Message, reporter: Reporter, link: Link) -> Context:
    return Context(
        inputs={name: input_from_plain(plain) for name, plain in asked["inputs"].items()},
        workspace=Path(asked["workspace"]),
        seed=asked["seed"],
        workers=asked["workers"],
        time_limit=asked["time_limit"],
        restored=Path(asked["restored"]) if asked["restored"] else None,
        launch=Launch(**asked["launch"]) if asked["launch"] else None,
        emit=reporter.emit,
        is_cancelled=lambda: link.cancelled,
    )


def _with_common(request: type, asked: Message) -> Message:
    """Return the request's values; a common field that its class declares is the job's."""
    declared = {item.alias for item in attrs.fields(request)} if attrs.has(request) else set()
    return {**asked["request"], **{name: asked[name] for name in COMMON if name in declared}}


def _checked(outcome: object, context: Context, declared: tuple[str, ...]) -> Message:
    if not isinstance(outcome, Outcome):
        raise ActionFailed(
            f"an operation returns an Outcome, got {type(outcome).__name__}", reason="nonsense"
        )
    outputs = checked_outputs(context.outputs)
    absent = sorted(name for name in outputs if not (context.workspace / "outputs" / name).exists())
    if absent:
        raise ActionFailed(f"not written: {', '.join(absent)}", reason="missing_result")
    assert all(is_artifact_name(name) for name in outputs)
    return {
        "metrics": checked_metrics(outcome.metrics, declared),
        "notes": checked_notes(outcome.notes),
        "outputs": outputs,
    }


class Reporter:
    """Passes on progress, charges and log lines, at most twenty times a second."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._charged: dict[str, float] = {}
        self._progress: Message | None = None
        self._sent = -math.inf

    def emit(self, message: Message) -> None:
        """Take what the context tells."""
        for key, amount in message.get("charge", {}).items():
            self._charged[key] = self._charged.get(key, 0.0) + amount
        if "progress" in message:
            self._progress = _plain_progress(message["progress"])
        if time.monotonic() - self._sent >= _EVERY_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what waits; charges add up, of progress the newest counts."""
        self._sent = time.monotonic()
        if self._charged:
            charged, self._charged = self._charged, {}
            self._link.send({"event": {"charge": charged}})
        if self._progress is not None:
            progress, self._progress = self._progress, None
            self._link.send({"event": {"progress": progress}})

    def attached(self, log: logging.Logger) -> _Attached:
        """Return a context in which ``log`` writes events."""
        return _Attached(log, self._link)


class _Attached(logging.Handler):
    def __init__(self, log: logging.Logger, link: Link) -> None:
        super().__init__()
        self._log = log
        self._link = link

    def __enter__(self) -> None:
        self._log.addHandler(self)
        self._log.setLevel(logging.INFO)
        self._log.propagate = False

    def __exit__(self, *raised: object) -> None:
        self._log.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()[:_MAX_TEXT]
        self._link.send({"event": {"log": {"level": record.levelname.lower(), "message": said}}})


def _plain_progress(progress: Message) -> Message:
    """Return progress with plain finite values; a best of NaN is shown as text."""
    best = {str(name): _plain(value) for name, value in list(progress["best"].items())[:20]}
    fraction = float(progress["fraction"])
    return {
        "fraction": min(1.0, max(0.0, fraction)) if math.isfinite(fraction) else 0.0,
        "message": str(progress["message"])[:_MAX_TEXT],
        "best": best,
    }


def _plain(value: Any) -> Any:  # Any: a number or a text of the plugin
    if isinstance(value, bool | int):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)[:200]
    return number if math.isfinite(number) and not isinstance(value, str) else str(value)[:200]
