"""What the contract does not allow is refused, recorded and told; the rest of the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sciharness.contract.steps import PlannedStep
from sciharness.plugins import Plugins
from sciharness.runtime.create import create_run
from sciharness.runtime.loop import carry_on
from sciharness.runtime.session import Session
from sciharness.runtime.state import fold
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.workers.pool import Workers

STEPS = [{"id": f"step{number}", "use": "toy.nothing"} for number in (1, 2)]
SMALL = {"inputs": None, "holdout": "none", "capabilities": ["toy.nothing"]}
MET = [{"metric": "value", "op": "==", "value": 1}]


@pytest.fixture(scope="module")
def refused(fresh: Callable[..., Any]) -> Any:
    """A rule that preflight cannot judge: how many workers an action gets is known at its start."""
    made = fresh("refused")
    rule = {"when": {"workers": 2}, "require": {"value": 2}}
    steps = [STEPS[0], {**STEPS[1], "with": {"value": 2}}]
    made.contract(
        **SMALL,
        steps=steps,
        constraints={"toy.nothing": [rule]},
        acceptance=[{"metric": "value", "op": "<=", "value": 0}],
    )
    return made, made("run", "c.yaml", "--workers", "2", "--json")


def test_a_refusal_is_recorded_and_not_fatal(refused: Any) -> None:
    made, ended = refused
    events = made.events()

    (told,) = [event["body"]["action"] for event in events if event["kind"] == "ActionRefused"]
    finished = [event for event in events if event["kind"] == "ActionFinished"]
    assert ended.code == 1
    assert told["step"] == "step1" and told["reason"] == "constraint"
    assert "value has to be 2, got 1" in told["message"]
    assert [event["body"]["action"]["step"] for event in finished] == ["step2"]


def test_a_refusal_is_no_failure_and_no_action(refused: Any) -> None:
    _, ended = refused

    assert ended.json["budget"]["actions"]["used"] == 1
    assert ended.json["budget"]["failures"]["used"] == 0
    assert ended.json["budget"]["reasoner_calls"]["used"] == 2


def test_a_refusal_is_said_to_the_person(refused: Any) -> None:
    made, ended = refused

    assert "refused: step1" in ended.err
    assert "constraints.toy.nothing[0]" in made("report", "1", "--markdown").out.replace("\\", "")
    assert "value has to be 2" in ended.err.splitlines()[-2]  # what limited the run
    assert "value has to be 2" in ended.json["reason"]


def test_the_rule_binds_only_where_it_applies(refused: Any) -> None:
    made, _ = refused

    ended = made("run", "c.yaml", "--workers", "3", "--json")

    assert ended.json["budget"]["actions"]["used"] == 2


def test_a_rule_that_a_contract_breaks_itself_is_found_before_a_run(harness: Any) -> None:
    harness.table()
    rule = {"when": {"how": "error"}, "require": {"seed": 128}}
    harness.contract(
        **{**SMALL, "capabilities": ["toy.lie"]},
        constraints={"toy.lie": [rule]},
        acceptance=MET,
    )

    checked = harness("check", "c.yaml", "--json", code=3).json

    assert "seed has to be 128" in str(checked["problems"])


@pytest.fixture(scope="module")
def leased(fresh: Callable[..., Any]) -> Any:
    made = fresh("leased")
    made.contract(**SMALL, steps=STEPS, acceptance=MET)
    return made


@pytest.fixture
def session(leased: Any, site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A new run whose plan a test replaces: what a reasoner might propose."""
    monkeypatch.syspath_prepend(site)
    for lock in leased.folder.glob("*.lock"):
        lock.unlink()
    with Home.open(leased.home) as home:
        run_id = create_run(home, leased.folder / "c.yaml")
        state = fold(run_id, EventLog(home).read(run_id))
        leases = {name: Plugins(home).lease(name) for name in ("toy.nothing", "toy.guess")}
        with Workers(home.workspaces / run_id / "pool", hidden=(home.path,)) as pool:
            yield Session(
                home=home,
                log=EventLog(home),
                store=ArtifactStore(home),
                leases=leases,
                steps=(),
                pool=pool,
                state=state,
            )


@pytest.mark.parametrize(
    ("step", "reason", "said"),
    [
        (PlannedStep("bad", "toy.charge"), "lease", "toy.charge is not leased"),
        (PlannedStep("bad", "no.such"), "lease", "no.such is not leased"),
        (PlannedStep("bad", "toy.guess"), "lease", "toy.guess is not leased"),
        (PlannedStep("bad", "toy.nothing", params={"value": "x"}), "request", "value"),
        (PlannedStep("bad", "toy.nothing", params={"valu": 1}), "request", "valu"),
    ],
    ids=["not leased", "unknown", "leased elsewhere", "wrong type", "unknown key"],
)
def test_a_proposal_has_no_authority(
    session: Session, step: PlannedStep, reason: str, said: str
) -> None:
    plan = evolve(session, steps=[step, PlannedStep("good", "toy.nothing")])

    carry_on(plan)

    (refusal,) = plan.state.refusals
    assert (refusal.step, refusal.reason) == ("bad", reason)
    assert said in refusal.message
    assert [(one.step, one.status) for one in plan.state.actions] == [("good", "finished")]
    assert plan.state.status == "succeeded"


def test_hypotheses_are_refused_while_their_workflow_is_off(session: Session) -> None:
    contract = session.state.contract
    session.state.contract = evolve(contract, capabilities=("toy.guess", "toy.nothing"))
    plan = evolve(
        session, steps=[PlannedStep("guess", "toy.guess"), PlannedStep("good", "toy.nothing")]
    )

    carry_on(plan)

    assert [one.reason for one in plan.state.refusals] == ["workflow"]
    assert not [item for item in plan.state.artifacts if item.type == "hypothesis"]


def test_the_workflow_switched_on_admits_them(harness: Any) -> None:
    values = {**SMALL, "capabilities": ["toy.guess"], "acceptance": MET}
    harness.contract(**values, steps=[{"id": "guess", "use": "toy.guess"}])
    off = harness("run", "c.yaml", "--json", code=3)
    harness.contract(
        **values,
        steps=[{"id": "guess", "use": "toy.guess"}],
        workflow={"hypothesis_verification": True, "required_artifacts": ["hypothesis"]},
    )
    on = harness("run", "c.yaml", "--json", code=0)

    assert "hypothesis_verification" in str(off.json["problems"])
    assert "hypothesis" in {item["type"] for item in on.json["artifacts"]}


def test_a_hypothesis_that_was_not_declared_is_refused_too(harness: Any) -> None:
    harness.contract(
        **{**SMALL, "capabilities": ["toy.lie"]},
        steps=[{"id": "lie", "use": "toy.lie", "with": {"how": "guess"}}],
        acceptance=MET,
    )

    ended = harness("run", "c.yaml", "--json", code=1)

    assert not [item for item in ended.json["artifacts"] if item["type"] == "hypothesis"]
