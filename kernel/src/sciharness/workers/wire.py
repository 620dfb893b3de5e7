"""The lines between kernel and worker: JSON, one message a line, bounded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from sciharness.plugin import Input, Table

Message = dict[str, Any]  # Any: JSON values

MAX_LINE = 4 * 1024**2
MAX_ACTION = 64 * 1024**2


class WireError(Exception):
    """What came is no message, or more than may come; ``limit`` tells which."""

    def __init__(self, message: str, *, limit: bool = False) -> None:
        super().__init__(message)
        self.limit = limit


def encode(message: Message) -> bytes:
    """Return a message as one line.

    Raises:
        ValueError, TypeError: it holds a value without a JSON form, or NaN.
    """
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return the message of a line.

    Raises:
        WireError: it is no JSON object, or holds NaN or an infinite number.
    """
    try:
        message = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not a message: {error}") from error
    if not isinstance(message, dict):
        raise WireError("not a message: no JSON object")
    return message


def read_lines(descriptor: int, *, max_line: int = MAX_LINE, start: bytes = b"") -> Iterator[bytes]:
    """Yield the lines of a pipe until its end.

    Raises:
        WireError: a line is longer than ``max_line``.
    """
    pending = bytearray(start)
    while True:
        cut = pending.find(b"\n")
        while cut >= 0:
            yield bytes(pending[:cut])
            del pending[: cut + 1]
            cut = pending.find(b"\n")
        if len(pending) > max_line:
            raise WireError(f"a line of more than {max_line} bytes", limit=True)
        chunk = os.read(descriptor, 65536)
        if not chunk:
            return
        pending += chunk


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes to a pipe."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def input_to_plain(given: Input) -> Message:
    """Return an input as JSON values."""
    plain = attrs.asdict(given)
    plain["path"] = str(given.path)
    return plain


def input_from_plain(plain: Message) -> Input:
    """Return the input that :func:`input_to_plain` wrote."""
    table = plain["table"]
    if table is not None:
        listed = {name: tuple(table[name]) for name in ("features", "ignore", "classes")}
        table = Table(**{**table, **listed})
    return Input(**{**plain, "path": Path(plain["path"]), "table": table})


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large")
    return value
