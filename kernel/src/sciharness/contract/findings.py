"""Findings: problems and warnings about a contract, each with its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from attrs import define, field

from sciharness.contract.document import Document
from sciharness.contract.paths import DocumentPath, show_path, split_path
from sciharness.errors import (
    BudgetError,
    ContractError,
    DataError,
    DeliveryError,
    HarnessError,
    IntegrityError,
    PluginError,
    RequestError,
    UsageError,
    WaitingError,
)
from sciharness.problems import Problem

# If several kinds of problem apply, the first of these decides the exit code.
_PRECEDENCE: tuple[type[HarnessError], ...] = (
    IntegrityError,
    ContractError,
    RequestError,
    DataError,
    PluginError,
    BudgetError,
    DeliveryError,
    WaitingError,
    UsageError,
    HarnessError,
)


@define
class Findings:
    """Collects what is wrong or doubtful; ``document`` gives the places if there is one."""

    document: Document | None = None
    file: str = ""
    problems: list[Problem] = field(factory=list)
    warnings: list[Problem] = field(factory=list)

    def problem(
        self,
        path: DocumentPath,
        *,
        found: str = "",
        expected: str = "",
        hint: str = "",
        kind: str = "contract",
        at_key: bool = False,
    ) -> None:
        """Note something that has to be put right."""
        self.problems.append(self._finding(kind, path, found, expected, hint, at_key))

    def warn(self, path: DocumentPath, *, found: str, hint: str = "") -> None:
        """Note something that a careful person would look at again."""
        self.warnings.append(self._finding("warning", path, found, "", hint, False))

    def adopt(self, problems: Iterable[Problem], parent: DocumentPath) -> None:
        """Take over problems found by another reader of the value at ``parent``."""
        for problem in problems:
            path = (*parent, *split_path(problem.path))
            self.problems.append(
                self._finding(
                    problem.kind, path, problem.found, problem.expected, problem.hint, False
                )
            )

    def spot(self, section: str, index: int, name: str, key: str | None = None) -> DocumentPath:
        """Return the path of the entry ``name`` of a list, at ``index`` if all entries are sound.

        ``key`` is the field that holds the name in a list of mappings.
        """
        value = self.document.value if self.document is not None else None
        items = value.get(section) if isinstance(value, dict) else None
        for place, item in enumerate(items if isinstance(items, list) else ()):
            found = item.get(key) if key is not None and isinstance(item, dict) else item
            if found == name:
                return (section, place)
        return (section, index)

    def sorted_problems(self) -> list[Problem]:
        """Return the problems in the order of their places."""
        return sorted(self.problems, key=_position)

    def _finding(
        self, kind: str, path: DocumentPath, found: str, expected: str, hint: str, at_key: bool
    ) -> Problem:
        place = None
        if self.document is not None:
            find = self.document.key_place if at_key else self.document.place
            place = find(path)
        line, column = place or (None, None)
        file = self.document.name if self.document is not None else self.file
        return Problem(kind, file, line, column, show_path(path), found, expected, hint)


def raise_for(problems: Sequence[Problem], where: str = "") -> None:
    """Raise one error that carries ``problems``, if there are any.

    Its class, and so the exit code, is that of the gravest problem: integrity
    before contract, request and data, before plugin.
    """
    if not problems:
        return
    kinds = {problem.kind for problem in problems}
    error = next((kind for kind in _PRECEDENCE if kind.kind in kinds), ContractError)
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise error(f"refused for {count}", where=where or problems[0].file, problems=problems)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``word`` was most likely meant to be, or ``None``."""
    names = {name.lower(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def suggest(word: str, known: Iterable[str], what: str = "Known") -> str:
    """Return a hint: the nearest known name, else the list of known names."""
    names = sorted(known)
    best = nearest(word, names)
    if best is not None:
        return f"Did you mean `{best}`?"
    if not names:
        return ""
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return f"{what}: {shown}{', ...' if len(names) > 12 else ''}."


def describe(value: object) -> str:
    """Return a short text that says what a value of a document is."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, dict):
        return f"a mapping of {len(value)} keys" if len(value) != 1 else "a mapping of 1 key"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= 60 else text[:56] + '..."'
    return f"the text {text}" if isinstance(value, str) else text


def _position(problem: Problem) -> tuple[bool, int, int]:
    return (problem.line is None, problem.line or 0, problem.column or 0)
