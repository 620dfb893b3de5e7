"""Shapes of single values; see :mod:`sciharness.contract.shapes`."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Protocol

from attrs import frozen

from sciharness.contract.findings import Findings, describe, nearest
from sciharness.contract.paths import DocumentPath

Schema = dict[str, Any]  # Any: JSON Schema


class _Broken:
    def __repr__(self) -> str:
        return "BROKEN"


BROKEN = _Broken()


class Shape(Protocol):
    """A rule for one value of a document."""

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the value, or ``BROKEN`` after noting why not."""

    def schema(self) -> Schema:
        """Return the rule as JSON Schema 2020-12."""


@frozen
class Text:
    """Text; ``pattern`` has to match all of it."""

    expected: str = "text"
    pattern: str = ""
    longest: int | None = None
    hint: str = ""

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the text."""
        if not isinstance(value, str):
            return refuse(findings, path, value, self.expected, self.hint or self._quoted(value))
        if self.longest is not None and len(value) > self.longest:
            findings.problem(
                path, found=f"{len(value)} characters", expected=f"at most {self.longest}"
            )
            return BROKEN
        if self.pattern and not re.fullmatch(self.pattern, value):
            return refuse(findings, path, value, self.expected, self.hint)
        return value

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {"type": "string"}
        if self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        if self.longest is not None:
            schema["maxLength"] = self.longest
        return schema

    def _quoted(self, value: object) -> str:
        if not isinstance(value, int | float):
            return ""
        text = json.dumps(value)
        return f'Put it in quotes: "{text}".' if re.fullmatch(self.pattern or ".*", text) else ""


@frozen
class OneOf:
    """One of several words."""

    words: tuple[str, ...]

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the word."""
        if isinstance(value, str) and value in self.words:
            return value
        expected = " or ".join(f"`{word}`" for word in self.words)
        hint = self._hint(value)
        if value is None and "none" in self.words:
            hint = "Write the word `none`."
        return refuse(findings, path, value, expected, hint)

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        return {"type": "string", "enum": list(self.words)}

    def _hint(self, value: object) -> str:
        if not isinstance(value, str):
            return ""
        turned = [word for word in self.words if sorted(word) == sorted(value)]
        best = turned[0] if turned else nearest(value, self.words)
        return f"Did you mean `{best}`?" if best else ""


@frozen
class Flag:
    """``true`` or ``false``."""

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the truth value."""
        if isinstance(value, bool):
            return value
        hint = ""
        if isinstance(value, str):
            meant = value.strip().lower()
            if meant in ("yes", "on", "y", "true"):
                hint = "YAML 1.2 knows only true and false; write true."
            elif meant in ("no", "off", "n", "false"):
                hint = "YAML 1.2 knows only true and false; write false."
        return refuse(findings, path, value, "true or false", hint)

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        return {"type": "boolean"}


@frozen
class Integer:
    """An integer within bounds; ``true`` and ``3.0`` are none."""

    low: int
    high: int | None = None

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the integer."""
        if isinstance(value, bool) or not isinstance(value, int):
            return refuse(findings, path, value, self._expected(), _integer_hint(value))
        if value < self.low or (self.high is not None and value > self.high):
            return refuse(findings, path, value, self._expected())
        return value

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {"type": "integer", "minimum": self.low}
        return schema if self.high is None else {**schema, "maximum": self.high}

    def _expected(self) -> str:
        if self.high is None:
            return f"an integer >= {self.low}"
        return f"an integer from {self.low} to {self.high}"


@frozen
class Number:
    """A finite number, between exclusive bounds if they are given."""

    above: float | None = None
    below: float | None = None

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the number as it was written, integer or not."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            hint = "Remove the quotes." if isinstance(value, str) and _is_number(value) else ""
            return refuse(findings, path, value, self._expected(), hint)
        low = self.above is not None and value <= self.above
        if low or (self.below is not None and value >= self.below) or not math.isfinite(value):
            return refuse(findings, path, value, self._expected())
        return value

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        schema: Schema = {"type": "number"}
        if self.above is not None:
            schema["exclusiveMinimum"] = self.above
        if self.below is not None:
            schema["exclusiveMaximum"] = self.below
        return schema

    def _expected(self) -> str:
        bounds = []
        if self.above is not None:
            bounds.append(f"> {self.above:g}")
        if self.below is not None:
            bounds.append(f"< {self.below:g}")
        return " ".join(["a number", " and ".join(bounds)]).strip()


@frozen
class Anything:
    """Any value of JSON; whoever uses it checks it further."""

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the value unchanged."""
        return value

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        return {}


@frozen
class Blank:
    """A value that may be left blank (null)."""

    shape: Shape

    def read(self, value: Any, path: DocumentPath, findings: Findings) -> Any:  # Any: JSON values
        """Return the value, or ``None`` for a blank one."""
        return None if value is None else self.shape.read(value, path, findings)

    def schema(self) -> Schema:
        """Return the rule as JSON Schema."""
        return {"anyOf": [self.shape.schema(), {"type": "null"}]}


def refuse(
    findings: Findings, path: DocumentPath, value: object, expected: str, hint: str = ""
) -> _Broken:
    """Note that a value is not what was expected and return ``BROKEN``."""
    findings.problem(path, found=describe(value), expected=expected, hint=hint)
    return BROKEN


def _integer_hint(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"Write {int(value)}."
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9][0-9_, ']*", value):
        return f"Write {re.sub('[^-0-9]', '', value)}, without quotes or separators."
    return ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
