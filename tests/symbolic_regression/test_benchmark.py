"""The benchmark's own parts: data by seed, a judge that closeness does not fool, a table kept."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sciharness_publisher.expression import parse

FOLDER = Path(__file__).parents[1] / "benchmarks" / "symbolic"


@pytest.fixture
def parts(monkeypatch):
    """The scripts of the benchmark, imported as they import each other."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import judge
    import problems

    return judge.judge, problems


def test_every_suite_draws_the_same_finite_data_for_the_same_seed(parts):
    _, problems = parts
    counts = {name: len(problems.suite(name)) for name in problems.SYNTHETIC}

    for name in problems.SYNTHETIC:
        for problem in problems.suite(name):
            one, two = (problems.draw(problem, 0.01, 3) for _ in range(2))
            assert np.array_equal(one.noisy, two.noisy)
            assert np.isfinite(one.noisy).all()
            assert one.exact.std() > 0
            assert len(one.seen) + len(one.kept_back) == problem.rows
    assert counts["feynman"] == 120
    assert sum(len(one.noises) for one in problems.suite("development")) == 22
    assert len(problems.everyday()) == 24


def test_measured_data_have_their_accepted_laws(parts):
    judge, problems = parts

    for problem in problems.suite("measured"):
        data = problems.draw(problem, 0.0, 0)
        box = {name: (one.low, one.high) for name, one in problem.ranges.items()}
        assert len(data.noisy) == problem.rows >= 12
        assert problem.noises[0] < 1  # the law explains its data
        assert judge(problem.law, problem.law, box, problem.noises[0]).recovered


RIGHT = [
    ("a*exp(-b)", "a*exp(-b)"),
    ("2*a*b", "a*(b + b)"),
    ("a/(b + c)", "1/(b/a + c/a)"),
    ("3*a**2 + b", "b + 2.9999999*a**2 + 1e-7*c"),
    ("exp(2*log(a) + b)", "a**2*exp(b)"),
    ("a - 1/3*c", "a - 0.3333333333*c"),
]
WRONG = [
    ("a**2", "473.3727811*(1 - cos(0.065*a))"),  # close inside the box, not outside
    ("a*b", "a*b + 0.02*sin(7*c)"),
    ("exp(a)", "1 + a + a**2/2 + a**3/6 + a**4/24 + a**5/120 + a**6/720 + a**7/5040"),
    ("a + b", "a*b"),
    ("1/a", "1/(a - 3)"),
    ("sqrt(a)", "sqrt(a - 2)"),
]


@pytest.mark.parametrize(("law", "found"), RIGHT)
def test_another_way_to_write_a_law_counts(parts, law, found):
    judge, _ = parts
    box = dict.fromkeys("abc", (1.0, 4.0))

    assert judge(parse(found), parse(law), box, 0.0).recovered


@pytest.mark.parametrize(("law", "found"), WRONG)
def test_what_only_comes_close_does_not_count(parts, law, found):
    judge, _ = parts
    box = dict.fromkeys("abc", (1.0, 4.0))

    assert not judge(parse(found), parse(law), box, 0.0).recovered


def test_constants_may_miss_by_the_noise_but_not_the_form(parts):
    judge, _ = parts
    box = dict.fromkeys("ab", (1.0, 4.0))
    law = parse("2*a**2*exp(-b)")

    assert judge(parse("2.01*a**2*exp(-1.003*b)"), law, box, 0.02).recovered
    assert not judge(parse("2.01*a**2*exp(-1.003*b)"), law, box, 0.0).recovered
    assert not judge(parse("2.0*a**2/(1 + b + b**2/2 + b**3/6 + b**4/24)"), law, box, 0.1).recovered


@pytest.mark.slow
def test_the_driver_keeps_rows_and_runs_only_what_is_missing(tmp_path):
    table = tmp_path / "table.csv"

    def drive(*more):
        command = [sys.executable, str(FOLDER / "drive.py"), "nguyen", "--table", str(table)]
        options = ["--seconds", "3", "--with", '{"max_evaluations": 20000, "stability_runs": 0}']
        done = subprocess.run([*command, *options, *more], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first, second = drive("--limit", "1"), drive("--limit", "2")

    assert [line.split()[1] for line in first] == ["nguyen/nguyen_1"]
    assert [line.split()[1] for line in second] == ["nguyen/nguyen_2"]
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["problem"] for row in rows] == ["nguyen_1", "nguyen_2"]
    assert all(row["formula"] for row in rows)
