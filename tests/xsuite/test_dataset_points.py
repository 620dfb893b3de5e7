"""Survival data sets: labels, sampling, roles, refusals, and what is kept over a kill."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import Context, Input
from sciharness.contextdata import load_context_data
from sciharness.errors import DataError, RequestError
from sciharness_xsuite.plugin import harness_capabilities

Attempt = Callable[..., Any]
NAME = "generate_stability_dataset"
WALL = {"__class__": "LimitEllipse", "a": 0.03, "b": 0.03}
PLANE: Mapping[str, Any] = {
    "num_turns": 16,
    "num_particles": 400,
    "domain": {"x": [-0.04, 0.04], "y": [-0.04, 0.04]},
}


@pytest.fixture
def circle(linear: Callable[..., Any], write: Callable[..., Path]) -> Path:
    """A ring in which exactly the start values within 30 mm survive."""
    return write(linear(start=WALL), "circle.json")


def rows_of(told: Any, name: str = "dataset.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(told.artifacts[name].open(encoding="utf-8")))


def radius(row: Mapping[str, str]) -> float:
    return math.hypot(float(row["x"]), float(row["y"]))


def test_labels_are_what_the_closed_form_says(attempt: Attempt, circle: Path) -> None:
    rows = rows_of(attempt(NAME, PLANE, {"lattice": circle}))

    # The wall stands at the start: turn 0 decides, later turns turn inside the circle.
    wrong = [row for row in rows if (radius(row) < 0.03) != (row["survived"] == "survived")]
    assert list(rows[0]) == ["sample_id", "x", "y", "survived"]
    assert len(rows) == 400
    assert wrong == []


def test_an_adaptive_set_crowds_at_the_boundary_and_reaches_the_corners(
    attempt: Attempt, circle: Path
) -> None:
    told = attempt(NAME, PLANE, {"lattice": circle})

    rows = rows_of(told)
    near = [abs(radius(row) - 0.03) for row in rows if row["sample_id"].startswith("near-")]
    even = [abs(radius(row) - 0.03) for row in rows if row["sample_id"].startswith("uniform-")]
    x = [float(row["x"]) for row in rows]
    assert len(near) == 400 - 2 - len(even) > 200
    assert np.median(near) < 0.3 * np.median(even)
    assert (min(x), max(x)) == (-0.04, 0.04)
    # The share in the domain is told from the even particles: a circle in a square.
    expected = math.pi * 0.03**2 / 0.08**2
    error = math.sqrt(expected * (1 - expected) / len(even))
    assert told.metrics["survivor_share_in_domain"] == pytest.approx(expected, abs=4 * error)


def test_a_set_is_the_same_for_one_seed_and_any_number_of_processes(
    attempt: Attempt, circle: Path
) -> None:
    one, two, other = (
        attempt(NAME, PLANE, {"lattice": circle}, seed=seed, workers=workers)
        for seed, workers in ((5, 1), (5, 2), (6, 1))
    )

    digests = [
        {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in told.artifacts.items()
        }
        for told in (one, two, other)
    ]
    assert digests[0].keys() >= {"dataset.csv", "context.data.tar", "survival_map.png"}
    assert digests[0] == digests[1]
    assert digests[0]["dataset.csv"] != digests[2]["dataset.csv"]


def test_the_context_data_directory_is_sound_and_tells_the_criterion(
    attempt: Attempt, circle: Path, tmp_path: Path
) -> None:
    told = attempt(NAME, PLANE, {"lattice": circle})

    with tarfile.open(told.artifacts["context.data.tar"]) as archive:
        archive.extractall(tmp_path / "data", filter="data")
    data = load_context_data(tmp_path / "data")
    facts = rows_of(told, "particles.csv")
    assert data["data"]["x"].tolist() == [float(row["x"]) for row in facts]
    assert data["data"]["survived"].tolist() == [row["survived"] for row in facts]
    assert "finite coordinates after 16 turns" in data["descriptions"]["survived"]
    lost = [row for row in facts if row["survived"] == "lost"]
    assert {row["lost_at_element"] for row in lost} == {"start"}
    assert {row["reason"] for row in facts if row["survived"] == "survived"} == {"-"}


def test_given_start_values_come_first_and_set_the_domain(
    attempt: Attempt, circle: Path, write: Callable[..., Path]
) -> None:
    given = "x [m],y,delta\n" + "".join(f"{0.001 * n!r},{0.0005 * n!r},0.0001\n" for n in range(60))
    starts = write(given, "starts.csv")

    told = attempt(
        NAME, {"num_turns": 8, "num_particles": 200}, {"lattice": circle, "particles": starts}
    )

    rows = rows_of(told)
    assert [float(row["x"]) for row in rows[:60]] == [0.001 * n for n in range(60)]
    assert {row["sample_id"].split("-")[0] for row in rows[:60]} == {"given"}
    assert max(float(row["x"]) for row in rows) < 0.0591
    assert "delta" not in rows[0]  # it does not vary


def test_evaluation_data_are_even_and_tell_nothing_beside_the_table(
    attempt: Attempt, circle: Path, tmp_path: Path
) -> None:
    request = {**PLANE, "dataset_role": "evaluation", "num_particles": 2000}

    told = attempt(NAME, request, {"lattice": circle, "predictor": tmp_path})

    ids = {row["sample_id"].split("-")[0] for row in rows_of(told)}
    assert ids == {"uniform"}
    assert set(told.artifacts) == {"dataset.csv"}


@pytest.mark.parametrize(
    ("changes", "frozen", "said"),
    [
        ({}, False, "frozen first"),
        ({"sampling": "adaptive"}, True, "uniform over the domain"),
        ({"num_particles": 1999}, True, "at least 2,000"),
    ],
    ids=["without a predictor", "adaptive", "too few"],
)
def test_evaluation_data_that_could_flatter_are_refused(
    attempt: Attempt,
    circle: Path,
    tmp_path: Path,
    changes: dict[str, Any],
    frozen: bool,
    said: str,
) -> None:
    request = {**PLANE, "dataset_role": "evaluation", "num_particles": 2000, **changes}
    files = {"lattice": circle, **({"predictor": tmp_path} if frozen else {})}

    with pytest.raises(RequestError, match=said):
        attempt(NAME, request, files)


@pytest.mark.parametrize(
    ("reach", "said"), [(0.01, "all 400 particles survived"), (0.9, "were lost")]
)
def test_data_of_one_fate_are_refused(
    attempt: Attempt, circle: Path, reach: float, said: str
) -> None:
    domain = {"x": [0.05 if reach > 0.1 else 0.0, reach]}

    with pytest.raises(DataError, match=said):
        attempt(NAME, {**PLANE, "domain": domain}, {"lattice": circle})


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        ({"domain": {}}, "domain"),
        ({"domain": {"x": [0.02, 0.01]}}, "domain.x"),
        ({"domain": {"x": [0.0, math.inf]}}, "domain.x"),
        ({"domain": {"x": [0.0, 0.1]}, "fixed": {"x": 0.0}}, "fixed.x"),
    ],
    ids=["empty", "falling", "not finite", "twice"],
)
def test_a_domain_that_is_none_is_refused(
    attempt: Attempt, circle: Path, request_: dict[str, Any], where: str
) -> None:
    with pytest.raises(RequestError) as refused:
        attempt(NAME, request_, {"lattice": circle})

    assert where in str(refused.value)


def test_start_values_that_are_no_numbers_are_refused_by_row(
    attempt: Attempt, circle: Path, write: Callable[..., Path]
) -> None:
    starts = write("x,y\n0.001,0.0\n,0.002\n", "starts.csv")

    with pytest.raises(DataError, match="row 2, x"):
        attempt(NAME, PLANE, {"lattice": circle, "particles": starts})


def test_a_set_goes_on_from_its_checkpoint_bit_for_bit(
    attempt: Attempt, circle: Path, tmp_path: Path
) -> None:
    whole = attempt(NAME, PLANE, {"lattice": circle}, seed=9)
    kept_folder = tmp_path / "first" / "checkpoint"
    operation = next(one for one in harness_capabilities() if one.operation == NAME)
    request = operation.request(**{**PLANE, "num_particles": 400})
    inputs = {"lattice": Input("lattice", circle, "OTHER")}
    first = Context(
        inputs=inputs,
        workspace=tmp_path / "first",
        seed=9,
        is_cancelled=lambda: len(list(kept_folder.glob("*.npz"))) >= 4,
    )
    (tmp_path / "first").mkdir()
    operation.run(request, first)
    kept = sorted(path.name for path in first.checkpoint().iterdir())

    again = Context(
        inputs=inputs, workspace=tmp_path / "again", seed=9, restored=first.checkpoint()
    )
    (tmp_path / "again").mkdir()
    operation.run(request, again)

    assert 0 < len(kept) < 10
    finished = (tmp_path / "again" / "outputs" / "dataset.csv").read_bytes()
    assert finished == whole.artifacts["dataset.csv"].read_bytes()


def test_the_report_part_names_its_pictures(attempt: Attempt, circle: Path) -> None:
    told = attempt(NAME, PLANE, {"lattice": circle})

    part = json.loads(told.artifacts["report_part.json"].read_text("utf-8"))
    assert part["schema"] == "report-part-v1"
    assert {one["name"] for one in part["figures"]} == {"survival_map.png", "loss_turns.png"}
    assert all(told.artifacts[one["name"]].stat().st_size > 5_000 for one in part["figures"])
