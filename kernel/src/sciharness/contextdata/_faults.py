"""Faults of a directory, gathered while the check goes on, and the error that carries them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sciharness.errors import DataError
from sciharness.problems import Problem

MANIFEST = "manifest.json"
_LONGEST = 80


class ContextManifestError(DataError, ValueError):
    """A context.data directory breaks hard rules of the format; ``problems`` lists all of them."""


class Faults:
    """The findings so far, in the order in which they were made."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def manifest(
        self,
        path: str,
        expected: str,
        found: str = "",
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """Note a fault of the field ``path`` of the manifest."""
        self.problems.append(Problem("data", MANIFEST, line, column, path, found, expected, hint))

    def file(self, file: str, path: str, expected: str, found: str = "", hint: str = "") -> None:
        """Note a fault of an array file, which belongs to the manifest entry ``path``."""
        self.problems.append(
            Problem("data", printable(file), None, None, path, found, expected, hint)
        )

    def texts(self) -> list[str]:
        """Return the findings as sentences."""
        return [str(problem) for problem in self.problems]

    def error(self, where: str) -> ContextManifestError:
        """Return the error that tells all findings about the directory ``where``."""
        lines = "".join(f"\n- {problem}" for problem in self.problems)
        count = "1 fault" if len(self.problems) == 1 else f"{len(self.problems)} faults"
        message = f"no sound context.data, {count}:{lines}"
        return ContextManifestError(message, where=where, problems=self.problems)


def printable(text: str) -> str:
    """Return ``text`` fit for one line of a message: short, no control characters."""
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return text if text.isprintable() else ascii(text)


def place(section: str, name: str, field: str = "") -> str:
    """Return the path of an entry of the manifest, or of one field of it."""
    path = f"{section}.{printable(name)}"
    return f"{path}.{field}" if field else path


def show(value: object) -> str:
    """Return JSON ``value`` as a message names it; long and nested values by their kind."""
    if isinstance(value, str):
        return json.dumps(printable(value), ensure_ascii=False)
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    return printable(json.dumps(value))


def several(names: Sequence[str], most: int = 10) -> str:
    """Return names joined for a message; beyond ``most`` they are only counted."""
    shown = ", ".join(repr(printable(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
