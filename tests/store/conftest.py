"""A home in a temporary folder, a clock that ticks by itself, and a hand on the raw database."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sciharness.store.clock import Clock
from sciharness.store.events import EventLog
from sciharness.store.home import Home


def ticking() -> Clock:
    moments = (datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(10**9))
    return lambda: next(moments)


@pytest.fixture
def clock() -> Clock:
    return ticking()


@pytest.fixture
def home(tmp_path: Path, clock: Clock) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=clock) as opened:
        yield opened


@pytest.fixture
def log(home: Home) -> EventLog:
    return EventLog(home)


@pytest.fixture
def tamper() -> Callable[[Home, str], None]:
    """Run SQL as somebody would who edits the file by hand, past all triggers."""

    def run(home: Home, script: str) -> None:
        with closing(sqlite3.connect(home.database)) as connection:
            triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in triggers.fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            connection.executescript(script)
            connection.commit()

    return run


@pytest.fixture
def mounted() -> Iterator[Callable[..., None]]:
    """Mount something for the time of a test; skipped where that is not allowed."""
    places: list[Path] = []

    def mount(place: Path, *options: str | Path) -> None:
        command = ["mount", *map(str, options), str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this user may not mount")
        places.append(place)

    yield mount
    for place in dict.fromkeys(places):
        subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)
