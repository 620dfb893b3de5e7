"""JSON text as plain data with places; strict RFC 8259."""

from __future__ import annotations

import re
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

from sciharness.contract._builder import Builder, Place
from sciharness.contract.paths import DocumentPath

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LINE_END = re.compile("\r\n|\r|\n")
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = JSONDecoder(strict=True)  # only ever used on strings
_WORD = re.compile(r"-?[A-Za-z_][A-Za-z0-9_]*")


def read_json(text: str, builder: Builder) -> Any:  # Any: JSON values
    """Return the value of a JSON text; faults and places go to ``builder``."""
    return _Reader(text, builder).read()


class _Reader:
    def __init__(self, text: str, builder: Builder) -> None:
        self.text = text
        self.builder = builder
        self.position = 0
        self.lines = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def read(self) -> Any:  # Any: JSON values
        self._skip()
        if self.position == len(self.text):
            self._stop("an empty file", "a JSON document")
        value = self._value(())
        self._skip()
        if self.position < len(self.text):
            self._stop("text after the end of the document", "one JSON document")
        return value

    def _value(self, path: DocumentPath) -> Any:  # Any: JSON values
        place = self._place()
        mark = self.text[self.position : self.position + 1]
        self.builder.enter(path, place, nested=mark in ("{", "["))
        if mark == "{":
            return self._object(path)
        if mark == "[":
            return self._array(path)
        if mark == '"':
            return self.builder.text(self._string(), path, place)
        return self._literal(path, place)

    def _object(self, path: DocumentPath) -> dict[str, Any]:  # Any: JSON values
        members: dict[str, Any] = {}
        self.position += 1
        while not self._closes("}", first=not members):
            place = self._place()
            if self.text[self.position : self.position + 1] != '"':
                self._stop(self._here(), "a key in double quotes")
            key = self._string()
            inner = self.builder.key(path, key, place)
            self._skip()
            if self.text[self.position : self.position + 1] != ":":
                self._stop(self._here(), "`:` after the key")
            self.position += 1
            self._skip()
            members[key] = self._value(inner)
        return members

    def _array(self, path: DocumentPath) -> list[Any]:  # Any: JSON values
        items: list[Any] = []
        self.position += 1
        while not self._closes("]", first=not items):
            items.append(self._value((*path, len(items))))
        return items

    def _closes(self, mark: str, *, first: bool) -> bool:
        """Move to the next member; True when the collection ends here."""
        self._skip()
        following = self.text[self.position : self.position + 1]
        if following == mark:
            self.position += 1
            return True
        if not first:
            if following != ",":
                self._stop(self._here(), f"`,` or `{mark}`")
            self.position += 1
            self._skip()
            if self.text[self.position : self.position + 1] == mark:
                self._stop(f"`{mark}` after a comma", "another value", "Delete the comma.")
        return False

    def _string(self) -> str:
        try:
            value, self.position = _DECODER.raw_decode(self.text, self.position)
        except JSONDecodeError as fault:
            self.position = min(fault.pos, len(self.text))
            self._stop(fault.msg.lower().removesuffix(" at"), "text in double quotes")
        return str(value)

    def _literal(self, path: DocumentPath, place: Place) -> Any:  # Any: JSON scalars
        word = _WORD.match(self.text, self.position)
        if word is not None:
            return self._word(word.group(), path, place)
        match = _NUMBER.match(self.text, self.position)
        if match is None:
            self._stop(self._here(), "a JSON value")
        self.position = match.end()
        if match.group(1) is None and match.group(2) is None:
            return self.builder.integer(match.group(), 10, path, place)
        return self.builder.number(match.group(), path, place)

    def _word(self, word: str, path: DocumentPath, place: Place) -> Any:  # Any: JSON scalars
        if word in _WORDS:
            self.position += len(word)
            return _WORDS[word]
        if word in ("NaN", "Infinity", "-Infinity"):
            self.position += len(word)
            self.builder.fault(place, path, word, "a finite number")
            return 0.0
        self._stop(f"the word {word[:40]}", "a JSON value", "Text needs double quotes.")

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def _here(self) -> str:
        if self.position >= len(self.text):
            return "the end of the file"
        return f"`{self.text[self.position]}`"

    def _place(self) -> Place:
        line = bisect_right(self.lines, self.position)
        return line, self.position - self.lines[line - 1] + 1

    def _stop(self, found: str, expected: str, hint: str = "") -> NoReturn:
        self.builder.stop(self._place(), found, expected, hint)
