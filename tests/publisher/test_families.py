"""Polynomials and trees as written predictors: against sums done by hand and by other means."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.plugin import Context
from sciharness_publisher.families import PolynomialModel, Tree, TreesModel
from sciharness_publisher.inference import trees as inference
from sciharness_publisher.inference.protocol import Refused, probabilities
from sciharness_publisher.predictor import Card, Column, Interval, write_predictor

A, B = Column("a", "a", -10.0, 10.0), Column("b [m]", "b [m]", -10.0, 10.0, "m")
# One split on a at 1.5, below it one on b at -2: leaves 1, 20, 300.
SMALL = Tree((0, 1, -1, -1, -1), (1.5, -2.0), (4, 3), (1.0, 20.0, 300.0))
STUMP = Tree((-1,), (), (), (0.5,))


def card(task: str = "regression", classes: tuple[str, ...] = ()) -> Card:
    return Card("0" * 64, seed=0, task=task, classes=classes)  # type: ignore[arg-type]


def predicted(folder: Path, model: Any, card: Card, text: str) -> list[dict[str, str]]:
    """Write a predictor and run it as a child process; return its output rows."""
    write_predictor(Context(inputs={}, workspace=folder), model, card)
    outputs = folder / "outputs"
    (outputs / "in.csv").write_text(text, "utf-8")
    command = [sys.executable, "-I", "inference.py", "--model", "model.json"]
    subprocess.run(
        [*command, "--input", "in.csv", "--output", "out.csv"],
        cwd=outputs,
        check=True,
    )
    with (outputs / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_polynomial_is_the_sum_written_out(tmp_path: Path) -> None:
    model = PolynomialModel(
        "y",
        (A, B),
        shift=(1.0, 0.0),
        scale=(2.0, 4.0),
        terms=((0,), (1,), (0, 1), (0, 0), (0, 0, 1)),
        intercepts=(10.0,),
        coefficients=((1.0, 2.0, 3.0, 4.0, 5.0),),
        interval=Interval(0.9, 0.25),
    )

    (row,) = predicted(tmp_path, model, card(), "a,b [m]\n5,6\n")

    # a' = (5 - 1) / 2 = 2 and b' = 6 / 4 = 1.5: 10 + 2 + 3 + 9 + 16 + 30
    assert row == {
        "sample_id": "0", "prediction": "70.0", "lower": "69.75", "upper": "70.25",
        "in_domain": "1",
    }  # fmt: skip


def test_trees_add_up_and_a_threshold_itself_goes_left(tmp_path: Path) -> None:
    model = TreesModel("y", (A, B), (SMALL, STUMP), start=(1000.0,))
    below = repr(float(np.nextafter(-2.0, -9)))

    rows = predicted(
        tmp_path, model, card(), f"a,b [m]\n1.5,-2\n1.5,{below}\n1.5,-1.9\n1.6,0\n99,0\n"
    )

    found = [(row["prediction"], row["in_domain"]) for row in rows]
    assert found == [
        ("1001.5", "1"), ("1001.5", "1"), ("1020.5", "1"), ("1300.5", "1"), ("1300.5", "0"),
    ]  # fmt: skip


def test_single_precision_compares_scaled_columns_as_float32(tmp_path: Path) -> None:
    # 16777217 has no float32: as it stands it would be rounded onto the threshold.
    tree = Tree((0, -1, -1), (16777216.0,), (2,), (1.0, 2.0))
    plain = TreesModel("y", (A,), (tree,), start=(0.0,), single_precision=True)
    at_zero = Tree((0, -1, -1), (0.5,), (2,), (1.0, 2.0))
    shifted = TreesModel(
        "y", (A,), (at_zero,), start=(0.0,), single_precision=True, shift=(16777216.0,),
        scale=(1.0,),
    )  # fmt: skip

    (rounded,) = predicted(tmp_path / "plain", plain, card(), "a\n16777217\n")
    (kept,) = predicted(tmp_path / "shifted", shifted, card(), "a\n16777217\n")

    assert (rounded["prediction"], kept["prediction"]) == ("1.0", "2.0")


def test_two_classes_give_the_probability_of_the_second(tmp_path: Path) -> None:
    model = TreesModel("kind", (A,), (STUMP,), start=(0.0,), link="sigmoid")
    two = card("classification", ("no", 'yes, "sure"'))

    (row,) = predicted(tmp_path, model, two, "a\n0\n")

    assert row["prediction"] == 'yes, "sure"'
    assert float(row["probability"]) == pytest.approx(1 / (1 + np.exp(-0.5)), rel=1e-15)
    assert "lower" not in row
    guide = (tmp_path / "outputs" / "usage_guide.md").read_text("utf-8")
    assert 'how probable `yes, "sure"` is' in guide


def test_more_classes_give_the_probability_of_the_predicted_one(tmp_path: Path) -> None:
    model = PolynomialModel(
        "kind",
        (A,),
        shift=(0.0,),
        scale=(1.0,),
        terms=((0,),),
        intercepts=(0.0, 1.0, 0.0),
        coefficients=((0.0,), (1.0,), (-1.0,)),
        link="softmax",
    )

    rows = predicted(tmp_path, model, card("classification", ("a", "b", "c")), "a\n2\n-1000\n")

    # scores 0, 3, -2; then 0, -999, 1000, whose exponentials alone would overflow
    expected = np.exp(3) / (1 + np.exp(3) + np.exp(-2))
    assert [row["prediction"] for row in rows] == ["b", "c"]
    assert float(rows[0]["probability"]) == pytest.approx(expected, rel=1e-14)
    assert rows[1]["probability"] == "1.0"


def test_an_unknown_link_or_kind_is_refused() -> None:
    with pytest.raises(Refused, match="link 'cosine'"):
        probabilities("cosine", np.zeros((1, 1)))
    with pytest.raises(Refused, match="kind 'pickle'"):
        inference.build({"kind": "pickle"})


def test_the_model_file_has_a_line_per_tree_and_no_more(tmp_path: Path) -> None:
    model = TreesModel("y", (A, B), (SMALL, STUMP), start=(0.0,))
    write_predictor(Context(inputs={}, workspace=tmp_path), model, card())

    text = (tmp_path / "outputs" / "model.json").read_text("utf-8")

    assert json.loads(text)["trees"][0]["value"] == [1.0, 20.0, 300.0]
    assert len([line for line in text.splitlines() if '"threshold"' in line]) == 2


@st.composite
def random_trees(draw: st.DrawFn) -> Tree:
    """A tree of at most 63 leaves on three columns, thresholds on a coarse grid so they tie."""
    leaves = draw(st.integers(1, 63))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    feature: list[int] = []
    threshold: list[float] = []
    right: dict[int, int] = {}
    value: list[float] = []

    def grow(count: int) -> None:
        node = len(feature)
        if count == 1:
            feature.append(-1)
            value.append(float(random.integers(-1000, 1000)) / 8)
            return
        feature.append(int(random.integers(3)))
        threshold.append(float(random.integers(-4, 5)) / 2)
        share = int(random.integers(1, count))
        grow(share)
        right[node] = len(feature)
        grow(count - share)

    grow(leaves)
    inner = tuple(right[node] for node in sorted(right))
    return Tree(tuple(feature), tuple(threshold), inner, tuple(value))


def by_hand(tree: Tree, row: np.ndarray) -> float:
    """Walk down one tree for one row."""
    inner = [node for node, column in enumerate(tree.feature) if column >= 0]
    leaves = [node for node, column in enumerate(tree.feature) if column < 0]
    node = 0
    while tree.feature[node] >= 0:
        place = inner.index(node)
        goes_left = row[tree.feature[node]] <= tree.threshold[place]
        node = node + 1 if goes_left else tree.right[place]
    return tree.value[leaves.index(node)]


@given(st.lists(random_trees(), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_masks_and_walks_end_in_the_leaf_that_a_hand_finds(trees: list[Tree], seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-5, 6, (40, 3)) / 2.0
    known = [inference.Tree(tree.document(), np.float64) for tree in trees]
    # Eighths of integers: their sums are exact in any order.
    expected = [sum(by_hand(tree, row) for tree in trees) for row in rows]

    masked, walked = np.zeros((1, 40)), np.zeros((1, 40))
    inference.mask_score(known, 3)(rows.T.copy(), masked)
    inference.walk_score(known)(rows.T.copy(), walked)

    assert masked[0].tolist() == expected
    assert walked[0].tolist() == expected
