"""The hypothesis workflow from formula to claim, by the real command."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, Any]]

CONTRACT = """\
schema: research-contract-v1
title: A verified line
goal: Establish a line on rows that the search has not used.
inputs: [{{name: data, path: line.csv, role: labelled_table, target: y}}]
capabilities:
  - symbolic_regression.search
  - verification.hypothesise
  - verification.plan
  - verification.refit
  - verification.claim
acceptance: [{{metric: hypothesis_verified, op: "==", value: 1}}]
workflow: {{hypothesis_verification: {switch}, required_artifacts: [{kinds}]}}
holdout: {{fraction: 0.2, verification: 0.25}}
steps:
  - id: fit
    use: symbolic_regression.search
    inputs: {{data: data}}
    with: {{max_evaluations: 10000, restarts: 1, stability_runs: 0, alphabet: arithmetic}}
  - {{id: guess, use: verification.hypothesise, inputs: {{formulas: fit.formulas.json}}}}
  - {{id: plan, use: verification.plan, inputs: {{hypothesis: guess}}}}
  - id: verify
    use: verification.refit
    inputs: {{plan: plan, hypothesis: guess, data: data.verification}}
  - id: claim
    use: verification.claim
    inputs: {{evidence: verify.evidence.json}}
    with: {{text: It is a line.}}
"""
KINDS = "hypothesis, verification_plan, verification_result, evidence, scientific_claim"


def write(folder: Path, switch: str = "true", kinds: str = KINDS) -> Path:
    """Write rows of a noisy line and the contract beside them."""
    draw = random.Random(4)
    rows = [
        (x, 3.0 * x + 2.0 + draw.gauss(0, 0.01)) for x in (draw.uniform(1, 9) for _ in range(100))
    ]
    (folder / "line.csv").write_text("x,y\n" + "".join(f"{x:.5f},{y:.5f}\n" for x, y in rows))
    path = folder / "contract.yaml"
    path.write_text(CONTRACT.format(switch=switch, kinds=kinds))
    return path


@pytest.fixture
def waiting(harness: Command, tmp_path: Path) -> Any:
    """A run that waits for the approval of its plan."""
    code, view = harness("run", str(write(tmp_path)), "--json")
    assert (code, view["status"]) == (4, "waiting_for_input")
    return view


def test_a_run_waits_for_a_person_before_it_verifies(waiting: Any) -> None:
    done = {artifact["type"] for artifact in waiting["artifacts"]}

    assert waiting["error"]["kind"] == "waiting"
    assert "harness approve" in waiting["error"]["hint"]
    assert "verification_plan" in done
    assert "verification_result" not in done


def test_an_approved_plan_is_carried_out_and_claims_name_their_evidence(
    harness: Command, waiting: Any
) -> None:
    run = waiting["run_id"]
    harness("approve", run, "plan", "--name", "Ada", "--words", "Read and agreed.")

    code, view = harness("resume", run, "--json")

    assert (code, view["status"]) == (0, "succeeded")
    assert harness("verify", run, "--json")[1]["claims"] == 1
    claim = next(item for item in view["artifacts"] if item["type"] == "scientific_claim")
    evidence = next(item for item in view["artifacts"] if item["type"] == "evidence")
    assert json.loads(Path(claim["path"]).read_text())["evidence"] == [evidence["id"]]
    lines = harness("events", run, "--json")[1].splitlines()
    approved = [json.loads(line) for line in lines if "PlanApproved" in line]
    assert approved[0]["body"]["approval"]["name"] == "Ada"
    assert approved[0]["body"]["approval"]["words"] == "Read and agreed."


def test_without_approval_a_resumed_run_waits_again(harness: Command, waiting: Any) -> None:
    code, view = harness("resume", waiting["run_id"], "--json")

    assert (code, view["status"]) == (4, "waiting_for_input")


def test_an_approval_is_bound_to_the_bytes_of_the_plan(
    harness: Command, waiting: Any, tmp_path: Path
) -> None:
    run = waiting["run_id"]
    harness("approve", run, "plan", "--name", "Ada", "--words", "Read and agreed.")
    edit_approval(tmp_path / "home/harness.db")

    code, view = harness("verify", run, "--json")

    # An approval that was rewritten to fit another plan breaks the chain of events.
    assert code == 7
    assert "event" in view["error"]["message"]


def edit_approval(database: Path) -> None:
    """Rewrite the approval in place, as somebody with the database file could."""
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER IF EXISTS events_no_update")
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'")
        ]
        for name in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            "UPDATE events SET record = CAST(replace(CAST(record AS TEXT), 'Ada', 'Eve') AS BLOB)"
            " WHERE instr(CAST(record AS TEXT), 'PlanApproved') > 0"
        )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("fit", "--name", "Ada", "--words", "yes"), "0 verification plans"),
        (("plan", "--name", " ", "--words", "yes"), "name and words"),
    ],
    ids=["no plan", "no name"],
)
def test_a_bad_approval_is_refused(
    harness: Command, waiting: Any, arguments: tuple[str, ...], found: str
) -> None:
    code, said = harness("approve", waiting["run_id"], *arguments, "--json")

    assert code == 2
    assert found in said["error"]["message"]


def test_switched_off_the_workflow_is_refused(harness: Command, tmp_path: Path) -> None:
    code, said = harness("check", str(write(tmp_path, "false", "")), "--json")

    assert code == 3
    assert any("hypothesis_verification" in str(problem) for problem in said["problems"])
