"""Beam lines of MAD-X, written out: repeats, reflections and lines within lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sciharness.errors import DataError

_TOKEN = re.compile(r"\s*(?:(\d+)\s*\*|([-(),])|(\"[^\"]+\"|[\w.$]+))")
_MOST = 200_000
_MOST_DEPTH = 50


def written_out(name: str, lines: Mapping[str, str], where: str) -> str:
    """Return the statement that defines a line by elements alone.

    Raises:
        DataError: a line has arguments, contains itself or is longer than any ring.
    """
    elements = _elements(name, lines, where, 0)
    if len(elements) > _MOST:
        raise DataError(f"the line {name} has more than {_MOST:,} elements", where=where)
    return f"{name}: line=({', '.join(elements)});"


def _elements(name: str, lines: Mapping[str, str], where: str, depth: int) -> list[str]:
    if depth > _MOST_DEPTH:
        raise DataError(f"the line {name} contains itself", where=where)
    tokens = _tokens(lines[name], name, where)
    if next(tokens, "") != "(":
        raise DataError(f"the line {name} is no list in brackets", where=where)
    return _group(tokens, name, lines, where, depth)


def _group(
    tokens: Iterator[str], name: str, lines: Mapping[str, str], where: str, depth: int
) -> list[str]:
    found: list[str] = []
    times, turned = 1, False
    for token in tokens:
        if token == ")":
            return found
        if token.isdigit():
            times = int(token)
        elif token == "-":
            turned = not turned
        elif token == ",":
            times, turned = 1, False
        else:
            part = _part(token, tokens, name, lines, where, depth)
            if len(found) + times * len(part) > _MOST:
                raise DataError(f"the line {name} has more than {_MOST:,} elements", where=where)
            found += (part[::-1] if turned else part) * times
    raise DataError(f"the line {name} has a bracket that does not close", where=where)


def _part(
    token: str, tokens: Iterator[str], name: str, lines: Mapping[str, str], where: str, depth: int
) -> list[str]:
    if token == "(":
        return _group(tokens, name, lines, where, depth + 1)
    inner = token.strip('"').lower()
    return _elements(inner, lines, where, depth + 1) if inner in lines else [inner]


def _tokens(text: str, name: str, where: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if not found:
            raise DataError(f"the line {name} holds {text[at : at + 20]!r}", where=where)
        yield found[1] or found[2] or found[3]
        at = found.end()
