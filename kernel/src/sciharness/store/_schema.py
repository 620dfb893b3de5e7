"""Tables of ``harness.db``."""

from __future__ import annotations

import sqlite3

SCHEMA = 1

_APPEND_ONLY = ("events", "heads", "looks", "look_results")

_TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL",
    "events": (
        "run_id TEXT NOT NULL, seq INTEGER NOT NULL, record BLOB NOT NULL, hash BLOB NOT NULL,"
        " PRIMARY KEY (run_id, seq)"
    ),
    "runs": (
        "run_id TEXT PRIMARY KEY, status TEXT NOT NULL, title TEXT NOT NULL,"
        " delivery TEXT NOT NULL, contract TEXT NOT NULL, created TEXT NOT NULL,"
        " count INTEGER NOT NULL, head BLOB NOT NULL, owner TEXT"
    ),
    "heads": (
        "seq INTEGER PRIMARY KEY, subject TEXT NOT NULL, digest TEXT NOT NULL, hash BLOB NOT NULL"
    ),
    "looks": (
        "id INTEGER PRIMARY KEY, subject TEXT NOT NULL, target TEXT NOT NULL,"
        " look INTEGER NOT NULL, predictor TEXT NOT NULL, split TEXT NOT NULL,"
        " run_id TEXT NOT NULL, overridden INTEGER NOT NULL,"
        " UNIQUE (subject, target, look), UNIQUE (subject, target, predictor)"
    ),
    "look_results": (
        "look_id INTEGER NOT NULL REFERENCES looks (id), evaluation TEXT NOT NULL,"
        " result BLOB NOT NULL, PRIMARY KEY (look_id, evaluation)"
    ),
    "vault": (
        "run_id TEXT NOT NULL, slot TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (run_id, slot)"
    ),
}
# Clustered by run and sequence: a run is read in one sweep, an append touches one page.
_CLUSTERED = ("events",)


def create_schema(connection: sqlite3.Connection) -> None:
    """Create all tables and triggers that are not there yet; the caller holds a transaction."""
    for name, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) {_options(name)}")
    connection.execute("CREATE INDEX IF NOT EXISTS heads_subject ON heads (subject)")
    for name in _APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER IF NOT EXISTS {name}_refuse_{verb.lower()} BEFORE {verb}"
                f" ON {name} BEGIN SELECT RAISE(ABORT, '{name} are append-only'); END"
            )
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(SCHEMA),))


def _options(name: str) -> str:
    options = ["WITHOUT ROWID"] if name in _CLUSTERED else []
    # STRICT came with SQLite 3.37; some systems with Python 3.11 still have 3.34.
    if sqlite3.sqlite_version_info >= (3, 37):
        options.append("STRICT")
    return ", ".join(options)
