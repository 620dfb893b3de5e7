"""`harness call`: one capability outside any run."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def fitted(fresh: Callable[..., Any]) -> Any:
    """A fit by call, its predictor judged on another table."""
    made = fresh("fitted")
    made.table()
    made.table(name="other.csv", seed=9, rows=33)
    fit = made("call", "toy.fit", "--input", "data=data.csv", "--out", "predictor", "--json")
    judged = made(
        "call",
        "evaluation.regression",
        "--input",
        "predictor=predictor",
        "--input",
        "data=other.csv",
        "--json",
    )
    return made, fit, judged


def test_a_call_gives_metrics_and_files(fitted: Any, conforms: Callable[[str, Any], None]) -> None:
    made, fit, _ = fitted

    assert fit.code == 0
    conforms("call", fit.json)
    assert fit.json["capability"] == "toy.fit" and fit.json["seconds"] > 0
    assert fit.json["metrics"]["fit_rmse"] < 0.1
    for item in fit.json["artifacts"]:
        path = Path(item["path"])
        assert path == made.folder / "predictor" / item["name"]
        assert sha256(path.read_bytes()).hexdigest() == item["sha256"]


def test_a_predictor_is_judged_on_any_table(
    fitted: Any, conforms: Callable[[str, Any], None]
) -> None:
    made, _, judged = fitted
    model = json.loads((made.folder / "predictor" / "model.json").read_text("utf-8"))
    with (made.folder / "other.csv").open(newline="") as stream:
        rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(stream)]
    errors = [
        model["intercept"]
        + sum(slope * row[name] for name, slope in model["slopes"].items())
        - row["y"]
        for row in rows
    ]

    conforms("call", judged.json)
    rmse = (sum(error**2 for error in errors) / len(errors)) ** 0.5
    # Sums of 33 terms near 1e-3 in double precision differ by far less.
    assert judged.json["metrics"]["rmse"] == pytest.approx(rmse, rel=1e-9)
    assert (made.folder / "evaluation.regression-out" / "evaluation.json").is_file()


def test_a_call_is_no_run(fitted: Any) -> None:
    made, _, _ = fitted

    assert made("list", "--json", code=0).json == {"runs": []}
    assert list((made.home / "vault").iterdir()) == []
    assert list((made.home / "tmp").iterdir()) == []


def test_fields_of_the_input_choose_columns(harness: Any) -> None:
    harness.table(note=["text"] * 60)
    data = ["--input", "data=data.csv"]

    refused = harness("call", "toy.fit", *data, "--json", code=3)
    chosen = harness(
        "call",
        "toy.fit",
        *data,
        "--input",
        "data.target=a",
        "--input",
        "data.ignore=[note, y]",
        "--out",
        "out",
        code=0,
    )

    card = json.loads((harness.folder / "out" / "model_card.json").read_text("utf-8"))
    assert "note" in str(refused.json["problems"])
    assert card["target"]["name"] == "a"
    assert [column["name"] for column in card["columns"]] == ["b"]
    assert "fit_rmse" in chosen.out


def test_parameters_are_yaml_and_the_last_wins(harness: Any) -> None:
    (harness.folder / "values.yaml").write_text("value: 1.5\nseed: 4\n", "utf-8")

    from_file = harness("call", "toy.nothing", "--with", "@values.yaml", "--json", code=0)
    last = harness(
        "call", "toy.nothing", "--with", "@values.yaml", "--with", "value=2", "--json", code=0
    )
    nested = harness("call", "toy.charge", "--with", "usage.solver_calls=3", "--json", code=0)

    assert from_file.json["metrics"] == {"value": 1.5}
    assert last.json["metrics"] == {"value": 2.0}
    assert nested.json["metrics"] == {"value": 1.0}


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["toy.nothing", "--with", "valu=1"], 3, "request"),
        (["toy.nothing", "--with", "value=yes"], 3, "request"),
        (["toy.nothing", "--with", "=1"], 2, "usage"),
        (["toy.nothing", "--with", "@missing.yaml"], 3, "contract"),
        (["toy.nothing", "--input", "data=data.csv"], 2, "usage"),
        (["toy.fit"], 2, "usage"),
        (["toy.fit", "--input", "data=missing.csv"], 3, "data"),
        (["toy.fit", "--input", "data=."], 3, "data"),
        (["toy.fit", "--input", "data=data.csv", "--input", "data.targt=y"], 3, "contract"),
        (["toy.fit", "--input", "data=data.csv", "--input", "data.target=z"], 3, "data"),
        (["toy.nothin"], 3, "contract"),
        (["nobody.nothing"], 3, "contract"),
        (["toy.lie"], 1, "plugin"),
        (["toy.lie", "--with", "how=data"], 3, "data"),
        (["toy.lie", "--with", "how=request"], 3, "request"),
        (["toy.note", "--out", "data.csv"], 2, "usage"),
        (["toy.note", "--out", "/proc/nowhere/out"], 2, "usage"),
        (
            ["evaluation.regression", "--input", "predictor=.", "--input", "data=data.csv"],
            3,
            "data",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_wrong_call_is_told_by_kind(
    fitted: Any, words: list[str], code: int, kind: str, conforms: Callable[[str, Any], None]
) -> None:
    made, _, _ = fitted
    before = (made.folder / "data.csv").read_bytes()

    refused = made("call", *words, "--json", code=code)

    conforms("error", refused.json)
    assert refused.json["error"]["kind"] == kind
    assert "Traceback" not in refused.err
    assert (made.folder / "data.csv").read_bytes() == before
    assert list((made.home / "tmp").iterdir()) == []


def test_the_nearest_names_are_told(fitted: Any) -> None:
    made, _, _ = fitted

    assert "value" in made("call", "toy.nothing", "--with", "valu=1", code=3).err
    assert "'note'" in made("call", "toy.not", code=3).err
    assert "`data`" in made("call", "toy.fit", "--input", "dta=data.csv", code=2).err


@pytest.mark.parametrize("stubborn", [False, True], ids=["that listens", "that does not"])
def test_an_interrupt_ends_a_call(harness: Any, stubborn: bool) -> None:
    values = ["--with", "pause=600", "--with", f"stubborn={str(stubborn).lower()}"]
    process = harness.start("call", "toy.note", *values, "--out", "out")
    assert process.stderr is not None
    process.stderr.readline()  # its first progress
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)  # it would have slept longer

    assert process.returncode == 130
    assert (harness.folder / "out" / "note.txt").exists() is not stubborn
