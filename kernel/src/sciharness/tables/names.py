"""Column names: one spelling of each, and the unit that a name carries."""

from __future__ import annotations

import re
import unicodedata

SAMPLE_ID = "sample_id"
_BLANKS = re.compile(r"\s+")
_UNIT = re.compile(r".*\S\s*\[([^\[\]]+)\]")


def column_name(text: str) -> str:
    """Return the spelling of a column name that is used everywhere.

    Unicode form NFC, each run of white space one blank, none around it.
    """
    return unicodedata.normalize("NFC", _BLANKS.sub(" ", text).strip())


def unit_of(name: str) -> str | None:
    """Return the unit that a name such as ``length [m]`` ends with, or ``None``.

    >>> unit_of("length [m]"), unit_of("length"), unit_of("[m]")
    ('m', None, None)
    """
    found = _UNIT.fullmatch(name)
    return found.group(1).strip() or None if found else None
