"""`harness replay`: the recorded actions give the same bytes again, or it is said where not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EVERYTHING: dict[str, Any] = {
    "inputs": [{"name": "data", "path": "data.csv", "role": "labelled_table"}],
    "capabilities": ["toy.note", "toy.fit", "evaluation.regression", "reporting.write"],
    "holdout": {"verification": 0.2},
    "steps": [
        {"id": "note", "use": "toy.note"},
        {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
        {
            "id": "seen",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data.train"},
        },
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data"},
        },
    ],
}
SMALL: dict[str, Any] = {
    "inputs": None,
    "holdout": "none",
    "acceptance": [{"metric": "value", "op": ">=", "value": 0}],
}


@pytest.fixture(scope="module")
def whole(fresh: Callable[..., Any]) -> Any:
    """A run with a predictor, both kinds of evaluation and a report."""
    made = fresh("replay")
    made.table(rows=80)
    made.contract(**EVERYTHING)
    made("run", "c.yaml", code=0)
    return made


@pytest.fixture(scope="module")
def replayed(whole: Any) -> Any:
    return whole("replay", "1", "--json")


def verdicts(replay: Any) -> dict[str, str]:
    return {action["step"]: action["verdict"] for action in replay["actions"]}


def test_an_equal_replay_ends_with_code_0(replayed: Any) -> None:
    assert replayed.code == 0
    assert replayed.json["equal"] is True
    assert replayed.json["differences"] == []


def test_every_artifact_but_the_report_is_compared(whole: Any, replayed: Any) -> None:
    made = {item["sha256"] for item in whole.show()["artifacts"] if item["step"] != "data"}
    results = [one for action in replayed.json["actions"] for one in action["results"]]
    compared = {one["recorded"] for one in results if one["type"] != "metric"}

    assert compared == made
    assert verdicts(replayed.json) == {
        "note": "equal",
        "fit": "equal",
        "seen": "equal",
        "judge": "equal",
        "report": "not compared",
    }


def test_metrics_are_compared_too(replayed: Any) -> None:
    (judge,) = [one for one in replayed.json["actions"] if one["step"] == "judge"]
    metrics = {one["name"] for one in judge["results"] if one["type"] == "metric"}

    assert {"relative_rmse", "r2"} <= metrics


def test_a_replay_records_nothing_and_spends_no_look(whole: Any, replayed: Any) -> None:
    from sciharness.store.home import Home

    with Home.open(whole.home) as home:
        (looks,) = home.connection().execute("SELECT count(*) FROM looks").fetchone()

    assert looks == 1
    assert whole.kinds()[-1] == "DeliveryFinished"
    assert [place.name for place in (whole.home / "workspaces").iterdir()] == []


def test_versions_and_machine_stand_beside_it(replayed: Any) -> None:
    pair = replayed.json["versions"]["python"]

    assert pair["recorded"] == pair["now"]
    assert replayed.json["machine"]["cpu"]["recorded"]
    assert replayed.json["seed"] == 0


def test_a_difference_is_named_with_what_it_may_hang_on(steered: Any) -> None:
    capabilities = ["toy.dice", "toy.note"]
    steered.harness.contract(**SMALL, capabilities=capabilities)
    steered.harness("run", "c.yaml", code=0)

    replayed = steered.harness("replay", "1", "--json")
    told = steered.harness("replay", "1")

    assert replayed.code == told.code == 1
    assert verdicts(replayed.json) == {"dice": "different", "note": "equal"}
    (difference,) = replayed.json["differences"]
    assert difference["name"] == "dice.txt" and difference["seed"] == 0
    assert difference["recorded"] != difference["replayed"]
    assert "NOT equal" in told.out and "cpu:" in told.out and "threads" in told.out


def test_what_holds_times_is_listed(steered: Any) -> None:
    steered.harness.contract(**SMALL, capabilities=["toy.clocked"])
    steered.harness("run", "c.yaml", code=0)

    replayed = steered.harness("replay", "1", "--json", code=0).json

    ((result,),) = [action["results"] for action in replayed["actions"]]
    assert result["name"] == "benchmark.json" and result["verdict"] == "not compared"


def test_what_the_clock_stopped_is_said(steered: Any) -> None:
    steps = [{"id": "a", "use": "toy.note", "with": {"pause": 5, "time_limit": 0.5}}]
    steered.harness.contract(**SMALL, capabilities=["toy.note"], steps=steps)
    steered.harness("run", "c.yaml", code=0)

    (action,) = steered.harness("replay", "1", "--json").json["actions"]

    assert "the clock stopped it" in action["reason"]


def test_a_changed_pin_is_refused(whole: Any, replayed: Any, tmp_path: Path) -> None:
    import shutil

    changed = tmp_path / "site"
    shutil.copytree(whole.environment["PYTHONPATH"], changed)
    source = changed / "toyplugin" / "__init__.py"
    source.write_text(source.read_text("utf-8") + "\n# changed\n", "utf-8")

    assert whole("replay", "1", PYTHONPATH=str(changed)).code == 7


def test_a_dry_run_lists_the_actions(whole: Any) -> None:
    assert whole("replay", "1", "-n", code=0).out.splitlines()[1] == "[2] fit: toy.fit"


def test_generated_final_data_is_made_and_compared_again(steered: Any) -> None:
    steered.harness.table()
    steered.harness("plugin", "admit", "toy", "--trust-labels", code=0)
    inputs = [{"name": "data", "path": "line.csv", "role": "labelled_table"}]
    rows = "\n".join(f"{n / 3!r},{2 * n / 3 + 1!r}" for n in range(40))
    (steered.harness.folder / "line.csv").write_text(f"x,y\n{rows}\n", "utf-8")
    steps = [
        {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}},
        {"id": "final", "use": "toy.points", "inputs": {"predictor": "fit"}},
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "final"},
        },
    ]
    steered.harness.contract(
        inputs=inputs,
        capabilities=["toy.fit", "toy.points", "evaluation.regression"],
        steps=steps,
        holdout={"generated_by": "final"},
    )
    steered.harness("run", "c.yaml", code=0)

    replayed = steered.harness("replay", "1", "--json", code=0).json

    assert verdicts(replayed) == {"fit": "equal", "final": "equal", "judge": "equal"}
