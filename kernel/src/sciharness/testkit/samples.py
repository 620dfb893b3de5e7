"""Samples: small inputs that a check can give to an operation it knows nothing about."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from sciharness.contract.inputs import input_facts
from sciharness.contract.read import read_input
from sciharness.errors import DataError
from sciharness.plugin import Input, InputSpec
from sciharness.roles import Package, Program, ReasonerView
from sciharness.tables import check_table

ROWS = 40
TABLE_TYPES = frozenset({"labelled_table", "table", "DATASET"})
PREDICTOR_TYPES = frozenset({"predictor", "model", "inference.source.python", "model_card"})

_INFERENCE = r'''"""A sample predictor: y = 2 a - b."""
import argparse, csv

parser = argparse.ArgumentParser()
for name in ("--model", "--input", "--output"):
    parser.add_argument(name, required=True)
given = parser.parse_args()
with open(given.input, newline="") as lines:
    rows = list(csv.DictReader(lines))
with open(given.output, "w", newline="") as out:
    out.write("sample_id,prediction\n")
    for number, row in enumerate(rows):
        value = 2.0 * float(row["a"]) - float(row["b"])
        out.write(f"{row.get('sample_id', number)},{value!r}\n")
'''
_CARD = {
    "schema": "file-predictor-v1",
    "task": "regression",
    "target": {"name": "y", "unit": None, "classes": []},
    "columns": [
        {"name": name, "dtype": "float64", "unit": None, "min": low, "max": high}
        for name, low, high in (("a", 0.0, 5.0), ("b", -1.0, 1.0))
    ],
    "out_of_domain": "flag",
    "metrics": [],
    "training_sha256": "0" * 64,
    "seed": 0,
    "versions": {},
    "limits": [],
}
_RUN = {
    "run_id": "00001-sample",
    "title": "Sample",
    "goal": "Find how y depends on a and b.",
    "questions": [],
    "status": "succeeded",
    "criteria": [],
    "metrics": [],
    "budget": {},
    "artifacts": [],
    "actions": [],
    "inputs": [],
    "pins": {},
    "versions": {},
    "sealed_holdout_targets": {},
    "holdout_queries": [],
    "label_isolation": "none",
    "contract": {},
    "contract_digest": "0" * 64,
    "seed": 0,
}
_FILES: Mapping[str, tuple[str, str]] = {
    "model": ("model.json", '{"slopes": {"a": 2.0, "b": -1.0}}\n'),
    "inference.source.python": ("inference.py", _INFERENCE),
    "model_card": ("model_card.json", json.dumps(_CARD, indent=2) + "\n"),
    "predictor.evaluation": ("evaluation.json", '{"metrics": {"relative_rmse": 0.01}}\n'),
    "run": ("run.json", json.dumps(_RUN, indent=2) + "\n"),
    "MINIMAL_EXAMPLE": ("minimal_example.py", "print('an example')\n"),
    "USAGE_GUIDE": ("usage_guide.md", "# Guide\n"),
    "source.python": ("program.py", "print('sample')\n"),
    "OTHER": ("sample.txt", "sample\n"),
}


def table(
    folder: Path, columns: Mapping[str, Sequence[object]], *, target: str, **fields: Any
) -> Input:
    """Write a table and return it as the input that an operation gets.

    ``fields`` are those of a contract input, such as ``ignore`` or ``units``.

    Raises:
        DataError: the table would be refused in a contract too.
    """
    path = folder / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return given_input("data", path, {"target": target, **fields})


def given_input(name: str, path: Path, fields: Mapping[str, Any]) -> Input:
    """Return a file as an operation gets it; ``fields`` are those of a contract input.

    Raises:
        DataError: there is no such file, or the table is refused.
    """
    kind = input_facts(name, path).type
    if kind != "DATASET":
        return Input(name, path, kind, str(fields.get("role", "other")))
    role = "labelled_table" if "target" in fields else "table"
    item = read_input({"name": "data", "path": str(path), "role": role, **fields})
    checked = check_table(path, item)
    if checked.problems:
        raise DataError("; ".join(map(str, checked.problems)), where=path.name)
    return Input(name, path, kind, item.role, checked.table)


def sample_input(spec: InputSpec, folder: Path) -> Input | None:
    """Return something that fits an input, ``None`` if nothing here does."""
    types = set(spec.types)
    if not types or types & TABLE_TYPES:
        return evolve(sample_table(folder), name=spec.name)
    if "predictor" in types or spec.name == "predictor":
        return Input(spec.name, sample_predictor(folder), "predictor")
    for kind, (name, text) in _FILES.items():
        if kind in types:
            path = folder / name
            path.write_text(text, "utf-8")
            return Input(spec.name, path, kind)
    return None


def sample_table(folder: Path) -> Input:
    """Return a labelled table of ``y = 2 a - b`` with a small ripple, shape (40, 3)."""
    a = [5.0 * row / (ROWS - 1) for row in range(ROWS)]
    b = [((7 * row) % ROWS) / ROWS * 2.0 - 1.0 for row in range(ROWS)]
    y = [2.0 * a[row] - b[row] + 0.01 * ((row % 3) - 1) for row in range(ROWS)]
    return table(folder, {"a": a, "b": b, "y": y}, target="y")


def sample_predictor(folder: Path) -> Path:
    """Write the three files of a predictor into a folder of its own and return it."""
    place = folder / "predictor"
    place.mkdir(exist_ok=True)
    for kind in ("model", "inference.source.python", "model_card"):
        name, text = _FILES[kind]
        (place / name).write_text(text, "utf-8")
    return place


def sample_judgement(folder: Path, task: str, *, right: bool) -> dict[str, Input]:
    """Return predictions and labels as an evaluator gets them; ``right`` makes them agree."""
    classes = ["no", "yes"] if task == "classification" else []
    labels, predictions = folder / "labels.csv", folder / "predictions.csv"
    true = [classes[row % 2] if classes else repr(1.0 + row) for row in range(ROWS)]
    wrong = true if right else true[1:] + true[:1]
    head = "sample_id,prediction,probability" if classes else "sample_id,prediction"
    odds = [f",{0.9 if text == 'yes' else 0.1}" if classes else "" for text in wrong]
    rows = [f"{row},{text}{odd}" for row, (text, odd) in enumerate(zip(wrong, odds, strict=True))]
    predictions.write_text("\n".join([head, *rows]) + "\n", "utf-8")
    lines = [f"{row},{text}" for row, text in enumerate(true)]
    labels.write_text("\n".join(["sample_id,y", *lines]) + "\n", "utf-8")
    meta = {
        "task": task,
        "classes": classes,
        "target": "y",
        "train_mean": None if classes else ROWS / 2,
        "last_query": True,
        "view": "final",
    }
    return {
        "predictions": Input("predictions", predictions, "DATASET"),
        "labels": Input("labels", labels, "DATASET", meta=meta),
    }


def sample_view(capabilities: Sequence[Mapping[str, Any]] = ()) -> ReasonerView:
    """Return the view of a run that has just begun."""
    return ReasonerView(
        goal="Find how y depends on a and b.",
        inputs=(
            {
                "name": "data",
                "role": "labelled_table",
                "type": "DATASET",
                "table": {"target": "y", "features": ["a", "b"], "task": "regression"},
                "rows": {"train": 32, "verification": 0, "final": 8},
            },
        ),
        capabilities=tuple(capabilities),
        criteria=(
            {
                "metric": "relative_rmse",
                "op": "<=",
                "threshold": 0.05,
                "value": None,
                "trusted": True,
                "met": False,
                "reason": "not reported yet",
            },
        ),
        budget_left={"actions": 10.0},
    )


def sample_program() -> Program:
    """Return a program as the kernel would start it."""
    return Program(
        purpose="inference",
        argv=(sys.executable, "-I", "inference.py", "--model", "model.json"),
        environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        wall_seconds=600.0,
        memory_bytes=8 * 1024**3,
    )


def sample_package(folder: Path) -> Package:
    """Return a package of one harmless text."""
    place = folder / "package"
    place.mkdir(exist_ok=True)
    (place / "model.json").write_text("{}\n", "utf-8")
    return Package("install", "example.sample", "1.0", "generated", place, ("model.json",))


def sample_options(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters to try: those that are needed, and those that are given."""
    known = schema["properties"]
    return {**{name: sample_value(known[name]) for name in schema["required"]}, **given}


def sample_value(schema: Mapping[str, Any]) -> Any:  # Any: JSON Schema and a JSON value
    """Return a value that a schema takes: its default, else its first choice or lowest bound."""
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample_value(schema["anyOf"][0])
    if schema.get("type") in ("integer", "number"):
        return _sample_number(schema)
    if schema.get("type") == "object":
        known = schema.get("properties", {})
        return {name: sample_value(known[name]) for name in schema.get("required", ())}
    if schema.get("type") == "array":
        return [sample_value(schema.get("items") or {})] * schema.get("minItems", 0)
    return {"boolean": False, "null": None}.get(schema.get("type", ""), "sample")


def _sample_number(schema: Mapping[str, Any]) -> float | int:  # Any: JSON Schema
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if schema["type"] == "integer":
        step = 1 if "exclusiveMinimum" in schema else 0
        return int(low) + step if low is not None else min(1, int(high)) if high is not None else 1
    if low is not None and high is not None:
        return (float(low) + float(high)) / 2.0
    return float(low) + 1.0 if low is not None else float(high) - 1.0 if high is not None else 1.0
