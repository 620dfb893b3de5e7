"""Which statements of a MAD-X text are handed on: definitions only, nothing that acts.

``system`` and ``exec`` would run something, ``call`` outside the folder would
read anything: they are refused before any parser sees the text. Commands
that change a lattice in ways the parser does not follow are refused as well,
since a ring without them would be another ring. Commands that only print or
compute are left out and named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from attrs import define, field, frozen

from sciharness.errors import DataError
from sciharness_xsuite.madx.lines import written_out
from sciharness_xsuite.madx.statements import Statement, statements

_MOST_BYTES = 64 * 2**20
_MOST_FILES = 200
_MOST_DEPTH = 20

_RUNS = ("system", "exec")
_CHANGES = {
    "if": "conditions",
    "elseif": "conditions",
    "else": "conditions",
    "while": "loops",
    "match": "matching, whose results are not in the text",
    "makethin": "slicing",
    "correct": "orbit correction, whose results are not in the text",
    "ealign": "alignment errors",
    "efcomp": "field errors",
    "eoption": "errors",
    "seterr": "errors from a table",
    "readtable": "tables",
    "readmytable": "tables",
    "setvars": "values from tables",
    "setvars_lin": "values from tables",
    "sxfread": "another lattice format",
    "cycle": "a changed start",
    "flatten": "sequence editing",
    "reflect": "sequence editing",
    "replace": "sequence editing",
    "move": "sequence editing",
    "remove": "sequence editing",
    "extract": "sequence editing",
}
_ENDS_FILE = ("return",)
_ENDS_ALL = ("stop", "exit", "quit")
_SETTINGS = "title option set select assign value help beta0 use chdir deltap savestate savebeta"
_OUTPUT = "print printf show plot setplot resplot write save esave eprint csave create fill shrink"
_FILES = "removefile renamefile"
_COMPUTED = "twiss survey emit aperture dynap run start observe track endtrack touschek ibs sodd"
_CORRECTION = "coguess usemonitor usekick result nlmatch"
_PRINTS = frozenset(f"{_SETTINGS} {_OUTPUT} {_FILES} {_COMPUTED} {_CORRECTION}".split())
_ARROW = re.compile(r"([A-Za-z_][\w.$]*)\s*->\s*([A-Za-z_]\w*)\s*(:?=)(.*)", re.DOTALL)
_FILE = re.compile(r",\s*file\s*=\s*\"?([^\",;]+)\"?", re.IGNORECASE)
_MACRO = re.compile(r":\s*macro\b", re.IGNORECASE)
_QUALIFIED = re.compile(r"^\s*(?:(?:shared|const|real|int)\s+)+(?=[\w.$]+\s*:?=)", re.IGNORECASE)
_SEQUENCE = re.compile(r"([\w.$]+|\"[^\"]+\")\s*:\s*sequence\b", re.IGNORECASE)
_LINE = re.compile(r"([\w.$]+|\"[^\"]+\")\s*(\([^)]*\))?\s*:\s*line\s*=(.*)", re.IGNORECASE)
_USED = re.compile(r"(?:sequence|period)\s*=\s*\"?([\w.$]+)", re.IGNORECASE)


@frozen
class Reading:
    """Definitions, the names of sequences among them, beam lines apart, and what was left out."""

    text: str
    sequences: tuple[str, ...]
    lines: Mapping[str, str]
    used: str
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that may be the ring."""
        return (*self.sequences, *self.lines)

    def text_for(self, name: str, where: str) -> str:
        """Return the text that defines one of the names, beam lines written out."""
        if name in self.lines:
            return f"{self.text}{written_out(name, self.lines, where)}\n"
        return self.text


@define
class _Reader:
    folder: Path
    kept: list[str] = field(factory=list)
    sequences: list[str] = field(factory=list)
    lines: dict[str, str] = field(factory=dict)
    used: str = ""
    left_out: Counter[str] = field(factory=Counter)
    files: int = 0
    size: int = 0
    ended: bool = False

    def read(self, path: Path, depth: int = 0) -> None:
        """Take the statements of a file, with the files that it calls."""
        for statement in statements(self._content(path, depth), path.name):
            if self.ended or statement.head in _ENDS_FILE:
                return
            self._take(statement, path, depth)

    def _content(self, path: Path, depth: int) -> str:
        self.files += 1
        if depth > _MOST_DEPTH or self.files > _MOST_FILES:
            raise DataError(
                f"more than {_MOST_FILES} files or {_MOST_DEPTH} levels of `call`", where=path.name
            )
        self.size += path.stat().st_size
        if self.size > _MOST_BYTES:
            raise DataError(f"is larger than {_MOST_BYTES // 2**20} MiB in all", where=path.name)
        content = path.read_bytes()
        if b"\0" in content:
            raise DataError("is binary, expected MAD-X text", where=path.name)
        return content.decode("utf-8", "replace")

    def _take(self, statement: Statement, path: Path, depth: int) -> None:
        head = statement.head
        labelled = re.match(r"\s*(?:[\w.$]+|\"[^\"]+\")\s*(?:\([^)]*\))?\s*:(?!=)", statement.text)
        assigned = re.match(
            r"\s*(?:const\s+|real\s+|int\s+|shared\s+)*[\w.$]+\s*:?=", statement.text
        )
        if _MACRO.search(statement.text):
            raise _refused(statement, "a macro, which only `exec` could run")
        if not statement.text.strip("& "):
            return
        if labelled or assigned:
            self._keep(statement)
        elif head in _RUNS:
            raise _refused(statement, f"`{head}`, which would run something")
        elif head == "call":
            self.read(self._called(statement, path), depth + 1)
        elif head in _CHANGES:
            raise _refused(
                statement,
                f"`{head}` ({_CHANGES[head]}), which is not followed: the ring would differ",
            )
        elif head in _ENDS_ALL:
            self.ended = True
        elif head in _PRINTS or head.startswith("ptc_"):
            self._leave_out(statement)
        else:
            self._keep(statement)

    def _keep(self, statement: Statement) -> None:
        text = _QUALIFIED.sub("", statement.text)
        line = _LINE.fullmatch(text)
        if line and line[2]:
            raise _refused(statement, "a line with arguments, which is not followed")
        if line:
            self.lines[line[1].strip('"').lower()] = line[3]
            return
        if found := _SEQUENCE.match(text):
            self.sequences.append(found[1].strip('"').lower())
        arrow = _ARROW.fullmatch(text)
        if arrow:
            text = f"{arrow[1]}, {arrow[2]} {arrow[3]} {arrow[4]}"
        self.kept.append(text + ";")

    def _leave_out(self, statement: Statement) -> None:
        if statement.head == "use" and (found := _USED.search(statement.text)):
            self.used = found[1].lower()
        if statement.head == "select" and "error" in statement.text.lower():
            raise _refused(statement, "errors chosen for elements, which are not followed")
        self.left_out[statement.head] += 1

    def _called(self, statement: Statement, path: Path) -> Path:
        found = _FILE.search(statement.text)
        if not found:
            raise _refused(statement, "`call` without a file")
        wanted = found[1].strip()
        for base in (path.parent, self.folder):
            target = (base / wanted).resolve()
            if target.is_relative_to(self.folder) and target.is_file():
                return target
        inside = (self.folder / wanted).resolve().is_relative_to(self.folder)
        why = "there is no such file in the input folder" if inside else "outside the input folder"
        raise DataError(
            f"calls {wanted[:100]!r}, {why}",
            where=statement.place,
            hint="Give a folder that holds all files as the input, and main_file to start with.",
        )


def read_madx(main: Path, folder: Path) -> Reading:
    """Return the definitions in a MAD-X file and in the files of its folder that it calls.

    Raises:
        DataError: the text runs something, reads elsewhere, or changes the ring in a way
            that is not followed.
    """
    reader = _Reader(folder.resolve())
    reader.read(main.resolve())
    named = ", ".join(f"{name} ({count})" for name, count in sorted(reader.left_out.items()))
    notes = (f"left out commands that only print or compute: {named}",) if named else ()
    text = "\n".join(reader.kept) + "\n"
    return Reading(text, tuple(reader.sequences), reader.lines, reader.used, notes)


def _refused(statement: Statement, what: str) -> DataError:
    return DataError(
        f"{what}: {statement.text.strip()[:80]!r}",
        where=statement.place,
        hint="Save the sequence from MAD-X (save, sequence=NAME, file=ring.seq, beam=true) and "
        "give that file.",
    )
