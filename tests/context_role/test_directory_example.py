"""The example with a context.data directory: its data, and a run of it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciharness import AgentContext
from sciharness.contextdata import inspect_context_data

EXAMPLES = Path(__file__).parents[2] / "examples"
TIME, HEAT, STRENGTH = "ageing time [week]", "temperature [degC]", "breakdown strength [kV]"


def test_its_directory_holds_the_same_measurements_as_the_table() -> None:
    context = AgentContext.from_directory(EXAMPLES / "insulation_ageing" / "strength")
    source = EXAMPLES / "insulation_breakdown" / "insulation.csv"
    with source.open(encoding="utf-8-sig", newline="") as stream:
        table = [
            tuple(float(row[name].replace(",", ".")) for name in (TIME, HEAT, STRENGTH))
            for row in csv.DictReader(stream, delimiter=";")
        ]

    values = context[STRENGTH]
    cells = [
        (float(context[TIME][i]), float(context[HEAT][j]), float(values[i, j, k]))
        for i, j, k in np.ndindex(values.shape)
    ]
    assert sorted(cells) == sorted(table)
    assert inspect_context_data(EXAMPLES / "insulation_ageing" / "strength")["warnings"] == []


@pytest.mark.slow
def test_it_predicts_longer_ageing_than_it_has_seen(harness: Any) -> None:
    locks = shutil.ignore_patterns("contract.lock")
    shutil.copytree(EXAMPLES / "insulation_ageing", harness.folder / "ageing", ignore=locks)

    run = harness("run", "ageing/contract.yaml", "--json", code=0).json

    sealed = run["sealed_holdout_targets"]["data"]
    (inputs,) = [item["path"] for item in run["artifacts"] if item["name"] == "final_inputs.csv"]
    with Path(inputs).open(newline="") as stream:
        ages = {row[TIME] for row in csv.DictReader(stream)}
    assert run["criteria"][0]["met"]
    assert sealed["split"] == f"the last 0.2 of the entries of axis {TIME!r}"
    assert (sealed["rows_train"], sealed["rows_final"], ages) == (96, 32, {"48", "64"})
