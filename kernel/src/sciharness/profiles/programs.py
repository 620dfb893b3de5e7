"""Programs of a folder: which of its files could be started, and by what sign."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from attrs import frozen

from sciharness.bundles.tree import opened_file
from sciharness.profiles._text import shown
from sciharness.profiles.headers import Header, header_of, runs_here

_SCRIPT_LINE = 256


@frozen
class Candidate:
    """A file that could be started: a native program, or a script with its first line."""

    path: str
    header: Header | None = None
    script: str = ""
    executable: bool = False

    @property
    def starts(self) -> bool:
        """Whether it could be started here, as far as its first bytes tell."""
        return bool(self.script) if self.header is None else runs_here(self.header)

    def to_dict(self) -> dict[str, object]:
        """Return the candidate as it stands in a profile."""
        facts: dict[str, object] = {"path": shown(self.path), "executable_bit": self.executable}
        if self.header is None:
            return {**facts, "format": "script", "interpreter": shown(self.script)}
        return {**facts, **self.header.to_dict(), "runs_here": runs_here(self.header)}


def candidate(root: int, path: str) -> Candidate | None:
    """Return what a file of an open folder is if it could be started, else ``None``."""
    with opened_file(root, path) as file:
        bit = bool(os.fstat(file).st_mode & 0o100)
        header = header_of(file)
        if header is not None:
            return Candidate(path, header, executable=bit)
        first = os.pread(file, _SCRIPT_LINE, 0)
    script = _interpreter(path, first)
    return Candidate(path, script=script, executable=bit) if script else None


def candidates(root: int, paths: Iterable[str]) -> Iterator[Candidate]:
    """Yield the files of an open folder that could be started."""
    for path in paths:
        found = candidate(root, path)
        if found is not None:
            yield found


def _interpreter(path: str, first: bytes) -> str:
    if first.startswith(b"#!"):
        line = first[2:].splitlines()[0].strip() if first[2:].strip() else b""
        return line.decode("utf-8", "replace")
    return "python" if path.endswith(".py") else ""
