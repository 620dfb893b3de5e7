"""The real `harness` command as in the end-to-end tests, and hands to stop it with."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from harness import COMMAND
from homes import conforms, fresh, prepared, site

from sciharness.store.fsck import fsck
from sciharness.store.home import Home

__all__ = ["conforms", "fresh", "prepared", "site"]


@frozen
class Steered:
    """A harness with runs that are started, watched and stopped."""

    harness: Any

    def start(self, *words: str | Path, **environment: str) -> subprocess.Popen[str]:
        """Start the command without waiting for it."""
        return subprocess.Popen(
            [COMMAND, *map(str, words)],
            cwd=self.harness.folder,
            env={**self.harness.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def until(self, kind: str, run: str = "1", times: int = 1, seconds: float = 60.0) -> None:
        """Wait until the record of a run has ``times`` events of a kind."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.kinds(run).count(kind) >= times:
                return
            time.sleep(0.02)
        raise AssertionError(f"no {kind} within {seconds} s: {self.kinds(run)}")

    def kinds(self, run: str = "1") -> list[str]:
        """Return the kinds of events of a run, read from the database itself."""
        with Home.open(self.harness.home) as home:
            rows = home.connection().execute(
                "SELECT record FROM events WHERE CAST(run_id AS INTEGER) = ? ORDER BY seq",
                (int(run),),
            )
            return [json.loads(record)["kind"] for (record,) in rows.fetchall()]

    def status(self, run: str = "1") -> str:
        """Return the status that ``status`` shows."""
        shown: str = self.harness("status", run, "--json", code=0).json["status"]
        return shown

    def artifacts(self, run: str = "1") -> list[str]:
        """Return the IDs of what a run has made, reports apart."""
        return [
            item["id"]
            for item in self.harness.show(run)["artifacts"]
            if item["type"] != "scientific_report"
        ]

    def settled(self, run: str = "1") -> list[str]:
        """Return the steps that were settled, each as often as it was."""
        return [
            event["body"]["action"]["step"]
            for event in self.harness.events(run)
            if event["kind"] in {"ActionFinished", "ActionFailed"}
        ]

    def sound(self) -> None:
        """The home has no damage: chains, objects and catalog hold."""
        with Home.open(self.harness.home) as home:
            assert fsck(home).problems == ()


@pytest.fixture(scope="session")
def steer() -> Callable[[Any], Steered]:
    """Give hands on the runs of any home."""
    return Steered


@pytest.fixture
def steered(fresh: Callable[..., Any]) -> Steered:
    """A home and a folder of its own, with hands on its runs."""
    return Steered(fresh())


@pytest.fixture(scope="session")
def killed() -> Callable[[subprocess.Popen[str]], None]:
    """End a command by SIGKILL, as a power cut would."""

    def kill(process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()

    return kill
