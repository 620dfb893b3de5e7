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
COLUMNS = ("ageing time [week]", "temperature [degC]", "breakdown strength [kV]")


def test_its_directory_holds_the_same_measurements_as_the_table() -> None:
    context = AgentContext.from_directory(EXAMPLES / "insulation_ageing" / "ageing")
    source = EXAMPLES / "insulation_breakdown" / "insulation.csv"
    with source.open(encoding="utf-8-sig", newline="") as stream:
        table = [
            tuple(float(row[name].replace(",", ".")) for name in COLUMNS)
            for row in csv.DictReader(stream, delimiter=";")
        ]

    values = context["strength"]
    cells = [
        (float(context["time"][i]), float(context["temperature"][j]), float(values[i, j, k]))
        for i, j, k in np.ndindex(values.shape)
    ]
    assert sorted(cells) == sorted(table)
    assert inspect_context_data(EXAMPLES / "insulation_ageing" / "ageing")["warnings"] == []


@pytest.mark.slow
def test_it_predicts_longer_ageing_than_it_has_seen(harness: Any) -> None:
    locks = shutil.ignore_patterns("contract.lock")
    shutil.copytree(EXAMPLES / "insulation_ageing", harness.folder / "example", ignore=locks)

    run = harness("run", "example/contract.yaml", "--json", code=0).json

    sealed = run["sealed_holdout_targets"]["data"]
    (inputs,) = [item["path"] for item in run["artifacts"] if item["name"] == "final_inputs.csv"]
    with Path(inputs).open(newline="") as stream:
        ages = {row["time"] for row in csv.DictReader(stream)}
    assert [item["met"] for item in run["criteria"]] == [True, True]
    assert sealed["split"] == "the last 0.2 of the entries of axis 'time'"
    assert (sealed["rows_train"], sealed["rows_final"], ages) == (96, 32, {"48", "64"})
