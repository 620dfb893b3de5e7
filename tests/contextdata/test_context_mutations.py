"""Good directories changed at random: a report and a refusal agree, and nothing else is raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contextdata import ContextManifestError, inspect_context_data, load_context_data

FILES = ("manifest.json", "theta.npy", "A.npy", "g.npy", "time.npy")
Edit = tuple[str, str, int, bytes]

EDITS: st.SearchStrategy[Edit] = st.tuples(
    st.sampled_from(FILES),
    st.sampled_from(["replace", "insert", "cut"]),
    st.integers(0, 400),
    st.binary(min_size=1, max_size=4),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 9),
        st.floats(),
        st.sampled_from(["", "A", "w", "theta", "node", "time", "edge", "time.npy", "relation"]),
        st.text(st.characters(categories=["L", "P", "C"]), max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def agree(path: Path) -> dict[str, Any]:
    """Check and load; both say the same."""
    report: dict[str, Any] = inspect_context_data(path)
    json.dumps(report, allow_nan=False).encode()
    "".join(report["errors"] + report["warnings"]).encode()
    if report["errors"]:
        with pytest.raises(ContextManifestError) as caught:
            load_context_data(path)
        assert [str(problem) for problem in caught.value.problems] == report["errors"]
        return report
    loaded = load_context_data(path)
    assert report["valid"]
    for name, facts in report["variables"].items():
        assert list(loaded["data"][name].shape) == facts["shape"]
    for name, facts in report["axes"].items():
        assert len(loaded["data"][name]) == facts["size"]
        assert loaded["data"][name].dtype == np.dtype(facts["dtype"])
    return report


@settings(max_examples=100, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=3))
def test_bytes_changed_at_random(new_network: Callable[[], Any], edits: list[Edit]) -> None:
    path = new_network().write()
    for file, way, place, raw in edits:
        old = (path / file).read_bytes()
        place %= len(old) + 1
        behind = {"replace": place + len(raw), "insert": place, "cut": len(old)}[way]
        (path / file).write_bytes(old[:place] + raw + old[behind:])

    agree(path)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_values_changed_at_random(new_network: Callable[[], Any], data: st.DataObject) -> None:
    network = new_network()
    for _ in range(data.draw(st.integers(1, 3))):
        at, key = network.manifest, data.draw(st.sampled_from(sorted(network.manifest)))
        while isinstance(at[key], dict) and at[key] and data.draw(st.booleans()):
            at = at[key]
            key = data.draw(st.sampled_from(sorted(at)))
        match data.draw(st.sampled_from(["value", "key", "remove"])):
            case "value":
                at[key] = data.draw(VALUES)
            case "key":
                at[data.draw(st.text(max_size=4))] = at.pop(key)
            case _:
                del at[key]
        if not network.manifest:
            break

    agree(network.write())


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["theta", "A", "w", "mass", "g", "time"]),
    st.sampled_from(["f8", ">f4", "i4", "u1", "?", "U3", "S2", "O", "c8", "M8[s]"]),
    st.lists(st.integers(0, 6), max_size=3),
)
def test_arrays_changed_at_random(
    new_network: Callable[[], Any], name: str, dtype: str, shape: list[int]
) -> None:
    network = new_network()
    network.arrays[name] = np.zeros(shape, dtype)

    agree(network.write())
