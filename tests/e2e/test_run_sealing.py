"""Final labels: searched for by a plugin and by a predictor, and in everything that is kept."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SECRET = "31337"  # the digits that every final label ends with, and nothing else
OPEN = "27182"  # the same for visible labels

pytestmark = pytest.mark.usefixtures("confined")


def hunted(made: Any) -> None:
    """Write a table whose last rows are final and whose labels can be told by their digits."""
    draw = random.Random(5)
    lines = ["a,b,y"]
    for number in range(60):
        a, b = round(draw.uniform(0.0, 5.0), 3), round(draw.uniform(-3.0, 3.0), 3)
        mark = SECRET if number >= 45 else OPEN
        lines.append(f"{a},{b},{20.0 + 2.0 * a - b:.3f}{mark}")
    (made.folder / "data.csv").write_text("\n".join(lines) + "\n", "utf-8")


def steps(made: Any, word: str) -> list[dict[str, Any]]:
    roots = [str(made.home), str(made.folder), "/tmp", "/dev/shm", "/proc/1", "/root", "/home"]
    hunt = {"word": word, "roots": roots}
    return [
        {"id": "fit", "use": "toy.fit", "inputs": {"data": "data"}, "with": {**hunt}},
        {"id": "before", "use": "toy.hunt", "inputs": {"data": "data"}, "with": {**hunt}},
        {
            "id": "judge",
            "use": "evaluation.regression",
            "inputs": {"predictor": "fit", "data": "data"},
        },
        {"id": "after", "use": "toy.hunt", "inputs": {"data": "data"}, "with": {**hunt}},
    ]


@pytest.fixture(scope="module")
def hunt(fresh: Callable[..., Any]) -> Any:
    made = fresh("hunt")
    hunted(made)
    made.contract(
        capabilities=["toy.fit", "toy.hunt", "evaluation.regression"],
        holdout={"order": "last", "fraction": 0.25},
        steps=steps(made, SECRET),
    )
    return made, made("run", "c.yaml", "--json", "--export", "out.zip")


def test_nothing_that_runs_finds_a_final_label(hunt: Any) -> None:
    _, ended = hunt

    found = [item["value"] for item in ended.json["metrics"] if item["name"] == "found"]
    assert ended.code == 0, ended.err  # inference.py ends with an error where it finds one
    assert ended.json["label_isolation"] != "none"
    assert found == [0.0, 0.0]


@pytest.fixture(scope="module")
def control(fresh: Callable[..., Any]) -> Any:
    """The same hunt for what may be seen."""
    made = fresh("control")
    hunted(made)
    plan = steps(made, OPEN)
    plan[0]["with"]["word"] = '"slopes"'  # stands in the predictor's own model
    made.contract(
        capabilities=["toy.fit", "toy.hunt", "evaluation.regression"],
        holdout={"order": "last", "fraction": 0.25},
        steps=plan,
    )
    return made, made("run", "c.yaml", "--json")


def test_the_same_hunt_finds_what_may_be_seen(control: Any) -> None:
    made, ended = control

    found = [item["value"] for item in ended.json["metrics"] if item["name"] == "found"]
    failed = [event for event in made.events() if event["kind"] == "ActionFailed"]
    assert all(value >= 1.0 for value in found) and len(found) == 2
    assert "FOUND" in failed[0]["body"]["action"]["message"]


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_no_label_is_in_an_object_an_event_or_an_export(hunt: Any) -> None:
    made, ended = hunt
    with zipfile.ZipFile(made.folder / "out.zip") as archive:
        unpacked = b"".join(archive.read(name) for name in archive.namelist())
    kept = {
        "objects": everything(made.home / "objects"),
        "exports": everything(made.home / "exports"),
        "workspaces": everything(made.home / "workspaces"),
        "tmp": everything(made.home / "tmp"),
        "zip": unpacked,
        "events": made("events", "1", "--json", code=0).out.encode(),
        "show": ended.out.encode() + ended.err.encode(),
        "database": (made.home / "harness.db").read_bytes(),
    }

    assert OPEN.encode() in kept["objects"]  # the search would find one
    # The hunted word itself stands in the contract; a label is longer.
    labels = [line.split(",")[-1].encode() for line in _lines(made)[46:]]
    assert len(labels) == 15 and all(label.endswith(SECRET.encode()) for label in labels)
    assert [
        (place, label) for place, text in kept.items() for label in labels if label in text
    ] == []


def test_the_whole_file_is_no_artifact(hunt: Any) -> None:
    made, ended = hunt
    source = (made.folder / "data.csv").read_bytes()

    assert [item for item in ended.json["artifacts"] if item["name"] == "data.csv"] == []
    assert source not in everything(made.home / "objects")


def test_the_vault_is_closed_to_others(hunt: Any) -> None:
    made, _ = hunt

    assert made.home.stat().st_mode & 0o077 == 0
    assert (made.home / "vault").stat().st_mode & 0o077 == 0


def test_a_home_that_workers_could_read_is_refused(fresh: Callable[..., Any]) -> None:
    made = fresh("exposed")
    made.table()
    made.contract()

    refused = made("run", "c.yaml", "--json", HARNESS_READ_PATHS=str(made.home.parent), code=3)

    assert "HARNESS_READ_PATHS" in str(refused.json)


def _lines(made: Any) -> list[str]:
    return str((made.folder / "data.csv").read_text("utf-8")).splitlines()
