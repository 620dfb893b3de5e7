"""The benchmark against the solver: what it catches, and what it never claims."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciharness import Context, Input, Outcome
from sciharness.errors import DataError
from sciharness_file_solver.plugin import benchmark, sample, train
from sciharness_file_solver.requests import BenchmarkRequest, SampleRequest, TrainRequest

RANGES = {"frequency": (0.2, 1.6), "damping": (0.4, 1.0)}
REQUEST = BenchmarkRequest(queries=200, compared=200, outside=4)


def given(solver: Any) -> Input:
    meta = {"solver": solver.block}
    return Input("solver", solver.folder, "solver_bundle", "reference_solver", meta=meta)


@pytest.fixture(scope="module")
def samples(spring: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 cases of the spring."""
    place = tmp_path_factory.mktemp("samples")
    context = Context(inputs={"solver": given(spring)}, workspace=place, workers=2)
    sample(SampleRequest(ranges=RANGES, count=240), context)
    return place / "outputs" / "samples.csv"


@pytest.fixture(scope="module")
def trained(
    spring: Any, samples: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """A maker of hybrids of the spring: folders with model, inference, card and solver."""

    def make(**request: Any) -> Path:
        place = tmp_path_factory.mktemp("hybrid")
        data = Input("data", samples, "DATASET")
        context = Context(inputs={"solver": given(spring), "data": data}, workspace=place)
        train(TrainRequest(**{"families": ("polynomial",), **request}), context)
        return place / "outputs"

    return make


@pytest.fixture(scope="module")
def hybrid(trained: Callable[..., Path]) -> Path:
    """A hybrid that may answer nearly everywhere."""
    return trained()


@pytest.fixture
def measured(spring: Any, tmp_path: Path) -> Callable[..., tuple[Outcome, Any]]:
    """Measure a hybrid; return the outcome and benchmark.json."""

    def run(folder: Path, solver: Any = spring, seed: int = 0) -> tuple[Outcome, Any]:
        inputs = {"solver": given(solver), "predictor": Input("predictor", folder, "predictor")}
        context = Context(inputs=inputs, workspace=tmp_path / "bench", workers=2, seed=seed)
        outcome = benchmark(REQUEST, context)
        return outcome, json.loads((tmp_path / "bench/outputs/benchmark.json").read_text())

    return run


def altered(folder: Path, place: Path, change: Callable[[Any], None]) -> Path:
    """Return a copy of a hybrid with another model.json."""
    place.mkdir()
    for path in folder.iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    model = json.loads((place / "model.json").read_text())
    change(model)
    (place / "model.json").write_text(json.dumps(model))
    return place


def failed_claims(document: Any) -> list[str]:
    return [one["claim"] for one in document["checks"] if not one["passed"]]


def test_a_sound_hybrid_is_verified(hybrid: Path, measured: Any) -> None:
    outcome, document = measured(hybrid)

    assert failed_claims(document) == []
    assert outcome.metrics["routing_policy_verified"] == 1.0
    assert outcome.metrics["answered_share"] > 0.5
    assert outcome.metrics["relative_rmse"] < 0.05
    assert document["outside"] == {**document["outside"], "rows": 4, "to_solver": 4}
    assert "never trusted" in document["statement"]


def test_bounds_that_are_too_small_are_found_out(
    hybrid: Path, measured: Any, tmp_path: Path
) -> None:
    def shrink(model: Any) -> None:
        policy = model["policy"]
        policy["bound"] = [None if one is None else one / 100 for one in policy["bound"]]

    outcome, document = measured(altered(hybrid, tmp_path / "other", shrink))

    assert failed_claims(document) == ["answers lie within their bounds"]
    assert outcome.metrics["routing_policy_verified"] == 0.0


def test_answers_outside_the_domain_are_found_out(
    hybrid: Path, measured: Any, tmp_path: Path
) -> None:
    place = altered(hybrid, tmp_path / "other", lambda model: None)
    source = (place / "inference.py").read_text()
    careless = "answered = (inside | True) & (bounds"
    (place / "inference.py").write_text(source.replace("answered = inside & (bounds", careless))
    assert careless in (place / "inference.py").read_text()

    outcome, document = measured(place)

    assert "rows outside the domain go to the solver" in failed_claims(document)
    assert outcome.metrics["routing_policy_verified"] == 0.0


@pytest.mark.slow
def test_fall_backs_of_another_making_are_found_out(
    trained: Callable[..., Path], measured: Any, tmp_path: Path
) -> None:
    place = altered(trained(tolerance=1e-9), tmp_path / "other", lambda model: None)
    source = (place / "inference.py").read_text()
    (place / "inference.py").write_text(
        source.replace("values[asked] = self._solved", "values[asked] = 1.01 * self._solved")
    )

    outcome, document = measured(place)

    assert "fall-backs are the solver's own answers" in failed_claims(document)
    assert outcome.metrics["routing_policy_verified"] == 0.0


@pytest.mark.slow
def test_a_tolerance_that_no_region_meets_leaves_all_to_the_solver(
    trained: Callable[..., Path], measured: Any
) -> None:
    outcome, document = measured(trained(tolerance=1e-9))

    assert outcome.metrics["answered_share"] == 0.0
    assert outcome.metrics["relative_rmse"] == pytest.approx(0.0, abs=1e-15)
    assert outcome.metrics["routing_policy_verified"] == 1.0
    assert document["timing"]["fall_backs"] == 200


def test_another_solver_is_no_reference(
    hybrid: Path, measured: Any, spring: Any, tmp_path: Path
) -> None:
    other = tmp_path / "solver" / "bin"
    other.mkdir(parents=True)
    (other / "solve").write_bytes((spring.folder / "bin" / "solve").read_bytes() + b"\n")

    with pytest.raises(DataError, match="digest differs"):
        measured(hybrid, type(spring)(other.parent, spring.block))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"miss_rate": 0.001}, "needs 999"),
        ({"families": ()}, "too few"),
    ],
    ids=["too few calibration cases", "no family"],
)
def test_a_training_that_could_promise_nothing_is_refused(
    trained: Callable[..., Path], request_: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        trained(**request_)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["polynomial", "gaussian_process", "trees"])
def test_every_family_predicts_as_its_own_library_does(
    trained: Callable[..., Path], measured: Any, family: str
) -> None:
    outcome, document = measured(trained(families=(family,), tolerance=10.0))

    # With a wide tolerance all is answered by the exported model, whose bounds come from the
    # library's own predictions: were the export wrong, they would not hold.
    assert outcome.metrics["answered_share"] == 1.0
    assert failed_claims(document) == []


def test_a_table_that_is_no_sampling_is_refused(spring: Any, tmp_path: Path) -> None:
    table = tmp_path / "other.csv"
    table.write_text("frequency,damping,response\n1,1,0.5\n")
    inputs = {"solver": given(spring), "data": Input("data", table, "DATASET")}

    with pytest.raises(DataError, match="no table of samples"):
        train(TrainRequest(), Context(inputs=inputs, workspace=tmp_path))
