"""Events of a running operation, checked before the run hears of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field

from sciharness.workers.failures import ActionFailed
from sciharness.workers.outcome import checked_usage, is_metric
from sciharness.workers.texts import plain_text
from sciharness.workers.wire import Message

_MAX_TEXT = 4000
_MAX_BEST = 50


@define
class EventCheck:
    """Adds up charges and passes on checked events.

    Raises (when called):
        ActionFailed: reason ``nonsense``: what came is no event.
    """

    known: Sequence[str]
    pass_on: Callable[[Message], None]
    usage: dict[str, float] = field(factory=dict)

    def __call__(self, event: object) -> None:
        """Take one event."""
        if isinstance(event, dict) and set(event) == {"charge"}:
            charged = checked_usage(event["charge"], self.known)
            for key, amount in charged.items():
                self.usage[key] = self.usage.get(key, 0.0) + amount
            self.pass_on({"charge": charged})
        elif isinstance(event, dict) and set(event) == {"progress"}:
            self.pass_on({"progress": _progress(event["progress"])})
        elif isinstance(event, dict) and set(event) == {"log"}:
            self.pass_on({"log": _log(event["log"])})
        else:
            raise ActionFailed("told something that is no event", reason="nonsense")


def _progress(said: object) -> Message:
    if not isinstance(said, dict) or set(said) != {"fraction", "message", "best"}:
        raise ActionFailed("told progress in an unknown form", reason="nonsense")
    fraction, message, best = said["fraction"], said["message"], said["best"]
    plain = isinstance(best, dict) and all(
        isinstance(value, str | bool) or is_metric(value) for value in best.values()
    )
    if not is_metric(fraction) or not isinstance(message, str) or not plain:
        raise ActionFailed("told progress in an unknown form", reason="nonsense")
    shown = dict(list(best.items())[:_MAX_BEST])
    return {
        "fraction": min(1.0, max(0.0, float(fraction))),
        "message": plain_text(message, _MAX_TEXT),
        "best": {
            plain_text(name, _MAX_TEXT): (
                plain_text(value, _MAX_TEXT) if isinstance(value, str) else value
            )
            for name, value in shown.items()
        },
    }


def _log(said: object) -> Message:
    if not isinstance(said, dict):
        raise ActionFailed("told a log line in an unknown form", reason="nonsense")
    level, message = said.get("level"), said.get("message")
    if not isinstance(level, str) or not isinstance(message, str):
        raise ActionFailed("told a log line in an unknown form", reason="nonsense")
    return {"level": plain_text(level, 20), "message": plain_text(message, _MAX_TEXT)}
