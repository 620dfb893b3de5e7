"""Tables on disk and searches on them, through a real operation context."""

from __future__ import annotations

import csv
import json
from functools import partial

import pytest
from homes import confined, fresh, harness, prepared, site

from sciharness.plugin import Context, Input, Table
from sciharness_symbolic_regression.plugin import search
from sciharness_symbolic_regression.request import SearchRequest

__all__ = ["confined", "fresh", "harness", "prepared", "site"]

QUICK = {"max_evaluations": 75_000, "restarts": 3, "stability_runs": 0}


def table_input(folder, columns, **roles):
    """Write columns (last one is the target) to a CSV and return it as an input."""
    path = folder / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(map(float, column) for column in columns.values()), strict=True))
    taken = {name for name in roles.values() if isinstance(name, str)}
    *others, target = columns
    features = tuple(name for name in others if name not in taken)
    table = Table(target=target, features=features, **roles)
    return Input("data", path, "DATASET", "labelled_table", table)


@pytest.fixture
def data_of(tmp_path):
    """Return :func:`table_input` for a folder of the test."""
    return partial(table_input, tmp_path)


class Run:
    """A finished search: its outcome, its context and what it wrote."""

    def __init__(self, outcome, context, said):
        self.outcome, self.context, self.said = outcome, context, said
        self.folder = context.workspace / "outputs"
        self.formulas = json.loads((self.folder / "formulas.json").read_text("utf-8"))
        self.chosen = self.formulas["candidates"][self.formulas["chosen"]]
        known = (*self.chosen["recognised"], *self.chosen["constants"])
        self.values = [one["value"] for one in known]  # recognised or fitted
        self.files = {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


def searched(
    folder,
    columns,
    *,
    name="run",
    seed=0,
    workers=2,
    cancelled=lambda: False,
    roles=(),
    guesses=None,
    **request,
):
    """Run a search in a folder."""
    said = []
    inputs = {"data": table_input(folder, columns, **dict(roles))}
    if guesses is not None:
        path = folder / "guesses.txt"
        path.write_bytes(guesses if isinstance(guesses, bytes) else guesses.encode())
        inputs["guesses"] = Input("guesses", path, "OTHER", "guesses")
    context = Context(
        inputs=inputs,
        workspace=folder / name,
        seed=seed,
        workers=workers,
        time_limit=request.get("time_limit"),
        emit=said.append,
        is_cancelled=cancelled,
    )
    outcome = search(SearchRequest(**{**QUICK, **request}), context)
    return Run(outcome, context, said)


@pytest.fixture
def run_search(tmp_path):
    """Return :func:`searched` for a folder of the test."""
    return partial(searched, tmp_path)


@pytest.fixture(scope="session")
def search_in():
    """Return :func:`searched`, for searches that several tests look at."""
    return searched
