"""Random grids: every cell is one row, with the values that numpy would repeat along it."""

from __future__ import annotations

import csv
import json
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.contract.records import ContractInput, Holdout
from sciharness.tables import prepare_labelled
from sciharness.tables.split import share_of

AXES = "abcd"


@st.composite
def grids(draw: Any) -> tuple[dict[str, int], list[str], dict[str, list[str]], float]:
    """Axis lengths, axes of the target, axes of each feature, and the share of final rows."""
    along = draw(st.lists(st.sampled_from(AXES), min_size=1, max_size=3, unique=True))
    lengths = {name: draw(st.integers(3, 5)) for name in along}
    # At least five final rows, of one axis or several.
    lengths[along[0]] = draw(st.integers(10, 14)) * (3 if len(along) == 1 else 1)
    features = draw(st.lists(st.lists(st.sampled_from(along), unique=True), min_size=1, max_size=4))
    named = {f"x{place}": axes for place, axes in enumerate(features)}
    return lengths, along, named, draw(st.sampled_from([0.2, 0.25, 0.4]))


def rows_of(path: Path | None) -> list[dict[str, float]]:
    if path is None:
        return []
    with path.open(newline="") as stream:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(stream)]


@settings(max_examples=40, deadline=None)
@given(grid=grids(), seed=st.integers(0, 2**32 - 1))
def test_cells_and_rows_are_the_same(grid: Any, seed: int) -> None:
    lengths, along, features, share = grid
    random = np.random.default_rng(seed)
    shape = [lengths[name] for name in along]
    arrays = {
        name: random.normal(size=[lengths[a] for a in axes]) for name, axes in features.items()
    }
    arrays["y"] = random.normal(size=shape)
    # A second axis of its own keeps the directory from being a plain table.
    arrays["other"] = np.zeros((lengths[along[0]], 2))
    axes = {**features, "y": along, "other": [along[0], "e"]}

    with tempfile.TemporaryDirectory() as scratch:
        source, out = Path(scratch, "grid"), Path(scratch, "out")
        save(source, arrays, axes, {**lengths, "e": 2})
        out.mkdir()
        spec = ContractInput("data", "grid", "labelled_table", target="y", features=(*features,))
        made = prepare_labelled(source, spec, Holdout(fraction=share), out)
        visible, inputs, labels = map(rows_of, (made.train, made.final_inputs, made.labels))

    expected = [
        {
            **{
                name: float(arrays[name][tuple(cell[along.index(a)] for a in axes[name])])
                for name in features
            },
            "y": float(arrays["y"][cell]),
        }
        for cell in product(*map(range, shape))
    ]
    final = max(share_of(share, shape[0]), 1) * (len(expected) // shape[0])
    assert visible == expected[:-final]
    assert [{**x, **y} for x, y in zip(inputs, labels, strict=True)] == [
        {**row, "sample_id": float(place)} for place, row in enumerate(expected[-final:])
    ]


def save(path: Path, arrays: Any, axes: Any, lengths: dict[str, int]) -> None:
    path.mkdir()
    for name, array in arrays.items():
        np.save(path / f"{name}.npy", array)
    used = {name for along in axes.values() for name in along}
    manifest = {
        "variables": {
            name: {"file": f"{name}.npy", "description": "", "axes": [*along]}
            for name, along in axes.items()
        },
        "axes": {
            name: {"size": length, "description": ""}
            for name, length in lengths.items()
            if name in used
        },
    }
    (path / "manifest.json").write_text(json.dumps(manifest))
