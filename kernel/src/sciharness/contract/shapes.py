"""Shapes: what a document may look like, for the reader and as JSON Schema.

One declaration serves both: ``read`` notes every problem of a value and gives
it back cleaned, or ``BROKEN`` where nothing can be made of it; ``schema``
gives the same rule to editors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from sciharness.contract.findings import Findings, describe, nearest, suggest
from sciharness.contract.paths import DocumentPath
from sciharness.contract.scalars import BROKEN, Schema, Shape, Text, refuse


@frozen
class ListOf:
    """A list; broken items stay in their place as ``BROKEN``."""

    item: Shape
    least: int = 0
    most: int | None = None
    unique: bool = False
    expected: str = "a list"

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the list."""
        if not isinstance(value, list):
            scalar = isinstance(value, str | int | float)
            hint = f"Write [{value}]." if scalar else ""
            return refuse(findings, path, value, self.expected, hint)
        if len(value) < self.least:
            findings.problem(path, found="an empty list", expected=f"at least {self.least} entry")
        if self.most is not None and len(value) > self.most:
            findings.problem(path, found=f"{len(value)} entries", expected=f"at most {self.most}")
        if self.unique:
            self._check_unique(value, path, findings)
        return [self.item.read(item, (*path, i), findings) for i, item in enumerate(value)]

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {"type": "array", "items": self.item.schema()}
        if self.least:
            schema["minItems"] = self.least
        if self.most is not None:
            schema["maxItems"] = self.most
        if self.unique:
            schema["uniqueItems"] = True
        return schema

    def _check_unique(self, value: list[Any], path: DocumentPath, findings: Findings) -> None:
        for index, item in enumerate(value):
            if isinstance(item, str) and item in value[:index]:
                hint = f"It stands at index {value.index(item)} already; delete one."
                found = f"{describe(item)} a second time"
                findings.problem((*path, index), found=found, expected="each once", hint=hint)


@frozen
class MapOf:
    """A mapping with free keys, all of one form."""

    item: Shape
    key: Text = field(factory=Text)
    least: int = 0

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the mapping without its broken members."""
        if not isinstance(value, dict):
            return refuse(findings, path, value, "a mapping")
        if len(value) < self.least:
            findings.problem(path, found="an empty mapping", expected=f"at least {self.least} key")
        read = {}
        for name, item in value.items():
            inner = (*path, name)
            if self.key.pattern and not re.fullmatch(self.key.pattern, name):
                findings.problem(
                    inner, found=describe(name), expected=self.key.expected, at_key=True
                )
            read[name] = self.item.read(item, inner, findings)
        return {name: item for name, item in read.items() if item is not BROKEN}

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {"type": "object", "additionalProperties": self.item.schema()}
        if self.key.pattern:
            schema["propertyNames"] = {"pattern": f"^(?:{self.key.pattern})$"}
        if self.least:
            schema["minProperties"] = self.least
        return schema


@frozen
class Field:
    """A field of a record; ``default`` is what editors show, ``None`` for no default."""

    shape: Shape
    help: str = ""
    required: bool = False
    default: Any = None  # Any: JSON values

    def schema(self) -> Schema:
        """Return the field's rule with its description."""
        schema = self.shape.schema()
        if self.help:
            schema = {"description": self.help, **schema}
        return schema if self.default is None else {**schema, "default": self.default}


@frozen
class Record:
    """A mapping with named fields; unknown keys are refused unless it is ``open``.

    ``conflicts`` lists pairs of fields of which only one may be there.
    """

    fields: Mapping[str, Field]
    expected: str = "a mapping"
    open: bool = False
    conflicts: tuple[tuple[str, str], ...] = ()
    least: int = 0

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the fields that are there and sound; ``BROKEN`` if a required one is not."""
        if not isinstance(value, dict):
            return refuse(findings, path, value, self.expected)
        if len(value) < self.least:
            return refuse(findings, path, value, f"at least {self.least} key")
        meant = self._check_keys(value, path, findings)
        read = {
            name: self.fields[name].shape.read(item, (*path, name), findings)
            if name in self.fields
            else item
            for name, item in value.items()
            if name in self.fields or self.open
        }
        missing = [name for name, item in self.fields.items() if item.required and name not in read]
        for name in missing:
            if name not in meant:
                self._miss(name, path, findings)
        sound = {name: item for name, item in read.items() if item is not BROKEN}
        complete = all(name in sound for name, item in self.fields.items() if item.required)
        return sound if complete or not path else BROKEN

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {
            "type": "object",
            "properties": {name: item.schema() for name, item in self.fields.items()},
        }
        if not self.open:
            schema["additionalProperties"] = False
        required = [name for name, item in self.fields.items() if item.required]
        if required:
            schema["required"] = required
        if self.least:
            schema["minProperties"] = self.least
        if self.conflicts:
            schema["allOf"] = [{"not": {"required": list(pair)}} for pair in self.conflicts]
        return schema

    def _check_keys(
        self, value: dict[str, Any], path: DocumentPath, findings: Findings
    ) -> set[str]:
        """Note unknown and conflicting keys; return the fields that unknown keys were meant as."""
        meant = set()
        for name in value:
            if name in self.fields or self.open:
                continue
            free = [known for known in self.fields if known not in value]
            best = nearest(name, free)
            meant.update([best] if best else [])
            findings.problem(
                (*path, name),
                found=f"the unknown key `{name}`",
                expected="a known key",
                hint=suggest(name, free or self.fields, "Known here"),
                at_key=True,
            )
        for first, second in self.conflicts:
            if first in value and second in value:
                found = f"`{second}` beside `{first}`"
                findings.problem(
                    (*path, second), found=found, expected="only one of them", at_key=True
                )
        return meant

    def _miss(self, name: str, path: DocumentPath, findings: Findings) -> None:
        expected, hint = f"the required key `{name}`", self.fields[name].help
        findings.problem((*path, name), found="nothing", expected=expected, hint=hint)


@frozen
class Either:
    """One of several shapes; ``pick`` tells by the value which of them was meant."""

    shapes: tuple[Shape, ...]
    pick: Callable[[Any], int]  # Any: JSON values

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return what the shape that was meant makes of the value."""
        return self.shapes[self.pick(value)].read(value, path, findings)

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        return {"anyOf": [shape.schema() for shape in self.shapes]}
