"""What both document readers share: limits, places, scalars and the list of faults."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from sciharness.contract.paths import DocumentPath, show_path
from sciharness.errors import ContractError
from sciharness.problems import Problem

Place = tuple[int, int]

MAX_DEPTH = 64
MAX_VALUES = 100_000
MAX_INTEGER = 2**53 - 1  # beyond it, JSON readers disagree about the value
MAX_FAULTS = 50

# What may not stand in a text value; tab and line feed may.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_NUMBER_DIGITS = 400


class SyntaxFault(ContractError):
    """The text is not a document of its language at all."""


class Builder:
    """Collects places and faults while a document is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[DocumentPath, Place] = {}
        self.keys: dict[DocumentPath, Place] = {}
        self.faults: list[Problem] = []

    def fault(
        self, place: Place | None, path: DocumentPath, found: str, expected: str, hint: str = ""
    ) -> None:
        """Note a fault; reading goes on so that all of them are told at once."""
        line, column = place or (None, None)
        self.faults.append(
            Problem("contract", self.name, line, column, show_path(path), found, expected, hint)
        )
        if len(self.faults) >= MAX_FAULTS:
            self.finish()

    def stop(self, place: Place | None, found: str, expected: str, hint: str = "") -> NoReturn:
        """Give up: nothing after this place can be read."""
        line, column = place or (None, None)
        problem = Problem("contract", self.name, line, column, "", found, expected, hint)
        raise SyntaxFault(
            f"{found}, expected {expected}",
            where=self.name,
            hint=hint,
            problems=[*self.faults, problem],
        )

    def finish(self) -> None:
        """Raise one error with all faults, if there are any."""
        if self.faults:
            first = self.faults[0]
            more = f" (and {len(self.faults) - 1} more)" if len(self.faults) > 1 else ""
            raise ContractError(
                f"{first.found}, expected {first.expected}{more}",
                where=self.name,
                hint=first.hint,
                problems=self.faults,
            )

    def enter(self, path: DocumentPath, place: Place, *, nested: bool) -> None:
        """Register a value at ``path`` and keep the bounds on depth and number."""
        if len(self.places) >= MAX_VALUES:
            hint = "Put long lists into an input file."
            self.stop(place, f"more than {MAX_VALUES} values", f"at most {MAX_VALUES}", hint)
        if nested and len(path) >= MAX_DEPTH:
            self.stop(place, f"more than {MAX_DEPTH} nested levels", f"at most {MAX_DEPTH} levels")
        self.places[path] = place

    def key(self, parent: DocumentPath, key: str, place: Place) -> DocumentPath:
        """Register a key and return its path; a repeated key is a fault.

        The value of a repeated key is read all the same, under a path of its
        own, so that the faults in it are told as well.
        """
        path = (*parent, key)
        if path in self.keys:
            first = self.keys[path][0]
            found = f"the key {key!r} a second time"
            self.fault(place, path, found, "each key once", f"It is first set on line {first}.")
            return (*parent, f"{key} (second)")
        self.text(key, path, place)
        self.keys[path] = place
        return path

    def text(self, value: str, path: DocumentPath, place: Place) -> str:
        """Return a text value after a look for control characters."""
        match = _CONTROL.search(value)
        if match is not None:
            self.fault(place, path, _named(match.group()), "text without control characters")
        return value

    def integer(self, digits: str, base: int, path: DocumentPath, place: Place) -> int:
        """Return an integer that every JSON reader takes for the same number."""
        value = int(digits, base) if len(digits) <= _NUMBER_DIGITS else MAX_INTEGER + 1
        if abs(value) > MAX_INTEGER:
            hint = "Put it in quotes if it is meant as text."
            expected = f"an integer up to {MAX_INTEGER}"
            self.fault(place, path, f"an integer of {len(digits)} digits", expected, hint)
            return 0
        return value

    def number(self, text: str, path: DocumentPath, place: Place) -> float:
        """Return a finite floating-point number."""
        value = float(text)
        if not math.isfinite(value):
            self.fault(place, path, _shortened(text), "a finite number")
            return 0.0
        return value


def refuse_text(name: str, place: Place, mark: str) -> NoReturn:
    """Refuse a document for one character that may not stand in it."""
    builder = Builder(name)
    hint = "In YAML and JSON such a character can only be meant by mistake; delete it."
    builder.stop(place, _named(mark), "text without control characters", hint)


def _named(mark: str) -> str:
    return f"the control character U+{ord(mark):04X}"


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
