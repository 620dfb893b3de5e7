"""MAD-X text as statements with their lines, comments left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from sciharness.errors import DataError

_TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|!(?!=)[^\n]*|//[^\n]*)|(?P<string>\"[^\"\n]*\"|'[^'\n]*')"
    r"|(?P<end>[;{}])|(?P<line>\n)|(?P<other>[^!/\"';{}\n]+|.)",
    re.DOTALL,
)


@frozen
class Statement:
    """One statement without its semicolon, and where it begins."""

    text: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"

    @property
    def head(self) -> str:
        """The first word in lower case."""
        found = re.match(r"\s*([A-Za-z_][\w.]*)", self.text)
        return found[1].lower() if found else ""


def statements(text: str, file: str) -> Iterator[Statement]:
    """Yield the statements of a text; strings come out in double quotes.

    Raises:
        DataError: a statement does not end.
    """
    parts: list[str] = []
    line, begun, depth = 1, 1, 0
    for token in _TOKEN.finditer(text):
        kind, found = token.lastgroup, token[0]
        if kind == "end" and found == ";" and depth == 0:
            yield Statement(_joined(parts), file, begun)
            parts = []
        elif kind not in ("comment", "line"):
            if not "".join(parts).strip():
                begun = line
            parts.append(_quoted(found) if kind == "string" else found)
            depth += {"{": 1, "}": -1}.get(found, 0) if kind == "end" else 0
        else:
            parts.append(" ")
        line += found.count("\n")
    rest = _joined(parts)
    if rest.strip("& \t"):
        if rest.lstrip().lower().startswith(("if", "while", "elseif", "else")):
            yield Statement(rest, file, begun)  # ends with a brace; refused by name later
            return
        raise DataError(
            f"the statement {rest.strip()[:60]!r} has no semicolon", where=f"{file}:{begun}"
        )


def _joined(parts: list[str]) -> str:
    return " ".join("".join(parts).split())


def _quoted(text: str) -> str:
    inner = text[1:-1]
    return f'"{inner}"'
