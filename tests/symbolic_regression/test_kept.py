"""A search that was killed goes on with the pieces that it had finished."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from sciharness.plugin import Context, Input, Table
from sciharness_symbolic_regression.engines.operon import Operon
from sciharness_symbolic_regression.laws.engine import Laws
from sciharness_symbolic_regression.plugin import search
from sciharness_symbolic_regression.request import SearchRequest

BOUNDED = {"max_evaluations": 40_000, "stability_runs": 2}  # a stage, a restart, two repeats
SMALL = {"max_evaluations": 15_000, "stability_runs": 1}


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A law with noise, so that no piece ends the search early."""
    draw = random.Random(3)
    path = tmp_path / "law.csv"
    path.write_text("a,b,y\n" + "".join(_rows(draw)), "utf-8")
    return path


def _rows(draw: random.Random) -> list[str]:
    rows = [(draw.uniform(1, 3), draw.uniform(1, 3), draw.gauss(0, 0.3)) for _ in range(120)]
    return [f"{a!r},{b!r},{a * b / (1 + b) + noise!r}\n" for a, b, noise in rows]


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which every piece of search that really begins adds a line."""
    path = tmp_path / "begun.txt"
    path.touch()
    for engine in (Laws, Operon):
        plain = engine.search

        def search(self: Any, sample: Any, attempt: Any, report: Any, plain: Any = plain) -> Any:
            with path.open("a") as stream:
                stream.write(f"{attempt.engine} {attempt.stage} {attempt.seed}\n")
            return plain(self, sample, attempt, report)

        monkeypatch.setattr(engine, "search", search)
    return path


def run(
    data: Path, folder: Path, restored: Path | None = None, pieces: int | None = None, seed: int = 0
) -> bytes:
    """Search with one worker and return formulas.json; with ``pieces`` die after so many."""

    def emit(message: Any) -> None:
        kept = folder / "checkpoint" / "pieces.jsonl"
        if pieces is not None and kept.exists() and len(kept.read_bytes().splitlines()) >= pieces:
            raise Killed

    folder.mkdir()
    given = Input("data", data, "DATASET", "labelled_table", Table("y", ("a", "b")))
    context = Context(
        inputs={"data": given}, workspace=folder, restored=restored, emit=emit, seed=seed
    )
    search(SearchRequest(**BOUNDED), context)
    return (folder / "outputs" / "formulas.json").read_bytes()


@pytest.mark.slow
def test_what_was_finished_is_not_run_again_and_the_result_is_the_same(
    table: Path, begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciharness_symbolic_regression.searching import telling

    monkeypatch.setattr(telling, "TELL_SECONDS", 0.0)
    whole = run(table, tmp_path / "whole")
    undisturbed = begun.read_text().splitlines()
    begun.write_text("")
    with pytest.raises(Killed):
        run(table, tmp_path / "killed", pieces=2)
    first = begun.read_text().splitlines()
    begun.write_text("")

    resumed = run(table, tmp_path / "resumed", tmp_path / "killed" / "checkpoint")

    then = begun.read_text().splitlines()
    assert resumed == whole
    assert len(undisturbed) == len(set(undisturbed)) == 4
    assert first == undisturbed[:2]  # both were finished
    assert then == undisturbed[2:]


def test_pieces_outlive_a_second_kill(
    table: Path, begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciharness_symbolic_regression.searching import telling

    monkeypatch.setattr(telling, "TELL_SECONDS", 0.0)
    with pytest.raises(Killed):
        run(table, tmp_path / "first", pieces=2)
    with pytest.raises(Killed):  # before it has finished any piece of its own
        run(table, tmp_path / "second", tmp_path / "first" / "checkpoint", pieces=2)

    kept = (tmp_path / "second" / "checkpoint" / "pieces.jsonl").read_bytes()

    assert len(kept.splitlines()) == 2


@pytest.mark.slow
def test_pieces_of_other_rows_and_broken_lines_are_not_taken(
    table: Path, begun: Path, tmp_path: Path
) -> None:
    whole = run(table, tmp_path / "whole")
    count = len(begun.read_text().splitlines())
    kept = tmp_path / "whole" / "checkpoint" / "pieces.jsonl"
    kept.write_bytes(kept.read_bytes()[:-20])  # as a kill may leave the last line
    begun.write_text("")

    again = run(table, tmp_path / "again", kept.parent)
    once_more = len(begun.read_text().splitlines())
    begun.write_text("")
    table.write_text(table.read_text("utf-8").replace("1.", "1.0"), "utf-8")
    other = run(table, tmp_path / "other", kept.parent)

    assert again == whole
    assert once_more == 1
    assert other != whole
    assert len(begun.read_text().splitlines()) >= count - 2  # of other rows, none is known


def test_a_killed_run_resumes_to_the_same_formulas(fresh: Any, table: Path) -> None:
    made, undisturbed = fresh("killed"), fresh("undisturbed")
    for one in (made, undisturbed):
        (one.folder / "law.csv").write_bytes(table.read_bytes())
        one.contract(
            inputs=[{"name": "data", "path": "law.csv", "role": "labelled_table"}],
            capabilities=["symbolic_regression.search", "evaluation.regression"],
            steps=[
                {
                    "id": "law",
                    "use": "symbolic_regression.search",
                    "inputs": {"data": "data"},
                    "with": SMALL,
                }
            ],
            acceptance=[{"metric": "relative_rmse", "op": "<=", "value": 0.5}],
        )
    process = made.start("run", "c.yaml", "--workers", "1")
    while process.poll() is None and _kept(made.home) < 1:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    before = _kept(made.home)

    resumed = made("resume", "1", "--json", code=0).json
    whole = undisturbed("run", "c.yaml", "--json", code=0).json

    assert before >= 1
    assert _formulas(resumed) == _formulas(whole)


def _kept(home: Path) -> int:
    """Return how many pieces all checkpoints below a home hold."""
    try:
        return sum(
            len(path.read_bytes().splitlines()) for path in home.rglob("checkpoint/pieces.jsonl")
        )
    except OSError:  # a folder went away meanwhile
        return 0


def _formulas(record: Any) -> list[str]:
    found = [item["id"] for item in record["artifacts"] if item["name"] == "formulas.json"]
    assert len(found) == 1, json.dumps(record)[:2000]
    return found
