"""Paths inside a document, as tuples and as people read them."""

from __future__ import annotations

import json
import re

DocumentPath = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z_][\w-]*")
_PART = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\[(\"(?:[^\"\\]|\\.)*\")\]")


def show_path(path: DocumentPath) -> str:
    """Return a path as text.

    >>> show_path(("steps", 2, "with", "volume"))
    'steps[2].with.volume'
    >>> show_path(("constraints", "beam.track", 0))
    'constraints["beam.track"][0]'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text


def split_path(text: str) -> DocumentPath:
    """Return the tuple of a path text; a text of another form is one key by itself.

    >>> split_path('steps[2].with.volume')
    ('steps', 2, 'with', 'volume')
    """
    parts: list[str | int] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            return (text,)
        name, index, quoted = match.groups()
        parts.append(name if name else int(index) if index else _unquoted(quoted))
        position = match.end()
    return tuple(parts)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
