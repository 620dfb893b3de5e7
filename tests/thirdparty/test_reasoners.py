"""Reasoners of plugins: they propose, the kernel decides, and they see no row and no label."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sciharness import Finish, Proposal, ReasonerView
from sciharness.plugins import Plugins
from sciharness.store.home import Home
from sciharness.workers.confinement import probe
from sciharness.workers.consulting import proposal_of
from sciharness.workers.pool import ActionFailed, Job, Workers

FIT = {"use": "toy.fit", "inputs": {"data": "data"}, "why": "a line may do"}
JUDGE = {"use": "evaluation.regression", "inputs": {"predictor": "fit", "data": "data"}}
NOTHING = {"use": "toy.nothing", "with": {"value": 2.0}}
VALUE = [{"metric": "value", "op": ">=", "value": 1}]


def scripted(*proposals: Any, name: str = "odd.scripted") -> dict[str, Any]:
    return {"use": name, "proposals": list(proposals)}


def test_its_proposals_lead_to_a_trusted_result(harness: Any) -> None:
    harness.contract(reasoner=scripted(FIT, JUDGE))

    run = harness("run", "c.yaml", "--json", code=0).json

    (criterion,) = run["criteria"]
    assert (run["status"], criterion["met"]) == ("succeeded", True)
    assert {one["source"] for one in run["metrics"] if one["capability"] != "toy.fit"} == {
        "trusted"
    }
    assert run["budget"]["reasoner_calls"]["used"] == 3  # two proposals and the end


def test_its_pin_stands_in_lock_and_record(harness: Any) -> None:
    harness.contract(reasoner=scripted(FIT, JUDGE))
    harness("run", "c.yaml", code=0)

    lock = json.loads((harness.folder / "c.lock").read_text("utf-8"))
    (created,) = harness.events("RunCreated")

    assert lock["pins"]["reasoner"].startswith("odd 1.0 scripted ")
    assert created["parts"]["reasoner"] == lock["pins"]["reasoner"]
    assert created["parts"]["executor"].startswith("runtime ")


BAD = [
    ({"use": "toy.note"}, "lease", "not leased"),
    ({"use": "no such / thing"}, "lease", "not leased"),
    ({**FIT, "with": {"bias": "much"}}, "request", "bias"),
    ({**FIT, "inputs": {"data": "elsewhere.csv"}}, "request", "elsewhere"),
    ({**FIT, "inputs": {"data": "data.verification"}}, "request", "verification"),
    ({**FIT, "inputs": {"data": "/etc/passwd"}}, "request", "/etc/passwd"),
    ({**FIT, "with": {"bias": 5.0}}, "constraint", "constraints.toy.fit"),
    ({**JUDGE, "inputs": {"predictor": "fit_9", "data": "data"}}, "request", "`fit_9`"),
]


def test_a_proposal_passes_the_same_gate_as_a_step(harness: Any) -> None:
    rule = {"when": {}, "require": {"bias": 0.0}}
    judge = {**JUDGE, "inputs": {"predictor": "fit_6", "data": "data"}}
    harness.contract(
        reasoner=scripted(*(proposal for proposal, _, _ in BAD), FIT, judge),
        constraints={"toy.fit": [rule]},
    )

    run = harness("run", "c.yaml", "--json", code=0)

    refused = [one["action"] for one in harness.events("ActionRefused")]
    assert [one["reason"] for one in refused] == [reason for _, reason, _ in BAD]
    for one, (_, _, said) in zip(refused, BAD, strict=True):
        assert said in one["message"]
    assert run.json["status"] == "succeeded"  # it was told, and went on
    assert run.json["budget"]["reasoner_calls"]["used"] == len(BAD) + 3


def test_final_labels_are_looked_at_no_more_often_than_the_contract_says(harness: Any) -> None:
    again = {**FIT, "with": {"bias": 0.1}}
    second = {**JUDGE, "inputs": {"predictor": "fit_2", "data": "data"}}
    harness.contract(reasoner=scripted(FIT, JUDGE, again, second))

    harness("run", "c.yaml", code=0)

    (refused,) = [one["action"] for one in harness.events("ActionRefused")]
    assert "max_queries" in refused["message"]
    assert len(harness.events("HoldoutQueried")) == 1


def test_it_sees_facts_and_metrics_and_neither_rows_nor_places(harness: Any) -> None:
    harness.contract(
        capabilities=["toy.fit", "toy.nothing"],
        acceptance=VALUE,
        reasoner=scripted(FIT, NOTHING, "tell"),
        budget={"actions": 9},
    )
    harness("run", "c.yaml", code=0)

    (finished,) = harness.events("ReasonerFinished")
    told = json.loads(finished["message"])
    view = told["view"]

    assert view["goal"] == "Find the line through the points."
    assert [one["name"] for one in view["capabilities"]] == ["toy.fit", "toy.nothing"]
    assert view["capabilities"][0]["request"]["properties"]["bias"]["default"] == 0.0
    assert view["inputs"][0]["table"]["target"] == "y"
    assert view["inputs"][0]["rows"] == {"train": 48, "verification": 0, "final": 12}
    assert [(one["id"], one["status"]) for one in view["actions"]] == [
        ("fit", "finished"),
        ("nothing", "finished"),
    ]
    assert view["actions"][1]["metrics"] == [{"name": "value", "value": 2, "source": "reported"}]
    assert view["criteria"][0]["met"] is True
    assert view["budget_left"] == {"actions": 7}
    assert told["inputs"] == []
    assert str(harness.home) not in finished["message"]
    assert "data.csv" not in finished["message"]


def ask(home: Home, folder: Path, name: str, *script: Any) -> Proposal | Finish:
    """Ask a reasoner once, as the kernel does."""
    lease = Plugins(home).role("reasoner", name)
    job = Job(
        pin=lease.pin,
        operation=lease.operation,
        package=lease.package(),
        request={"proposals": list(script)},
        inputs={},
        workspace=folder / "action",
        subject=ReasonerView("a goal"),
    )
    with Workers(folder / "pool", hidden=(home.path,)) as pool:
        return proposal_of(pool.consult(job).answer)


@pytest.mark.parametrize(("name", "open_"), [("odd.scripted", False), ("odd.online", True)])
def test_only_one_that_asks_for_the_network_keeps_sockets(
    harness: Any, tmp_path: Path, name: str, open_: bool
) -> None:
    if probe() != "landlock+seccomp":
        pytest.skip("sockets are open here for everybody")

    with harness.opened() as home:
        answer = ask(home, tmp_path, name, "tell")

    assert isinstance(answer, Finish)
    assert json.loads(answer.message)["sockets"] is open_


@pytest.mark.parametrize(
    ("what", "reason", "said"),
    [
        ("crash", "crash", "signal 6"),
        ("raise", "error", "no answer from the model"),
        ("nothing", "nonsense", "returns Proposal or Finish"),
        ("nan", "nonsense", "no JSON form"),
        ("number", "nonsense", "use"),
        ("large", "nonsense", "bytes"),
    ],
)
def test_what_is_no_answer_is_a_typed_failure(
    harness: Any, tmp_path: Path, what: str, reason: str, said: str
) -> None:
    with harness.opened() as home, pytest.raises(ActionFailed, match=said) as caught:
        ask(home, tmp_path, "odd.scripted", what)

    assert caught.value.reason == reason


def test_one_that_fails_is_asked_again_and_then_pauses_the_run(harness: Any) -> None:
    harness.contract(
        capabilities=["toy.nothing"], acceptance=VALUE, reasoner=scripted(NOTHING, "crash")
    )

    done = harness("run", "c.yaml", "--json", code=4)

    assert done.json["status"] == "paused"
    assert "failed 3 times in a row" in done.json["error"]["message"]
    assert [one["reason"] for one in harness.events("ReasonerFailed")] == ["crash"] * 3
    assert done.json["budget"]["reasoner_calls"]["used"] == 4
    assert harness("resume", "1", "--json").code == 4  # it goes on from where it stood
    assert len(harness.events("ActionStarted")) == 1


def test_one_that_proposes_nothing_but_refused_actions_comes_to_an_end(harness: Any) -> None:
    harness.contract(reasoner=scripted(*[{"use": "toy.note"}] * 30))

    run = harness("run", "c.yaml", "--json", code=1).json

    assert run["status"] == "failed"
    assert len(harness.events("ActionRefused")) == 10


def test_calls_and_tokens_are_counted_and_bound_the_run(harness: Any) -> None:
    harness.contract(
        capabilities=["toy.nothing"],
        acceptance=[{"metric": "value", "op": ">=", "value": 99}],
        reasoner=scripted(*["charge"] * 9),
        budget={"reasoner_calls": 3},
    )

    run = harness("run", "c.yaml", "--json", code=5).json

    assert run["status"] == "budget_exhausted"
    assert run["budget"]["reasoner_calls"] == {"used": 3, "limit": 3}
    assert run["budget"]["reasoner_tokens"]["used"] == 120
    assert run["budget"]["actions"]["used"] == 3


@pytest.mark.slow
def test_a_resumed_run_does_not_ask_for_what_was_proposed_already(harness: Any) -> None:
    slow = {"use": "toy.note", "with": {"pause": 60.0, "stubborn": True}}
    harness.contract(
        capabilities=["toy.note"],
        acceptance=VALUE,
        reasoner=scripted(slow, slow),
        budget={"wall_time": "4s"},
    )
    harness("run", "c.yaml", code=5)  # the time is up in the middle of the first action

    harness("budget", "1", "--add", "wall_time=4s", code=5)

    assert [one["step"]["id"] for one in harness.events("ActionProposed")] == ["note"]
    assert [one["action"]["step"] for one in harness.events("ActionStarted")] == ["note", "note"]


@pytest.mark.parametrize(
    ("reasoner", "said"),
    [
        ({"use": "odd.scriptet"}, "scripted"),
        ({"use": "odd.loose"}, "is an executor, not a reasoner"),
        ({"use": "toy.fit"}, "is a capability, not a reasoner"),
        ({"use": "nowhere.at_all"}, "no installed distribution offers it"),
        ({"use": "odd.scripted", "proposals": 3}, "reasoner.proposals"),
        ({"use": "odd.scripted", "propossals": []}, "Did you mean 'proposals'"),
        ({"use": "recipe", "speed": 3}, "options of recipe"),
        ({"use": "recipes"}, "Did you mean `recipe`"),
    ],
)
def test_a_reasoner_that_cannot_be_had_is_refused_before_the_run(
    harness: Any, reasoner: dict[str, Any], said: str
) -> None:
    harness.contract(reasoner=reasoner)

    review = harness.review("c.yaml")

    assert len(review.problems) == 1
    assert said in str(review.problems[0])


def test_steps_are_for_the_recipe_only(harness: Any) -> None:
    steps = [{"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}}]
    harness.contract(reasoner=scripted(FIT), steps=steps)

    assert any("proposes its own" in str(one) for one in harness.review("c.yaml").problems)


def test_a_reasoner_is_no_capability(harness: Any) -> None:
    harness.contract(capabilities=["odd.scripted"], acceptance=VALUE)

    (problem, *_) = harness.review("c.yaml").problems

    assert "is a reasoner, not a capability" in str(problem)


def test_an_evaluator_that_is_not_trusted_here_sees_no_final_label(harness: Any) -> None:
    judge = {"use": "toy.judge", "inputs": {"predictor": "fit", "data": "data"}}
    harness.contract(
        capabilities=["toy.fit", "toy.judge"],
        acceptance=[{"metric": "relative_rmse", "op": "<=", "value": 1}],
        reasoner=scripted(FIT, judge),
    )

    run = harness("run", "c.yaml", "--json").json

    assert {one["source"] for one in run["metrics"]} == {"reported"}
    assert harness.events("HoldoutQueried") == []


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_asks_goes_on(harness: Any) -> None:
    harness.contract(
        capabilities=["toy.nothing"], acceptance=VALUE, reasoner=scripted(NOTHING, "wait")
    )
    process = harness.start("run", "c.yaml")
    deadline = time.monotonic() + 60.0
    while not list(harness.home.glob("workspaces/*/pool/worker-*/work/*/checkpoint/asked")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()

    resumed = harness("resume", "1", "--json", code=0).json

    proposed = [one["step"]["id"] for one in harness.events("ActionProposed")]
    assert resumed["status"] == "succeeded"
    assert proposed == ["nothing", "nothing_2"]
    assert resumed["budget"]["actions"]["used"] == 2
