"""Runs on context.data directories, by the real command: judged as tables, or shown as they are."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SECRET, OPEN = "31337", "27182"  # the digits of final labels and of visible ones
COOLING: dict[str, Any] = {
    "inputs": [
        {
            "name": "data",
            "path": "cooling",
            "role": "context_data",
            "target": "temperature",
            "features": ["time", "rate", "start"],
        }
    ]
}


def with_input(**fields: Any) -> dict[str, Any]:
    kept = {**COOLING["inputs"][0], **fields}
    return {"inputs": [{name: value for name, value in kept.items() if value is not None}]}


@pytest.fixture
def made(harness: Any, cooling: Path) -> Any:
    """A home and a folder that holds the directory of cooling plates."""
    shutil.copytree(cooling, harness.folder / "cooling")
    return harness


def rows(run: dict[str, Any], name: str) -> list[dict[str, str]]:
    (path,) = [item["path"] for item in run["artifacts"] if item["name"] == name]
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def messages(done: Any) -> str:
    return "\n".join(
        f"{item['path']}: {item['found']}; {item['expected']}; {item['hint']}"
        for item in done.json["problems"]
    )


def test_a_variable_is_learnt_and_judged_on_its_last_block(made: Any) -> None:
    made.contract(**COOLING)

    run = made("run", "c.yaml", "--json", code=0).json

    sealed = run["sealed_holdout_targets"]["data"]
    temperature = np.load(made.folder / "cooling" / "temperature.npy")
    visible = [float(row["temperature"]) for row in rows(run, "train-cooling.csv")]
    assert run["criteria"][0]["met"]
    assert (sealed["rows_train"], sealed["rows_final"]) == (50, 10)
    assert sealed["split"] == "the last 0.2 of the entries of axis 'time'"
    assert visible == temperature[:10].ravel().tolist()
    assert set(rows(run, "final_inputs.csv")[0]) == {"sample_id", "time", "rate", "start"}
    assert "directory_bundle" not in {item["type"] for item in run["artifacts"]}


def test_a_table_shaped_directory_is_a_labelled_table(harness: Any, directory: Any) -> None:
    draw = np.random.default_rng(1)
    a, b = draw.uniform(0, 5, 60), draw.uniform(-3, 3, 60)
    columns = {"a": (a, ["day"]), "b": (b, ["day"]), "y": (2 * a - b + 0.5, ["day"])}
    directory(columns, {"day": 60}, "table")
    shutil.copytree(directory(columns, {"day": 60}, "table"), harness.folder / "table")
    item = {"name": "data", "path": "table", "role": "labelled_table"}
    harness.contract(inputs=[item], holdout={"fraction": 0.25, "seed": 3})

    run = harness("run", "c.yaml", "--json", code=0).json

    sealed = run["sealed_holdout_targets"]["data"]
    assert (sealed["target"], sealed["rows_train"], sealed["rows_final"]) == ("y", 45, 15)
    assert sealed["split"] == "fraction 0.25, seed 3"


@pytest.fixture(scope="module")
def looks(fresh: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One predictor, the same again, one of another split, and one after the data changed."""
    home = fresh("looks")
    from_here = tmp_path_factory.mktemp("source")
    draw = np.random.default_rng(1)
    write(from_here / "cooling", draw)
    shutil.copytree(from_here / "cooling", home.folder / "cooling")
    home.contract(**COOLING)
    ended = [home("run", "c.yaml", "--json"), home("run", "c.yaml", "--json")]
    home.contract(name="group.yaml", **COOLING, holdout={"group": "plate", "fraction": 0.4})
    ended.append(home("run", "group.yaml", "--json"))
    rate = np.load(home.folder / "cooling" / "rate.npy")
    np.save(home.folder / "cooling" / "rate.npy", rate + 1.0)
    (home.folder / "c.lock").unlink()
    ended.append(home("run", "c.yaml", "--json"))
    return ended


def write(path: Path, draw: np.random.Generator) -> None:
    path.mkdir()
    time, rate, start = np.arange(12) * 0.5, draw.uniform(1, 2, 5), draw.uniform(20, 30, 5)
    arrays = {"time": time, "rate": rate, "start": start}
    arrays["temperature"] = start - 2 * rate + 3 * time[:, None]
    along = {"rate": ["plate"], "start": ["plate"], "temperature": ["time", "plate"]}
    for name, array in arrays.items():
        np.save(path / f"{name}.npy", array)
    manifest = {
        "variables": {
            name: {"file": f"{name}.npy", "description": "", "axes": axes}
            for name, axes in along.items()
        },
        "axes": {
            "time": {"file": "time.npy", "description": ""},
            "plate": {"values": list("abcde"), "description": ""},
        },
    }
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_the_same_predictor_replays_its_look(looks: Any) -> None:
    (look,) = looks[1].json["holdout_queries"]

    assert [looks[0].code, looks[1].code] == [0, 0]
    assert look["replayed"]


def test_looks_at_a_directory_count_over_all_splits(looks: Any) -> None:
    assert looks[2].code == 7
    assert looks[0].json["run_id"] in looks[2].json["error"]["message"]


def test_another_directory_has_looks_of_its_own(looks: Any) -> None:
    (look,) = looks[3].json["holdout_queries"]

    assert looks[3].code == 0
    assert (look["look"], look["replayed"]) == (1, False)


@pytest.mark.usefixtures("confined")
def test_nothing_that_runs_finds_a_final_label(harness: Any, directory: Any) -> None:
    draw = np.random.default_rng(2)
    kind = np.array([f"{SECRET if row >= 15 else OPEN}{row % 2}" for row in range(20)], "S")
    variables = {
        "x": (draw.normal(size=(20, 3)), ["time", "place"]),
        "kind": (np.repeat(kind[:, None], 3, axis=1), ["time", "place"]),
    }
    path = directory(variables, {"time": 20, "place": 3}, "kinds")
    shutil.copytree(path, harness.folder / "kinds")
    roots = [str(harness.home), str(harness.folder), "/tmp", "/dev/shm"]
    item = {"name": "data", "path": "kinds", "role": "context_data", "target": "kind"}
    harness.contract(
        inputs=[{**item, "task": "classification"}],
        holdout={"order": "last", "fraction": 0.25},
        capabilities=["toy.hunt"],
        acceptance=[{"metric": "found", "op": ">=", "value": 0}],
        steps=[
            {"id": name, "use": "toy.hunt", "inputs": {"data": "data"}, "with": {
                "word": word, "roots": roots,
            }}
            for name, word in (("final", SECRET), ("visible", OPEN))
        ],
    )  # fmt: skip

    run = harness("run", "c.yaml", "--json", "--export", "out", code=0).json

    final, visible = [item["value"] for item in run["metrics"]]
    assert (final, visible > 0) == (0, True)
    everything = b"".join(path.read_bytes() for path in (harness.folder / "out").rglob("*.csv"))
    assert SECRET.encode() not in everything
    assert OPEN.encode() in everything


NETWORK: dict[str, Any] = {
    "title": "Look",
    "inputs": [{"name": "net", "path": "network", "role": "context_data"}],
    "capabilities": ["toy.look"],
    "acceptance": [{"metric": "variables", "op": ">=", "value": 2}],
    "holdout": "none",
}


@pytest.fixture
def network(harness: Any) -> Any:
    """A home and a folder that holds the sample network."""
    sample = Path(__file__).parents[2] / "examples" / "data" / "oscillator_network"
    shutil.copytree(sample, harness.folder / "network")
    return harness


def test_a_directory_without_a_target_is_shown_as_it_is(network: Any) -> None:
    network.contract(**NETWORK)

    run = network("run", "c.yaml", "--json", "--export", "out.zip", code=0).json

    (bundle,) = [item for item in run["artifacts"] if item["type"] == "directory_bundle"]
    (action,) = [
        event["body"]["action"] for event in network.events() if event["kind"] == "ActionFinished"
    ]
    assert action["notes"] == ["context_data", "directory_bundle", "network", "A"]
    assert {item["name"]: item["value"] for item in run["metrics"]} == {"variables": 2, "links": 0}
    assert bundle["name"] == "network.tar"
    assert run["sealed_holdout_targets"] == {}
    network("verify", "out.zip", code=0)
    network("replay", "1", code=0)


@pytest.mark.usefixtures("confined")
def test_an_operation_cannot_change_its_directory(network: Any) -> None:
    step = {"id": "look", "use": "toy.look", "inputs": {"context": "net"}}
    scribble = {**step, "id": "scribble", "with": {"scribble": True}}
    network.contract(**{**NETWORK, "steps": [scribble, step]})

    run = network("run", "c.yaml", "--json", code=0).json

    (failed,) = [event["body"] for event in network.events() if event["kind"] == "ActionFailed"]
    assert failed["action"]["step"] == "scribble"
    assert "Permission denied" in failed["action"]["message"] + failed["detail"]
    assert run["metrics"][-1]["value"] == 2


def test_a_run_sees_the_directory_as_it_was_when_it_was_made(network: Any) -> None:
    network.contract(**NETWORK)
    network("new", "c.yaml", code=0)
    shutil.rmtree(network.folder / "network")

    network("start", "1", code=0)


def test_a_damaged_bundle_is_not_unpacked(network: Any) -> None:
    network.contract(**NETWORK)
    new = network("new", "c.yaml", "--json", code=0).json
    path = Path(new["artifacts"][0]["path"])
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"Oscillator", b"0scillator"))

    ended = network("start", "1", "--json", code=7)

    assert "does not have this digest" in ended.json["reason"]
    assert ended.json["error"]["kind"] == "integrity"


def test_an_action_of_a_call_takes_directories(network: Any, cooling: Path) -> None:
    looked = network("call", "toy.look", "--input", "context=network", "--json", code=0)
    counted = network(
        "call", "toy.count", "--input", f"data={cooling}", "--input", "data.target=temperature",
        "--json", code=0,
    )  # fmt: skip
    refused = network("call", "toy.look", "--input", f"context={network.folder}", "--json", code=3)

    assert looked.json["metrics"]["variables"] == 2
    assert counted.json["metrics"]["rows"] == 60
    assert "a manifest in the directory" in messages(refused)


def test_a_call_judges_on_a_directory(network: Any, cooling: Path) -> None:
    data = ("--input", f"data={cooling}")
    network("call", "toy.fit", *data, "--input", "data.target=temperature", "--out", "fit", code=0)

    judged = network(
        "call", "evaluation.regression", "--input", "predictor=fit", *data, "--json", code=0
    )

    assert judged.json["metrics"]["relative_rmse"] < 1e-6


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (with_input(target=None), "`features` without `target`"),
        (with_input(target="temperatur"), "Did you mean `temperature`?"),
        (with_input(features=["time", "plte"]), "Did you mean `plate`?"),
        (with_input(path="missing"), "no such file or folder"),
        (with_input(path="c.yaml", features=None), "a folder for role context_data"),
        (with_input(role="table", target=None), "a file for role table"),
        (with_input(role="labelled_table", path="empty"), "a context.data directory"),
        (
            with_input(target=None, features=None),
            "Name the variable to predict as `target` of `data`.",
        ),
        ({**COOLING, "capabilities": ["toy.look"]}, "`data` has a target, so it is shown as rows"),
        ({**COOLING, "holdout": {"group": "plat"}}, "holdout.group: 'plat'"),
        (with_input(weights="temperature"), "one part for each column"),
    ],
)
def test_what_cannot_be_read_is_told_before_a_run(made: Any, fields: Any, expected: str) -> None:
    (made.folder / "empty").mkdir()
    (made.folder / "empty" / "readme").write_text("no manifest")
    made.contract(**fields)

    refused = made("check", "c.yaml", "--json", code=3)

    assert expected in messages(refused)
    assert made("list", "--json", code=0).json == {"runs": []}


def test_all_problems_with_a_directory_come_at_once(made: Any) -> None:
    made.contract(**with_input(features=["tim", "rte"], sigma="strt"), holdout={"group": "plat"})

    refused = made("check", "c.yaml", "--json", code=3)

    assert len(refused.json["problems"]) == 4, messages(refused)
    assert {item["line"] is None for item in refused.json["problems"]} == {False}


def test_nothing_else_may_show_the_target_of_a_sealed_directory(made: Any) -> None:
    (made.folder / "copy").mkdir()
    shutil.copy(made.folder / "cooling" / "temperature.npy", made.folder / "copy" / "other.npy")
    twin = {"name": "twin", "path": "copy", "role": "other"}
    made.contract(inputs=[*COOLING["inputs"], twin])

    refused = made("check", "c.yaml", "--json", code=3)

    assert "`twin` holds the bytes of `data`" in messages(refused)


def test_other_inputs_may_share_what_is_no_label(made: Any) -> None:
    (made.folder / "copy").mkdir()
    shutil.copy(made.folder / "cooling" / "rate.npy", made.folder / "copy" / "rate.npy")
    other = {"name": "rates", "path": "copy", "role": "other"}
    made.contract(inputs=[*COOLING["inputs"], other])

    made("check", "c.yaml", code=0)
