"""A search in the confined worker of a call does what it does in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_every_piece_of_a_search_runs_in_a_worker(harness: Any) -> None:
    rows = [(a / 7, 1 + b / 5) for a in range(1, 9) for b in range(1, 9)]
    text = "".join(f"{a!r},{b!r},{2.5 * a / b**2!r}\n" for a, b in rows)
    (harness.folder / "law.csv").write_text("a,b,y\n" + text, "utf-8")

    call = harness(
        "call",
        "symbolic_regression.search",
        "--input",
        "data=law.csv",
        "--with",
        "max_evaluations=75000",
        "--with",
        "stability_runs=0",
        "--json",
        code=0,
    ).json

    (path,) = (item["path"] for item in call["artifacts"] if item["name"] == "formulas.json")
    formulas = json.loads(Path(path).read_text("utf-8"))
    assert not [note for note in call["notes"] if "failed" in note]
    assert formulas["stop_reason"] == "exact_fit"
    assert formulas["candidates"][formulas["chosen"]]["metrics"]["train"]["relative_rmse"] < 1e-9
