"""Tables of samples and of solvers: what is written is read again, nonsense is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_file_solver.sampling.table import Samples, read_samples, write_samples
from sciharness_file_solver.shipped.adapter import read_cases
from sciharness_file_solver.shipped.calling import SolverFailed, read_rows, write_rows

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
REASONS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\n\0"))
PLACE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@PLACE
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, REASONS), min_size=1, max_size=20))
def test_samples_are_read_as_they_were_written(
    tmp_path: Path, cases: list[tuple[float, float, float, str]]
) -> None:
    asked = np.array([[a, b] for a, b, _, _ in cases])
    answered = np.array([[math.nan if why else y] for _, _, y, why in cases])
    reasons = [why for _, _, _, why in cases]
    written = Samples(("a", "b"), ("y",), asked, answered, ["design"] * len(cases), reasons)

    write_samples(tmp_path / "s.csv", written)
    read = read_samples(tmp_path / "s.csv", ("a", "b"), ("y",))

    np.testing.assert_array_equal(read.asked, written.asked)
    np.testing.assert_array_equal(read.answered, written.answered)
    assert (read.stages, read.failures) == (written.stages, written.failures)


@PLACE
@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_a_failure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "out.csv").write_bytes(content)

    try:
        answers = read_rows(tmp_path / "out.csv", ["y"], 2)
    except SolverFailed:
        return

    assert len(answers) == 2
    assert all(isinstance(one, str) or math.isfinite(one[0]) for one in answers)


@PLACE
@given(st.binary(max_size=200))
def test_any_bytes_are_samples_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.csv").write_bytes(content)

    with pytest.raises(DataError):
        read_samples(tmp_path / "s.csv", ("a",), ("y",))


@PLACE
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_cases_reach_the_solver_with_all_their_digits(
    tmp_path: Path, rows: list[tuple[float, float]]
) -> None:
    write_rows(tmp_path / "in.csv", ["a", "b"], rows)

    names, cases = read_cases(tmp_path / "in.csv", ["b", "a"])

    assert names == [str(row) for row in range(len(rows))]
    assert [(a, b) for b, a in cases] == rows


@PLACE
@given(st.binary(max_size=200))
def test_any_bytes_are_cases_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.csv").write_bytes(content)

    try:
        names, cases = read_cases(tmp_path / "in.csv", ["a"])
    except SolverFailed:
        return

    assert len(names) == len(cases)
