"""Findings about one table: all of them counted, the first of each sort listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve

from sciharness.errors import DataError
from sciharness.problems import Problem

SHOWN_PER_SORT = 5
SHOWN_IN_ALL = 100


class Findings:
    """Collects problems of the file ``file``.

    Problems of one sort (same sort word and column) are listed up to
    ``SHOWN_PER_SORT`` times and counted beyond. With ``secret`` no cell's text
    is quoted. Tables that are no text set ``place_of``: it calls a data row,
    counted from 1, by its place.
    """

    def __init__(self, file: str, *, secret: bool = False) -> None:
        self.file = file
        self.secret = secret
        self.place_of: Callable[[int], str] = lambda row: ""
        self.count = 0
        self._counts: dict[tuple[str, str], int] = {}
        self._listed: dict[tuple[str, str], list[Problem]] = {}

    def add(
        self,
        sort: str,
        found: str,
        expected: str = "",
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        name: str = "",
        field: str = "",
    ) -> None:
        """Note one problem; ``name`` is the column's name, ``field`` a contract field."""
        key = (sort, name)
        self.count += 1
        self._counts[key] = self._counts.get(key, 0) + 1
        listed = self._listed.setdefault(key, [])
        if len(listed) >= SHOWN_PER_SORT:
            return
        path = field or (f'column "{name}"' if name else "")
        place = self.place_of(line - 1) if line is not None else ""
        if place:
            path = place + (f", {path}" if path else "")
            line = None
        listed.append(Problem("data", self.file, line, column, path, found, expected, hint))

    def adopt(self, problems: Sequence[Problem]) -> None:
        """Take over problems that were found within this directory."""
        inside = [evolve(problem, file=self._inside(problem.file)) for problem in problems]
        key = ("inside", "")
        self.count += len(inside)
        self._counts[key] = self._counts.get(key, 0) + len(inside)
        self._listed.setdefault(key, []).extend(inside)

    def _inside(self, file: str) -> str:
        """Return how a file of this directory is called; a whole path is that of the directory."""
        return self.file if "/" in file else f"{self.file}/{file}"

    def has(self, *sorts: str, name: str | None = None) -> bool:
        """Whether any problem of these sorts was noted, in column ``name`` if it is given."""
        return any(sort in sorts and name in (None, column) for sort, column in self._listed)

    def is_full(self, sort: str, name: str) -> bool:
        """Whether another problem of this sort would only be counted."""
        return len(self._listed.get((sort, name), ())) >= SHOWN_PER_SORT

    def count_more(self, sort: str, name: str, count: int) -> None:
        """Count problems of a sort that is already full."""
        self.count += count
        self._counts[(sort, name)] += count

    def quoted(self, text: str) -> str:
        """Return a cell's text as a message may show it."""
        if self.secret:
            return "another text"
        return repr(text if len(text) <= 40 else text[:37] + "...")

    def problems(self) -> tuple[Problem, ...]:
        """Return the listed problems by place, each sort with the count of those left out."""
        listed: list[Problem] = []
        for key, problems in self._listed.items():
            more = self._counts[key] - len(problems)
            listed.extend(problems[:-1])
            last = problems[-1]
            if more:
                note = f"{more} more of this sort{f' in column {key[1]!r}' if key[1] else ''}."
                last = _with_hint(last, f"{last.hint} {note}".strip())
            listed.append(last)
        return tuple(sorted(listed, key=_place)[:SHOWN_IN_ALL])

    def raise_any(self) -> None:
        """Raise one error for all problems, if there are any.

        Raises:
            DataError: at least one problem was noted.
        """
        if self.count:
            raise refusal(self.file, self.problems(), self.count)


def refusal(file: str, problems: Sequence[Problem], count: int = 0) -> DataError:
    """Return the error for ``problems``; its message is the first of them."""
    count = max(count, len(problems))
    first = _without_file(problems[0])
    if count == 1:
        return DataError(first, where=file, problems=problems)
    return DataError(f"{count} problems. First: {first}", where=file, problems=problems)


def _place(problem: Problem) -> tuple[bool, int, int]:
    return problem.line is not None, problem.line or 0, problem.column or 0


def _with_hint(problem: Problem, hint: str) -> Problem:
    return evolve(problem, hint=hint)


def _without_file(problem: Problem) -> str:
    text = str(problem)
    prefix = problem.file
    if text.startswith(prefix + ": "):
        return text[len(prefix) + 2 :]
    return "line " + text[len(prefix) + 1 :] if text.startswith(prefix + ":") else text
