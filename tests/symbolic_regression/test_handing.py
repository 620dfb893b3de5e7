"""Rows that are read in a child: whole or not at all."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

from sciharness_symbolic_regression.samples.handing import hand_over, take_over
from sciharness_symbolic_regression.samples.rows import Visible
from sciharness_symbolic_regression.samples.sample import Sample
from sciharness_symbolic_regression.searching.apart import apart


def rows_of(count=50, **changes):
    random = np.random.default_rng(0)
    columns = {"a": random.normal(size=count), "X2": random.normal(size=count)}
    sample = Sample(columns, random.normal(size=count), np.ones(count), noise=0.25)
    return Visible(sample, {"a": "a", "X2": "speed [m/s]"}, **changes)


PLAIN = {"group": None, "weighted": False, "sigma": None}
FULL = {"group": np.arange(50) // 7, "weighted": True, "sigma": np.linspace(1, 2, 50)}


@pytest.mark.parametrize("parts", [PLAIN, FULL], ids=["plain", "with groups and errors"])
def test_rows_come_back_from_a_child_as_they_were(parts):
    rows = rows_of(**parts)

    found = apart(lambda stream: hand_over(rows, stream), take_over)

    assert (found.names, found.weighted, found.sample.noise) == (rows.names, rows.weighted, 0.25)
    assert list(found.sample.columns) == ["a", "X2"]
    for name, column in rows.sample.columns.items():
        assert np.array_equal(found.sample.columns[name], column)
    assert np.array_equal(found.sample.target, rows.sample.target)
    assert np.array_equal(found.group, rows.group)
    assert np.array_equal(found.sigma, rows.sigma)
    found.rearrange(np.arange(50)[::-1])
    assert np.array_equal(found.sample.target, rows.sample.target[::-1])


def test_what_a_child_did_not_finish_is_nothing():
    def cut_short(stream):
        written = io.BytesIO()
        hand_over(rows_of(**PLAIN), written)
        stream.write(written.getvalue()[:-8])
        stream.flush()
        os._exit(1)

    def wrong(stream):
        raise ValueError("no such table")

    assert apart(cut_short, take_over) is None
    assert apart(wrong, take_over) is None
