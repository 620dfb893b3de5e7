"""Survival models: what they learn, how true their chances are, what is exported."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciharness.errors import DataError
from sciharness_publisher.inference.derived import derived
from sciharness_xsuite.model.judging import reliability

Attempt = Callable[..., Any]
NAME = "train_survival_model"


def table(path: Path, rows: int, seed: int, *, blur: float = 0.0) -> Path:
    """Write start values that survive inside an ellipse, more or less sharply."""
    draw = np.random.default_rng(seed)
    x, px = draw.uniform(-0.03, 0.03, rows), draw.uniform(-0.004, 0.004, rows)
    inside = (x / 0.02) ** 2 + (px / 0.003) ** 2 + blur * draw.normal(size=rows) < 1.0
    lines = ["sample_id,x,px,survived"]
    lines += [
        f"uniform-{n},{a!r},{b!r},{'survived' if c else 'lost'}"
        for n, (a, b, c) in enumerate(zip(x.tolist(), px.tolist(), inside.tolist(), strict=True))
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def predicted(told: Any, data: Path, out: Path) -> list[dict[str, str]]:
    folder = told.artifacts["inference.py"].parent
    command = [sys.executable, "inference.py", "--model", "model.json"]
    subprocess.run([*command, "--input", data, "--output", out], cwd=folder, check=True)
    return list(csv.DictReader(out.open(encoding="utf-8")))


@pytest.mark.parametrize("family", ["kernel", "polynomial", "boosting"])
def test_each_family_predicts_by_its_exported_program(
    attempt: Attempt, tmp_path: Path, family: str
) -> None:
    data = table(tmp_path / "points.csv", 300, 1)
    fresh = table(tmp_path / "fresh.csv", 2000, 2)

    told = attempt(NAME, {"models": [family], "folds": 3}, {"data": data})

    true = [row["survived"] for row in csv.DictReader(fresh.open(encoding="utf-8"))]
    rows = predicted(told, fresh, tmp_path / "out.csv")
    right = np.mean([row["prediction"] == one for row, one in zip(rows, true, strict=True)])
    # 300 points of a plane leave a boundary layer of about 1/sqrt(300) of it in doubt.
    assert right > 0.94
    said = np.array([float(row["probability"]) for row in rows])
    assert ((said > 0.5) == (np.array([row["prediction"] for row in rows]) == "survived")).all()


def test_probabilities_are_calibrated(attempt: Attempt, tmp_path: Path) -> None:
    data = table(tmp_path / "points.csv", 1500, 1, blur=0.3)
    fresh = table(tmp_path / "fresh.csv", 4000, 2, blur=0.3)

    told = attempt(NAME, {"models": ["polynomial"], "folds": 3}, {"data": data})

    survived = np.array(
        [row["survived"] == "survived" for row in csv.DictReader(fresh.open(encoding="utf-8"))]
    )
    rows = predicted(told, fresh, tmp_path / "out.csv")
    said = np.array([float(row["probability"]) for row in rows])
    for mean, share, count in reliability(said, survived, bins=5):
        # Four standard errors of the share, and as much again of what 1,500 rows can teach.
        assert abs(mean - share) <= 8 * np.sqrt(0.25 / count)


def test_the_card_holds_the_domain_the_classes_and_validation_metrics(
    attempt: Attempt, tmp_path: Path
) -> None:
    data = table(tmp_path / "points.csv", 300, 1)

    told = attempt(NAME, {"models": ["polynomial"]}, {"data": data})

    card = json.loads(told.artifacts["model_card.json"].read_text("utf-8"))
    assert card["target"] == {"name": "survived", "unit": None, "classes": ["lost", "survived"]}
    assert [(one["name"], one["unit"]) for one in card["columns"]] == [("x", "m"), ("px", "1")]
    assert {one["source"] for one in card["metrics"]} == {"validation"}
    assert "balanced_accuracy" in {one["name"] for one in card["metrics"]}


def test_the_same_seed_gives_the_same_bytes(attempt: Attempt, tmp_path: Path) -> None:
    data = table(tmp_path / "points.csv", 200, 1)

    one, two = (
        attempt(NAME, {"models": ["kernel"], "folds": 2}, {"data": data}, workers=workers)
        for workers in (1, 2)
    )

    assert {name: path.read_bytes() for name, path in one.artifacts.items()} == {
        name: path.read_bytes() for name, path in two.artifacts.items()
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,px,survived\n" + "0.1,0.2,lost\n0.3,0.4,lost\n" * 20, "found 0 of 'survived'"),
        ("x,survived\n" + "0.1,lost\n0.2,lost\n" * 20 + "0.3,survived\n" * 3, "10 rows of each"),
        ("x,y,survived\n" + "0.1,1,lost\n0.2,1,survived\n" * 20, "same value in all rows"),
    ],
    ids=["one class", "a rare class", "a constant column"],
)
def test_rows_that_teach_nothing_are_refused(
    attempt: Attempt, tmp_path: Path, text: str, said: str
) -> None:
    data = tmp_path / "points.csv"
    data.write_text(text, "utf-8")

    with pytest.raises(DataError, match=said):
        attempt(NAME, {}, {"data": data})


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.floats(-2.0, 2.0) for _ in range(3)]),
        min_size=1,
        max_size=20,
    )
)
def test_derived_features_are_what_their_names_say(rows: list[tuple[float, ...]]) -> None:
    columns = np.array(rows).T
    features: list[Mapping[str, Any] | list[Any]] = [
        ["product", 0, 0, 2],
        ["radius", 0, 1],
        ["sine", 0, 1],
        ["cosine", 0, 1],
    ]

    product, radius, sine, cosine = derived(columns, features)  # type: ignore[arg-type]

    # A few roundings of numbers up to 8.
    np.testing.assert_allclose(product, columns[0] ** 2 * columns[2], atol=1e-14)
    np.testing.assert_allclose(radius, np.hypot(columns[0], columns[1]), atol=1e-14)
    np.testing.assert_allclose(radius * cosine, columns[0], atol=1e-14)
    np.testing.assert_allclose(radius * sine, columns[1], atol=1e-14)
