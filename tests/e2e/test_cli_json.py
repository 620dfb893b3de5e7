"""Commands that print facts print them as JSON too, and nothing else on standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def ran(fresh: Callable[..., Any]) -> Any:
    """A home with one finished run."""
    made = fresh("json")
    made.table()
    made.contract(capabilities=["toy.fit", "evaluation.regression", "reporting.write"])
    made("run", "c.yaml", code=0)
    return made


def test_init_names_the_file(harness: Any) -> None:
    said = harness("init", "new.yaml", "--json", code=0).json

    assert Path(said["contract"]) == harness.folder / "new.yaml"
    assert Path(said["contract"]).is_file()


def test_lock_prints_what_it_pins(harness: Any) -> None:
    harness.table()
    harness.contract()

    foreseen = harness("lock", "c.yaml", "--dry-run", "--json", code=0).json
    there = (harness.folder / "c.lock").exists()
    written = harness("lock", "c.yaml", "--json", code=0).json
    again = harness("lock", "c.yaml", "--json", code=0).json

    assert (foreseen["written"], there) == (False, False)
    assert (written["written"], again["written"]) == (True, False)
    assert written["pins"]["toy.fit"].startswith("toy ")
    assert set(written["inputs"]) == {"data"}


def test_a_lock_that_differs_names_the_command_with_the_contract(harness: Any) -> None:
    harness.table()
    harness.contract(name="mine.yaml")
    harness("lock", "mine.yaml", code=0)
    harness.contract(name="mine.yaml", title="Another")

    refused = harness("lock", "mine.yaml", "--json", code=7).json

    assert "`harness lock mine.yaml --update`" in refused["error"]["hint"]
    assert "`harness lock mine.yaml --update`" in refused["problems"][0]["hint"]


def test_report_names_the_file_and_gives_the_text(ran: Any) -> None:
    page = ran("report", "1", "--json", code=0).json
    words = ran("report", "1", "--markdown", "--json", code=0).json

    assert Path(page["report"]).read_text("utf-8").startswith("<!doctype html>")
    assert words["markdown"] == Path(words["report"]).read_text("utf-8")


def test_admission_and_revocation_are_told(harness: Any) -> None:
    shown = harness("plugin", "admit", "toy", "--dry-run", "--json", code=0).json
    admitted = harness("plugin", "admit", "toy", "--json", code=0).json
    revoked = harness("plugin", "revoke", "toy", "--json", code=0).json

    assert (shown["admitted"], admitted["admitted"]) == (False, True)
    assert (admitted["id"], admitted["state"]) == ("toy", "admitted")
    assert len(admitted["digest"]) == 64
    assert revoked == {"revoked": "toy"}
