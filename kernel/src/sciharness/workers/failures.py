"""Typed failures of an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from sciharness.errors import HarnessError

Reason = Literal[
    "bad_artifact",
    "bad_metric",
    "cancelled",
    "crash",
    "data",
    "error",
    "file_limit",
    "import",
    "memory",
    "missing_result",
    "nonsense",
    "output_limit",
    "request",
    "timeout",
    "undeclared_metric",
]
REASONS: tuple[str, ...] = get_args(Reason)


class ActionFailed(HarnessError):
    """An action did not give a result; ``reason`` says which kind of failure it was.

    ``detail`` is what the worker left for a person: a traceback or the end of
    its output. ``usage`` is what it had charged, ``cpu_seconds`` what it took.
    """

    kind = "plugin"
    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        reason: Reason = "error",
        detail: str = "",
        where: str = "",
        hint: str = "",
        problems: tuple[object, ...] = (),
        usage: Mapping[str, float] | None = None,
        seconds: float = 0.0,
        cpu_seconds: float = 0.0,
    ) -> None:
        super().__init__(message, where=where, hint=hint, problems=problems)
        self.reason = reason
        self.detail = detail
        self.usage: dict[str, float] = dict(usage or {})
        self.seconds = seconds
        self.cpu_seconds = cpu_seconds


class ImportFailed(ActionFailed):
    """An admitted plugin did not load: an error of the installation, not of the request."""

    exit_code = 8
