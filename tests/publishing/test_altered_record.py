"""A run whose recorded state was altered before publishing: refused, naming the item."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sciharness.errors import IntegrityError
from sciharness.runtime.comparing import accepted_artifacts, compare, evaluated_metrics
from sciharness.runtime.looking import state_of
from sciharness.runtime.state import RunState
from sciharness.store.home import Home
from sciharness_catalog.attestation import Attestation

Run = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, process: Run, contract: Any) -> Path:
    """A home whose run was killed after it had ended and before it published anything."""
    folder = tmp_path_factory.mktemp("ended")
    code, _ = process(
        folder / "home", "run", contract(folder / "work"), HARNESS_FAILPOINT="run.ended"
    )
    assert code == -signal.SIGKILL
    return folder / "home"


@pytest.fixture
def pending(ended: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    shutil.copytree(ended, tmp_path / "home")
    return tmp_path / "home"


def object_of(home: Path, run: Run, kind: str) -> Path:
    """Return the file in the store of the run's artifact of a type."""
    found = [one for one in run(home, "show", "1", "--json")[1]["artifacts"] if one["type"] == kind]
    return home / "objects" / found[-1]["sha256"][:2] / found[-1]["sha256"]


def test_an_unaltered_run_publishes_after_the_kill(pending: Path, run: Run) -> None:
    code, view = run(pending, "resume", "1", "--json")

    assert (code, view["delivery"]) == (0, "succeeded")
    assert view["packages"][0]["plugin_id"] == "example.line"


@pytest.mark.parametrize(
    "kind", ["model", "inference.source.python", "model_card", "predictor.evaluation"]
)
def test_an_altered_artifact_is_not_published(pending: Path, run: Run, kind: str) -> None:
    path = object_of(pending, run, kind)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"0", b"1"))

    code, view = run(pending, "resume", "1", "--json")

    assert (code, view["status"], view["delivery"]) == (7, "succeeded", "failed")
    assert view["error"]["kind"] == "integrity"
    assert path.name[:12] in json.dumps(view["error"])
    assert "packages" not in view


def test_an_altered_metric_in_the_record_is_noticed(pending: Path, run: Run) -> None:
    with sqlite3.connect(pending / "harness.db") as database:
        # Whoever can write the file can drop the trigger that keeps events as they are, too.
        for (name,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'"
        ).fetchall():
            database.execute(f"DROP TRIGGER {name}")
        rows = database.execute("SELECT seq, record FROM events").fetchall()
        changed = 0
        for number, record in rows:
            if b'"source":"trusted"' in record:
                other = record.replace(b'"relative_rmse"', b'"relative_rmsf"')
                database.execute("UPDATE events SET record = ? WHERE seq = ?", (other, number))
                changed += 1
    assert changed

    code, told = run(pending, "resume", "1", "--json")

    assert (code, told["delivery"]) == (7, "failed")
    assert "was changed" in told["error"]["message"]
    assert "packages" not in told


def other_metric(state: RunState) -> None:
    state.metrics[:] = [evolve(one, value=one.value / 2) for one in state.metrics]


def less_metrics(state: RunState) -> None:
    state.metrics[:] = [one for one in state.metrics if one.name != "relative_rmse"]


def other_contract(state: RunState) -> None:
    state.contract_digest = "0" * 64


def other_output(kind: str) -> Callable[[RunState], None]:
    """Return an alteration that gives the accepted artifact of a type another digest."""

    def alter(state: RunState) -> None:
        state.artifacts[:] = [
            evolve(one, sha256="0" * 64) if one.type == kind else one for one in state.artifacts
        ]

    return alter


def another_output(state: RunState) -> None:
    state.artifacts[:] = [
        evolve(one, id=one.id + "x") if one.type == "model" else one for one in state.artifacts
    ]


@pytest.mark.parametrize(
    ("alter", "item"),
    [
        (other_metric, "metrics"),
        (other_metric, "metric relative_rmse"),
        (less_metrics, "metrics"),
        (other_contract, "contract"),
        (other_output("model"), "source model.json"),
        (other_output("inference.source.python"), "source inference.py"),
        (other_output("model_card"), "source model_card.json"),
        (other_output("predictor.evaluation"), "source evaluation.json"),
        (another_output, "accepted model.json"),
    ],
)
def test_each_item_of_the_state_is_compared(
    published: Path, alter: Callable[[RunState], None], item: str
) -> None:
    wheel = next(published.glob("*.whl"))
    said = Attestation.parse(next(published.glob("*.attestation.json")).read_bytes())
    with Home.open(published.parent.parent.parent.parent) as home:
        state = state_of(home, "1")
        told = evaluated_metrics(home, state)
        compare(state, wheel, said, told)
        assert {one.type for one in accepted_artifacts(state)} >= {"model", "predictor.evaluation"}
        alter(state)

        with pytest.raises(IntegrityError) as refused:
            compare(state, wheel, said, told)

    assert item in refused.value.message.removeprefix("package and record differ: ").split(", ")
