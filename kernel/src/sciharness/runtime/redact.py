"""Text without traces of the machine: no absolute path, user or host name is stored."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Mapping
from typing import Any

# An absolute path of two or more parts, POSIX or Windows, up to a quote, space or bracket.
_PATH = re.compile(r"(?<![\w/.<])(?:[A-Za-z]:)?(?:[/\\][^\s/\\'\"<>:,;()\[\]{}|]+){2,}")
_SHORT_NAMES = frozenset({"root", "user", "localhost", "vm", "box", "host"})


def redact(text: str) -> str:
    """Return ``text`` with absolute paths cut to their last part and names replaced."""
    shown = _PATH.sub(lambda found: "<path>/" + re.split(r"[/\\]", found.group())[-1], text)
    for name, word in _names():
        shown = re.sub(rf"\b{re.escape(name)}\b", word, shown)
    return shown


def redact_all(value: Any) -> Any:  # Any: JSON values
    """Return a JSON value with every text in it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: redact_all(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_all(item) for item in value]
    return value


def _names() -> list[tuple[str, str]]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    host = socket.gethostname()
    # Names that are common words would mangle ordinary text and tell nothing.
    pairs = [(user, "<user>"), (host, "<host>")]
    return [(name, word) for name, word in pairs if len(name) > 2 and name not in _SHORT_NAMES]
