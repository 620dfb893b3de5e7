"""The import package of a published predictor: its files and a small module to call them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from packaging.utils import canonicalize_name

from sciharness_publisher.wheels import WheelPlan

PROTOCOL = "file-predictor-v1"
OPERATION = "predict"

Json = dict[str, Any]  # Any: JSON values

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


def is_plugin_id(text: str) -> bool:
    """Whether ``text`` is lower-case words of letters, digits and underscores joined by dots.

    >>> is_plugin_id("example.pendulum"), is_plugin_id("Example"), is_plugin_id("a..b")
    (True, False, False)
    """
    return len(text) <= 100 and _ID.match(text) is not None


def import_name(plugin_id: str) -> str:
    """Return the name of the import package of a plugin ID.

    >>> import_name("example.pendulum")
    'example_pendulum'
    """
    return plugin_id.replace(".", "_")


def predictor_wheel(
    plugin_id: str, version: str, files: Mapping[str, bytes], inside: bytes, card: Json
) -> WheelPlan:
    """Return the plan of the wheel that holds a predictor.

    ``files`` are the predictor's own, by name; ``inside`` is the statement
    that the package carries.
    """
    plan = _plan(plugin_id, version, payload(plugin_id, version, files, card), card)
    return WheelPlan(
        name=plan.name,
        version=plan.version,
        summary=plan.summary,
        files={**plan.files, f"{import_name(plugin_id)}/attestation.json": inside},
        requires=plan.requires,
        entry_points=plan.entry_points,
    )


def payload(
    plugin_id: str, version: str, files: Mapping[str, bytes], card: Json
) -> dict[str, bytes]:
    """Return the files of the import package but for its statement, by path."""
    package = import_name(plugin_id)
    said: Json = {
        "schema": "generated-plugin-v1",
        "id": plugin_id,
        "version": version,
        "origin": "generated",
        "operation": OPERATION,
        "protocol": PROTOCOL,
        "target": card["target"]["name"],
        "columns": [column["name"] for column in card["columns"]],
    }
    made = {
        "__init__.py": _MODULE.format(target=json.dumps(str(card["target"]["name"]))).encode(),
        "__main__.py": _MAIN.encode(),
        "plugin.json": (json.dumps(said, indent=2, sort_keys=True) + "\n").encode(),
    }
    return {f"{package}/{name}": data for name, data in {**files, **made}.items()}


def _plan(plugin_id: str, version: str, files: Mapping[str, bytes], card: Json) -> WheelPlan:
    package = import_name(plugin_id)
    command = canonicalize_name(plugin_id)
    return WheelPlan(
        name=command,
        version=version,
        summary=f"Predictor of {card['target']['name']}, generated and checked by sciharness",
        files=files,
        requires=("numpy>=1.26",),
        entry_points={
            "console_scripts": {command: f"{package}:main"},
            "sciharness.plugins": {plugin_id: package},
        },
    )


def adapter_wheel(
    plugin_id: str, version: str, files: Mapping[str, bytes], inside: bytes, record: Json
) -> WheelPlan:
    """Return the plan of the wheel that holds a solver and its adapter.

    ``files`` are bundle, adapter and record of the smoke test by name,
    ``record`` is that record, ``inside`` the statement that the package carries.
    """
    package, command = import_name(plugin_id), canonicalize_name(plugin_id)
    made = adapter_payload(plugin_id, version, files, record)
    return WheelPlan(
        name=command,
        version=version,
        summary=f"Solver {record['solver_executable']} behind an adapter, packed by sciharness",
        files={**made, f"{package}/attestation.json": inside},
        entry_points={
            "console_scripts": {command: f"{package}:main"},
            "sciharness.plugins": {plugin_id: package},
        },
    )


def adapter_payload(
    plugin_id: str, version: str, files: Mapping[str, bytes], record: Json
) -> dict[str, bytes]:
    """Return the files of the import package of an adapter but for its statement, by path."""
    package = import_name(plugin_id)
    said: Json = {
        "schema": "generated-plugin-v1",
        "id": plugin_id,
        "version": version,
        "origin": "generated",
        "operation": "solve",
        "protocol": record["interface"],
        "executable": record["solver_executable"],
        "table": record.get("table"),
        "statements": record.get("statements", []),
    }
    made = {
        "__init__.py": _SOLVER.encode(),
        "__main__.py": _MAIN.encode(),
        "plugin.json": (json.dumps(said, indent=2, sort_keys=True) + "\n").encode(),
    }
    return {f"{package}/{name}": data for name, data in {**files, **made}.items()}


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

_MAIN = '''\
"""Run the predictor as `python -m`."""

import sys

from . import main

sys.exit(main())
'''

_SOLVER = '''\
"""A solver behind its adapter: `solve` for files, a command that does the same.

It runs with the rights of whoever calls it. Digests and attestation state from which three
artifacts it came; nobody has looked into the binary.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def solve(source, output, **options):
    """Solve the file `source` into the file `output` and return the process that did it."""
    said = json.loads((HERE / "plugin.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "solver")
        unpack(HERE / "solver.tar", root)
        command = [sys.executable, str(HERE / "adapter.py"), "--solver-root", str(root)]
        command += ["--solver-executable", said["executable"]]
        return subprocess.run([*command, "--input", source, "--output", output], **options)


def unpack(archive, root):
    """Write the plain files of an archive below the new folder `root`; nothing else is."""
    with tarfile.open(archive, "r:") as members:
        for member in members:
            parts = Path(member.name).parts
            if not member.isreg() or member.name.startswith("/") or ".." in parts:
                raise ValueError(f"{member.name!r} is no plain file of a folder")
            target = root.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as sink:
                sink.write(members.extractfile(member).read())


def main():
    """Solve INPUT into OUTPUT."""
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(f"usage: {Path(sys.argv[0]).name} INPUT OUTPUT")
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    return solve(sys.argv[1], sys.argv[2]).returncode
'''
