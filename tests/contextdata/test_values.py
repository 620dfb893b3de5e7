"""Axis values: a plain dtype where every value survives it, else the JSON scalars themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciharness.contextdata import inspect_context_data, load_context_data
from sciharness.contextdata._values import axis_values

PLAIN = {
    "text": (["a", "bc"], "<U2"),
    "empty text": ([""], "<U1"),
    "bool": ([True, False], "bool"),
    "integer": ([1, -(2**63), 2**63 - 1], "int64"),
    "float": ([0.5, 1e300], "float64"),
    "integer and float": ([1, 0.5, 2**53], "float64"),
}
KEPT = {
    "text and integer": [1, "a"],
    "bool and integer": [True, 2],
    "null": [None, None],
    "null and float": [None, 0.5],
    "past 64 bits": [1, 2**64],
    "past int64": [1, 2**63],
    "not a float": [2**53 + 1, 0.5],
    "past every float": [10**400, 0.5],
    "text that ends in NUL": ["a\0", "b"],
    "one long text among many": ["a" * 1_000_000, *["b"] * 1000],
}


@pytest.mark.parametrize(("values", "dtype"), PLAIN.values(), ids=list(PLAIN))
def test_values_of_one_kind_get_its_dtype(
    directory: Callable[..., Path], values: list[Any], dtype: str
) -> None:
    path = directory({"v": np.zeros(len(values))}, {"v": ["t"]}, {"t": {"values": values}})

    report = inspect_context_data(path)

    assert (report["errors"], report["warnings"]) == ([], [])
    assert report["axes"]["t"]["dtype"] == dtype
    labels = load_context_data(path)["data"]["t"]
    assert labels.dtype == np.dtype(dtype)
    assert labels.tolist() == values


@pytest.mark.parametrize("values", KEPT.values(), ids=list(KEPT))
def test_values_that_a_dtype_would_change_are_kept_with_a_warning(
    directory: Callable[..., Path], values: list[Any]
) -> None:
    path = directory({"v": np.zeros(len(values))}, {"v": ["t"]}, {"t": {"values": values}})

    report = inspect_context_data(path)

    (warning,) = report["warnings"]
    assert report["valid"]
    assert warning.startswith("axes.t.values")
    labels = load_context_data(path)["data"]["t"]
    assert labels.dtype == object
    assert labels.tolist() == values
    assert list(map(type, labels)) == list(map(type, values))


SCALARS = st.one_of(
    st.text(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(st.one_of(SCALARS, st.none()), min_size=1))
def test_no_value_is_ever_changed(values: list[Any]) -> None:
    labels = axis_values(values)

    assert labels.shape == (len(values),)
    assert labels.tolist() == values
    kinds = set(map(type, values))
    assert len(kinds) == 1 or kinds == {int, float} or labels.dtype == object
