"""What a solver is asked, how often, and what becomes of it when the work is cut short."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input, Outcome
from sciharness.errors import DataError, RequestError
from sciharness_file_solver.plugin import sample
from sciharness_file_solver.requests import SampleRequest
from sciharness_file_solver.shipped.calling import Shares

RANGES = {"frequency": (0.2, 1.6), "damping": (0.4, 1.0)}
COUNTING = """\
#!/bin/sh
# Counts its calls in a file outside, answers with twice the input.
tail -n +2 "$1" | wc -l >> "COUNTS"
sleep PAUSE
echo y > "$2"
tail -n +2 "$1" | while IFS=, read -r x; do echo "scale=20; 2*$x" | bc -l >> "$2"; done
"""


class Ran:
    """A sampling: its outcome, what was charged, and the rows."""

    def __init__(self, outcome: Outcome, said: list[Any], table: Path) -> None:
        self.outcome = outcome
        charges = [one["charge"] for one in said if "charge" in one]
        self.charged = sum(one["solver_calls"] for one in charges)
        with table.open(newline="") as stream:
            self.rows = list(csv.DictReader(stream))


@pytest.fixture
def sampled(tmp_path: Path) -> Callable[..., Ran]:
    """Sample a solver through a real context and return what came of it."""

    def run(solver: Any, folder: str = "work", **given: Any) -> Ran:
        said: list[Any] = []
        about = {name: given.pop(name) for name in ("restored", "time_limit") if name in given}
        block = Input(
            "solver",
            solver.folder,
            "solver_bundle",
            "reference_solver",
            meta={"solver": solver.block},
        )
        context = Context(
            inputs={"solver": block},
            workspace=tmp_path / folder,
            workers=2,
            emit=said.append,
            **about,
        )
        outcome = sample(SampleRequest(**{"ranges": RANGES, "count": 64, **given}), context)
        return Ran(outcome, said, tmp_path / folder / "outputs" / "samples.csv")

    return run


@pytest.fixture
def counting(tmp_path: Path, make_solver: Any) -> Callable[..., Any]:
    """A maker of a slow solver that counts its cases."""

    def make(pause: float = 0) -> Any:
        folder = tmp_path / "counting"
        folder.mkdir(exist_ok=True)
        program = folder / "run.sh"
        text = COUNTING.replace("COUNTS", str(tmp_path / "counts"))
        program.write_text(text.replace("PAUSE", str(pause)))
        os.chmod(program, 0o755)
        table = {"inputs": ["x"], "outputs": ["y"]}
        return make_solver(folder, {"executable": "run.sh", "table": table})

    return make


def response(row: dict[str, str]) -> float:
    frequency, damping = float(row["frequency"]), float(row["damping"])
    return 1 / math.hypot(1 - frequency**2, 2 * damping * frequency)


def test_every_row_is_the_solvers_own_answer(sampled: Callable[..., Ran], spring: Any) -> None:
    ran = sampled(spring)

    assert len(ran.rows) == ran.charged == 64
    for row in ran.rows:
        # Both sum the same four products in an order of their own: a few units in the last place.
        assert float(row["response"]) == pytest.approx(response(row), rel=1e-14)


def test_the_design_has_an_even_an_adaptive_and_a_random_part(
    sampled: Callable[..., Ran], spring: Any
) -> None:
    ran = sampled(spring, count=200)
    stages = [row["stage"] for row in ran.rows]
    values = np.array([[float(row[name]) for name in RANGES] for row in ran.rows])

    assert {one: stages.count(one) for one in set(stages)} == {
        "design": 90,
        "calibration": 50,
        "adaptive": 60,
    }
    assert (values.min(axis=0) == [0.2, 0.4]).all()
    assert (values.max(axis=0) == [1.6, 1.0]).all()


def test_adaptive_cases_go_where_the_answers_bend(sampled: Callable[..., Ran], spring: Any) -> None:
    ran = sampled(spring, count=240, ranges={"frequency": (0.2, 3.0), "damping": (0.02, 1.0)})
    resonant = [
        abs(float(row["frequency"]) - 1) < 0.35 and float(row["damping"]) < 0.25
        for row in ran.rows
        if row["stage"] == "adaptive"
    ]

    # The corner takes up 6 % of the box.
    assert sum(resonant) / len(resonant) > 0.2


def test_one_seed_gives_one_table(sampled: Callable[..., Ran], spring: Any) -> None:
    assert sampled(spring, "first").rows == sampled(spring, "second").rows


def test_what_was_answered_before_a_kill_is_not_asked_again(
    sampled: Callable[..., Ran], spring: Any, tmp_path: Path
) -> None:
    whole = sampled(spring, "first")
    kept = tmp_path / "first" / "checkpoint" / "cases.jsonl"
    lines = kept.read_text().splitlines(keepends=True)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "cases.jsonl").write_text("".join(lines[:40]) + lines[40][:-9])

    again = sampled(spring, "second", restored=tmp_path / "kept")

    assert again.rows == whole.rows
    assert again.charged == 64 - 40


def test_a_case_that_takes_too_long_is_a_failure(
    sampled: Callable[..., Ran], counting: Callable[..., Any]
) -> None:
    with pytest.raises(DataError, match=r"cases was answered: no answer within 0\.05 s"):
        sampled(counting(pause=20), ranges={"x": (0, 1)}, count=64, case_seconds=0.05)


def test_a_time_limit_leaves_the_cases_so_far(
    sampled: Callable[..., Ran], counting: Callable[..., Any]
) -> None:
    ran = sampled(counting(pause=0.3), ranges={"x": (0, 1)}, count=5000, time_limit=1.0)

    assert 0 < len(ran.rows) < 5000
    assert "stopped before the whole design was asked" in ran.outcome.notes


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        ({"frequency": (0, 1)}, "no range for damping"),
        ({"frequency": (0, 1), "damping": (0, 1), "mass": (0, 1)}, "no input 'mass'"),
        ({"frequency": (0, 1), "damping": (1, 1)}, "from 1 to 1"),
        ({"frequency": (0, 1), "damping": (0, math.inf)}, "from 0 to inf"),
    ],
    ids=["missing", "unknown", "empty", "infinite"],
)
def test_ranges_that_do_not_fit_are_refused(
    sampled: Callable[..., Ran], spring: Any, ranges: Any, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        sampled(spring, ranges=ranges)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"executable": "bin/other"}, "there is no bin/other"),
        ({"table": None}, "solver.table is missing"),
        ({"table": {"inputs": ["frequency", "damping"], "outputs": ["x"]}}, "no column 'x'"),
        ({"command": ["{executable}"]}, "exit code 2"),
    ],
    ids=["no program", "no table", "another column", "another command"],
)
def test_a_solver_that_is_not_called_as_it_has_to_be(
    sampled: Callable[..., Ran], spring: Any, change: dict[str, Any], said: str
) -> None:
    solver = type(spring)(spring.folder, {**spring.block, **change})

    with pytest.raises(DataError, match=said):
        sampled(solver)


def test_shares_grow_from_one_case_and_shrink_towards_the_end() -> None:
    shares, sizes = Shares(100, 2), []
    while taken := shares.take():
        sizes.append(len(taken))
        shares.took(len(taken), 0.1 * len(taken))

    assert sizes[0] == 1
    assert max(sizes) <= 20  # two seconds' worth of cases of a tenth of a second
    assert sizes[-1] == 1
    assert sum(sizes) == 100


def test_a_link_in_the_folder_is_not_followed(
    sampled: Callable[..., Ran], counting: Callable[..., Any], tmp_path: Path
) -> None:
    solver = counting()
    (solver.folder / "passwd").symlink_to("/etc/passwd")

    with pytest.raises(DataError, match="link"):
        sampled(solver, ranges={"x": (0, 1)}, count=16)
    assert not (tmp_path / "counts").exists()


def test_equal_cases_are_asked_once(
    sampled: Callable[..., Ran], tmp_path: Path, spring: Any
) -> None:
    ran = sampled(spring, count=16, adaptive=0.0)
    kept = (tmp_path / "work" / "checkpoint" / "cases.jsonl").read_text().splitlines()

    assert len({json.loads(line)[0] for line in kept}) == len(kept) == ran.charged
