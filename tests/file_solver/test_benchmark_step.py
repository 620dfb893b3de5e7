"""What a benchmark means for a run: it freezes a predictor and makes nothing trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest

TRUSTED = [{"metric": "relative_rmse", "op": "<=", "value": 0.05, "trusted": True}]
UNKNOWN = [{"metric": "made_up", "op": "<=", "value": 1}]


def test_a_benchmark_cannot_satisfy_a_trusted_criterion(
    lab: Any, spring: Any, hybrid_steps: Any
) -> None:
    contract = lab.contract(spring, hybrid_steps, acceptance=TRUSTED)

    done = lab("check", contract, "--json")

    assert done.code == 3
    assert "relative_rmse" in done.out


def test_a_metric_that_nobody_reports_is_told_before_the_run(
    lab: Any, spring: Any, hybrid_steps: Any
) -> None:
    contract = lab.contract(spring, hybrid_steps, acceptance=UNKNOWN)

    done = lab("check", contract, "--json")

    assert done.code == 3
    assert "made_up" in done.out


def test_a_final_predictor_is_one_that_was_measured(
    lab: Any, spring: Any, hybrid_steps: Any
) -> None:
    unmeasured = lab.contract(
        spring,
        hybrid_steps[:2],
        acceptance=[{"metric": "samples", "op": ">=", "value": 1}],
        workflow={"final_predictor": True},
        permissions={"publish_plugins": True},
        deliver=["predictor_plugin"],
    )

    done = lab("check", unmeasured, "--json")

    assert done.code == 3
    assert "Lease an evaluator" in done.text


@pytest.mark.slow
def test_another_solver_than_the_one_sampled_fails_the_benchmark(
    lab: Any, spring: Any, hybrid_steps: Any
) -> None:
    contract = lab.contract(spring, hybrid_steps)
    values = json.loads(contract.read_text())
    other = {**values["inputs"][0], "name": "other", "path": "other"}
    (lab.folder / "other" / "bin").mkdir(parents=True)
    copy = lab.folder / "other" / "bin" / "solve"
    copy.write_bytes((lab.folder / "solver" / "bin" / "solve").read_bytes() + b"\n")
    copy.chmod(0o755)
    values["inputs"].append(other)
    values["steps"][2]["inputs"]["solver"] = "other"
    values["acceptance"] = [{"metric": "routing_policy_verified", "op": ">=", "value": 1}]
    contract.write_text(json.dumps(values))

    done = lab("run", contract, "--json")

    assert done.code == 1
    assert "digest differs" in done.text


@pytest.mark.slow
def test_a_budget_of_solver_calls_ends_the_run(lab: Any, spring: Any, hybrid_steps: Any) -> None:
    contract = lab.contract(spring, hybrid_steps, budget={"solver_calls": 100})

    done = lab("run", contract, "--json")

    assert done.code == 5
    assert done.json["budget"]["solver_calls"]["limit"] == 100
