"""Text without traces of the machine: no absolute path, user or host name is stored."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Mapping
from typing import Any

# An absolute path of two or more parts, POSIX or Windows: in quotes as a whole, else up to a
# quote, space or bracket. Addresses in the web are none.
_QUOTED = re.compile(r"(?<=(['\"]))(?:file:)?(?:[A-Za-z]:)?[/\\][^'\"\n]*(?=\1)")
_PATH = re.compile(
    r"(?<![\w/.<])(?<!http:)(?<!https:)(?:[A-Za-z]:)?[/\\]*"
    r"(?:[/\\][^\s/\\'\"<>:,;()\[\]{}|]+){2,}"
)
_SHORT_NAMES = frozenset({"root", "user", "localhost", "vm", "box", "host"})


def redact(text: str) -> str:
    """Return ``text`` with absolute paths cut to their last part and names replaced.

    >>> redact("cannot open '/srv/my data/a b.csv' or file:///srv/data/c.csv")
    "cannot open '<path>/a b.csv' or file:<path>/c.csv"
    """
    shown = _PATH.sub(_last_part, _QUOTED.sub(_last_part, text))
    for name, word in _names():
        shown = re.sub(rf"\b{re.escape(name)}\b", word, shown)
    return shown


def _last_part(found: re.Match[str]) -> str:
    _, *parts = re.split(r"[/\\]+", found.group())
    return f"<path>/{parts[-1]}" if len(parts) > 1 else found.group()


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
