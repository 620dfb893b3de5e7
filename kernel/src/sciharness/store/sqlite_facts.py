"""What is known of the SQLite that this Python uses."""

from __future__ import annotations

import sqlite3

from attrs import frozen

Version = tuple[int, int, int]


@frozen
class SqliteFacts:
    """Version, and whether the WAL-reset race is in it.

    ``note`` says in a sentence what that means here.
    """

    version: str
    wal_reset_race: bool
    note: str


def sqlite_facts(version: Version | None = None) -> SqliteFacts:
    """Return the facts of ``version``, by default of the SQLite in use."""
    number = version or sqlite3.sqlite_version_info[:3]
    text = ".".join(str(part) for part in number)
    if not has_wal_reset_race(number):
        return SqliteFacts(text, False, "no known fault")
    return SqliteFacts(
        text,
        True,
        "commits can be lost if one connection writes while another copies the log back;"
        " all writers of a home share one lock, which rules that out",
    )


def has_wal_reset_race(version: Version) -> bool:
    """Whether this version has the race: 3.7.0 to 3.51.2, but for two mended branches.

    >>> has_wal_reset_race((3, 40, 1)), has_wal_reset_race((3, 51, 3))
    (True, False)
    """
    mended = version[:2] in {(3, 44), (3, 50)} and version >= _MENDED[version[:2]]
    return (3, 7, 0) <= version < (3, 51, 3) and not mended


_MENDED = {(3, 44): (3, 44, 6), (3, 50): (3, 50, 7)}
