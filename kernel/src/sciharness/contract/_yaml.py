"""YAML text as plain data with places: version 1.2, core schema, no anchors, no tags.

PyYAML's parser gives the events; its own meaning of plain words (version 1.1:
``yes``, ``012``, ``1:30``, dates) is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from sciharness.contract._builder import Builder, Place
from sciharness.contract.paths import DocumentPath

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o([0-7]+)")
_HEXADECIMAL = re.compile(r"0x([0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

_HINTS = (
    ("comment or line break", 'Operators that start with `>` need quotes: op: ">=".'),
    ("mapping values are not allowed", "Text that holds `: ` has to be put in quotes."),
    ("cannot start any token", "Indent with spaces, and put text with special marks in quotes."),
    ("found character '\\t'", "Indent with spaces, not with tabs."),
    ("expected alphabetic or numeric", "Text that starts with `*` or `&` needs quotes."),
    ("<document start>", "Put everything into one document and delete the line `---` or `...`."),
    ("<block end>", "Check the indentation of this line and the one before it."),
    ("expected ':'", "A key is followed by a colon and a space."),
)


def read_yaml(text: str, builder: Builder, *, empty_is_null: bool = False) -> Any:  # Any: JSON
    """Return the value of a YAML text; faults and places go to ``builder``."""
    reader = _Reader(builder)
    try:
        return reader.read(yaml.parse(text, Loader=_loader()), empty_is_null=empty_is_null)
    except yaml.YAMLError as fault:
        builder.stop(*_explain(fault))


def _loader() -> Any:  # Any: the two loader classes share no base
    # The C parser is ten times as fast, but not in every build of PyYAML.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Reader:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.events: Iterator[Any] = iter(())  # Any: PyYAML's events are untyped

    def read(self, events: Iterator[Any], *, empty_is_null: bool) -> Any:  # Any: JSON values
        self.events = events
        next(events)  # the start of the stream
        start = next(events)
        if isinstance(start, yaml.StreamEndEvent):
            if empty_is_null:
                return None
            self.builder.stop(None, "an empty file", "a YAML document")
        self._check_directives(start)
        value = self._value(next(events), ())
        next(events)  # the end of the document
        following = next(events)
        if not isinstance(following, yaml.StreamEndEvent):
            hint = "Put everything into one document and delete the line `---`."
            self.builder.stop(_place(following), "a second document", "one document", hint)
        return value

    def _check_directives(self, start: Any) -> None:  # Any: an untyped event
        if start.tags:
            self.builder.fault(_place(start), (), "a %TAG directive", "no directives")
        if start.version not in (None, (1, 2)):
            hint = "Delete the line."
            self.builder.fault(_place(start), (), "%YAML 1.1", "YAML 1.2", hint)

    def _value(self, event: Any, path: DocumentPath) -> Any:  # Any: untyped event, JSON value
        place = _place(event)
        nested = not isinstance(event, yaml.ScalarEvent | yaml.AliasEvent)
        self.builder.enter(path, place, nested=nested)
        if isinstance(event, yaml.AliasEvent):
            found, hint = f"the alias *{event.anchor}", "Write the value out."
            self.builder.fault(place, path, found, "a value of its own", hint)
            return None
        self._check_properties(event, path, place)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _check_properties(self, event: Any, path: DocumentPath, place: Place) -> None:  # Any: event
        if event.anchor is not None:
            found, hint = f"the anchor &{event.anchor}", "Delete it; text with `&` needs quotes."
            self.builder.fault(place, path, found, "no anchors", hint)
        if event.tag is not None:
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            found, hint = f"the tag {shown}", "Delete it; text with `!` needs quotes."
            self.builder.fault(place, path, found, "no tags", hint)

    def _sequence(self, path: DocumentPath) -> list[Any]:  # Any: JSON values
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _mapping(self, path: DocumentPath) -> dict[str, Any]:  # Any: JSON values
        members: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event, path)
            inner = self.builder.key(path, key, _place(event))
            members[key] = self._value(next(self.events), inner)
        return members

    def _key(self, event: Any, path: DocumentPath) -> str:  # Any: an untyped event
        if not isinstance(event, yaml.ScalarEvent):
            hint = "Text that starts with `{`, `[`, `*` or `?` needs quotes."
            self.builder.stop(_place(event), "a key that is no text", "a text key", hint)
        self._check_properties(event, (*path, event.value), _place(event))
        if _is_plain(event) and not _is_text(event.value):
            found, hint = f"the key {event.value or 'null'}", f'Put it in quotes: "{event.value}".'
            self.builder.fault(_place(event), (*path, event.value), found, "a text key", hint)
        return str(event.value)

    def _scalar(self, event: Any, path: DocumentPath, place: Place) -> Any:  # Any: JSON scalars
        text = event.value
        if not _is_plain(event):
            return self.builder.text(text, path, place)
        if text in _NULL:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _INTEGER.fullmatch(text):
            return self.builder.integer(text, 10, path, place)
        for form, base in ((_OCTAL, 8), (_HEXADECIMAL, 16)):
            if match := form.fullmatch(text):
                return self.builder.integer(match.group(1), base, path, place)
        if _FLOAT.fullmatch(text):
            return self.builder.number(text, path, place)
        if _NOT_FINITE.fullmatch(text):
            hint = "Put it in quotes if it is meant as text."
            self.builder.fault(place, path, text, "a finite number", hint)
            return 0.0
        return self.builder.text(text, path, place)


def _is_plain(event: Any) -> bool:  # Any: an untyped event
    return not event.style


def _is_text(plain: str) -> bool:
    if plain in _NULL or plain in _BOOLEANS:
        return False
    forms = (_INTEGER, _OCTAL, _HEXADECIMAL, _FLOAT, _NOT_FINITE)
    return not any(form.fullmatch(plain) for form in forms)


def _place(event: Any) -> Place:  # Any: an untyped event
    return event.start_mark.line + 1, event.start_mark.column + 1


def _explain(fault: yaml.YAMLError) -> tuple[Place | None, str, str, str]:
    start = getattr(fault, "context_mark", None)
    mark = getattr(fault, "problem_mark", None) or start
    place = (mark.line + 1, mark.column + 1) if mark is not None else None
    said = getattr(fault, "problem", None) or "text that is no YAML"
    if context := getattr(fault, "context", None):
        said += f" {context}" + (f" that starts on line {start.line + 1}" if start else "")
    hint = next((advice for sign, advice in _HINTS if sign in said), "")
    return place, f"broken YAML ({said})", "a YAML document", hint
