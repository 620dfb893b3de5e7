"""The package of a published predictor: its files and a small module to call them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sciharness_publisher.generated import Json, package_files, package_wheel
from sciharness_publisher.wheels import WheelPlan

PROTOCOL = "file-predictor-v1"
OPERATION = "predict"


def predictor_wheel(
    plugin_id: str, version: str, files: Mapping[str, bytes], inside: bytes, card: Json
) -> WheelPlan:
    """Return the plan of the wheel that holds a predictor.

    ``files`` are the predictor's own, by name; ``inside`` is the statement
    that the package carries.
    """
    return package_wheel(
        plugin_id,
        version,
        predictor_payload(plugin_id, version, files, card),
        inside,
        summary=f"Predictor of {card['target']['name']}, generated and checked by sciharness",
        requires=("numpy>=1.26",),
    )


def predictor_payload(
    plugin_id: str, version: str, files: Mapping[str, bytes], card: Json
) -> dict[str, bytes]:
    """Return the files of the import package but for its statement, by path."""
    said = {
        "operation": OPERATION,
        "protocol": PROTOCOL,
        "target": card["target"]["name"],
        "columns": [column["name"] for column in card["columns"]],
    }
    module = _MODULE.format(target=json.dumps(str(card["target"]["name"])))
    return package_files(plugin_id, version, files, module, said)


_MODULE = '''\
"""A published predictor: `predict` for tables in memory, a command for CSV files."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = {target}
HERE = Path(__file__).resolve().parent


def card():
    """Return the model card: columns, ranges, units, metrics, limits."""
    return json.loads((HERE / "model_card.json").read_text(encoding="utf-8"))


def predict(columns):
    """Return one dict per row with `prediction` and what the card promises beside it.

    `columns` maps the names of the card's columns to sequences of equal length.
    """
    names = [column["name"] for column in card()["columns"]]
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"missing columns: {{missing}}; needed: {{names}}")
    lengths = {{len(columns[name]) for name in names}}
    if len(lengths) > 1:
        raise ValueError(f"columns differ in length: {{sorted(lengths)}}")
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder, "input.csv"), Path(folder, "output.csv")
        with open(table, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\\n")
            writer.writerow(names)
            writer.writerows(zip(*(columns[name] for name in names)))
        done = run(table, answer, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip() or f"exit code {{done.returncode}}")
        with open(answer, encoding="utf-8", newline="") as stream:
            return [_typed(row) for row in csv.DictReader(stream)]


def _typed(row):
    typed = {{}}
    for name, text in row.items():
        try:
            typed[name] = float(text)
        except ValueError:
            typed[name] = text
    return typed


def run(table, answer, **options):
    """Run the predictor on a CSV file in a process of its own and return that process."""
    command = [sys.executable, str(HERE / "inference.py"), "--model", str(HERE / "model.json")]
    return subprocess.run(
        [*command, "--input", str(table), "--output", str(answer)], **options
    )


def main():
    """Predict INPUT.csv into OUTPUT.csv."""
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(f"usage: {{Path(sys.argv[0]).name}} INPUT.csv OUTPUT.csv   (predicts {{TARGET}})")
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    return run(sys.argv[1], sys.argv[2]).returncode
'''
