"""Large tables are read in a child of its own; their rows come over whole or not at all."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_symbolic_regression import operation
from sciharness_symbolic_regression.samples.handing import hand_over, take_over
from sciharness_symbolic_regression.samples.rows import Visible
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.searching.apart import apart


def rows_of(count, group, sigma):
    random = np.random.default_rng(count)
    columns = {"a": random.normal(size=count), "X2": random.normal(size=count)}
    sample = Sample(columns, random.normal(size=count), np.ones(count), 0.25)
    return Visible(
        sample,
        {"a": "a", "X2": "v [m/s]"},
        np.arange(count) % 3 if group else None,
        True,
        np.ones(count) if sigma else None,
    )


def written(rows):
    stream = io.BytesIO()
    hand_over(rows, stream)
    return stream.getvalue()


@given(count=st.integers(1, 60), group=st.booleans(), sigma=st.booleans())
@settings(deadline=None)
def test_rows_come_over_as_they_were(count, group, sigma):
    rows = rows_of(count, group, sigma)

    found = take_over(io.BytesIO(written(rows)))

    assert found.names == rows.names and found.weighted and found.sample.noise == 0.25
    assert list(found.sample.columns) == ["a", "X2"]
    for name, column in rows.sample.columns.items():
        assert found.sample.columns[name].tobytes() == column.tobytes()
    assert found.sample.target.tobytes() == rows.sample.target.tobytes()
    assert (found.group is None) is (not group) and (found.sigma is None) is (not sigma)
    if group:
        assert found.group.tolist() == rows.group.tolist()


@given(data=st.data(), group=st.booleans())
@settings(deadline=None)
def test_rows_that_are_cut_off_are_none(data, group):
    whole = written(rows_of(20, group, sigma=True))
    end = data.draw(st.integers(0, len(whole) - 1))

    with pytest.raises(EOFError):
        take_over(io.BytesIO(whole[:end]))


def test_a_child_that_ends_early_gives_nothing():
    def half(stream):
        stream.write(written(rows_of(500, group=False, sigma=False))[:900])
        stream.flush()
        os._exit(3)

    def failing(stream):
        raise ValueError("the child says this to nobody")

    assert apart(half, take_over) is None
    assert apart(failing, take_over) is None


def test_a_table_read_in_a_child_gives_the_same_bytes(run_search, monkeypatch):
    a, b = np.random.default_rng(1).uniform(1, 5, (2, 80))
    columns = {"a": a, "b [m]": b, "y": 3 * a * b**2}
    here = run_search(columns, name="here")
    monkeypatch.setattr(operation, "LARGE_FILE", 0)

    assert run_search(columns, name="apart").files == here.files


def test_a_large_table_that_cannot_be_searched_is_refused_as_a_small_one(run_search, monkeypatch):
    monkeypatch.setattr(operation, "LARGE_FILE", 0)

    with pytest.raises(DataError, match="expected a target that varies"):
        run_search({"a": np.arange(40.0), "y": np.ones(40)})
