"""Texts of accelerator codes: which format it is and what kinds of elements it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import frozen

from sciharness.profiles._text import shown
from sciharness.profiles.records import MOST_NAMES, Profile

_HEAD = 65536
_ELEMENT = re.compile(
    r'^[ \t]*"?([A-Za-z][\w.\-]{0,47})"?[ \t]*:[ \t]*"?([A-Za-z]\w{0,31})"?', re.M
)
_SEQUENCE = re.compile(
    r"^[ \t]*([A-Za-z][\w.\-]{0,47})[ \t]*:[ \t]*(?:sequence|line)\b", re.M | re.I
)
_TFS_HEAD = re.compile(r"^@[ \t]+\w+[ \t]+%\w+[ \t]", re.M)
_TFS_NAMES = re.compile(r"^\*[ \t]+(.+)$", re.M)

Json = dict[str, Any]  # Any: JSON values


@frozen
class _Format:
    name: str
    suffixes: tuple[str, ...]
    facts: Callable[[str], Json]


def is_lattice(name: str, head: str) -> bool:
    """Return whether a file is a lattice text by its name, or a table of optics by its content."""
    return name.lower().endswith(_SUFFIXES) or bool(_TFS_HEAD.match(head.lstrip()))


def profile_lattice(name: str, text: str) -> Profile:
    """Return the profile of a lattice text; nothing in it is evaluated."""
    chosen = next((one for one in _FORMATS if name.lower().endswith(one.suffixes)), _FORMATS[-1])
    facts = {"format": chosen.name, "executable": False, **chosen.facts(text)}
    warning = (
        f"{chosen.name} is recognised, not executed: a run needs Xsuite JSON, "
        "or a leased capability that makes it of this format"
    )
    return Profile("lattice", roles=("lattice", "other"), facts=facts, warnings=(warning,))


def _statements(text: str) -> Json:
    kinds: Counter[str] = Counter()
    for found in _ELEMENT.finditer(text):
        kinds[found[2].lower()] += 1
    sequences = [found[1] for found in _SEQUENCE.finditer(text)]
    return {
        "lines": text.count("\n") + 1,
        "definitions": sum(kinds.values()),
        "element_types": dict(kinds.most_common(50)),
        "sequences": [shown(name) for name in sequences[:MOST_NAMES]],
    }


def _table(text: str) -> Json:
    names = _TFS_NAMES.search(text)
    rows = sum(1 for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "@*$#")
    columns = names[1].split()[:MOST_NAMES] if names else []
    return {"rows": rows, "columns": [shown(one) for one in columns]}


_FORMATS = (
    _Format("MAD-X", (".madx", ".seq", ".mad", ".mad8", ".str"), _statements),
    _Format("Elegant", (".lte",), _statements),
    _Format("TFS", (".tfs",), _table),
)
_SUFFIXES = tuple(suffix for one in _FORMATS for suffix in one.suffixes)
