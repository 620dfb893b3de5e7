"""Adapter of a solver by file-solver-adapter-v1.

    python adapter.py --solver-root DIR --solver-executable PATH --input INPUT --output OUTPUT

The solver's folder is copied to a private one, only PATH is made executable
there, and only PATH is run. It runs with the rights of whoever calls this.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sciharness_file_solver.shipped.calling import (
    Answer,
    SolverFailed,
    call,
    private_copy,
    processors,
    solve,
)

INTERFACE = "file-solver-adapter-v1"
SETTING: Mapping[str, Any] = json.loads("{}")


def main_adapter(arguments: Sequence[str] | None = None) -> int:
    """Solve one file; exit code 0, or 1 and one line that says why not."""
    parser = argparse.ArgumentParser(description=f"Call a solver ({INTERFACE}).")
    parser.add_argument("--solver-root", required=True, metavar="DIR")
    parser.add_argument("--solver-executable", required=True, metavar="PATH")
    parser.add_argument("--input", required=True, metavar="INPUT")
    parser.add_argument("--output", required=True, metavar="OUTPUT")
    options = parser.parse_args(arguments)
    setting = {**SETTING, "executable": options.solver_executable}
    root, source, output = Path(options.solver_root), Path(options.input), Path(options.output)
    try:
        with tempfile.TemporaryDirectory(prefix="solver-") as scratch:
            made = Path(scratch, "output")
            solve_file(setting, root, Path(scratch), source.resolve(), made)
            part = output.with_name(f"{output.name}.{os.getpid()}.part")
            shutil.copyfile(made, part)
            os.replace(part, output)
    except SolverFailed as fault:
        print(f"adapter.py: {fault}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"adapter.py: {error.strerror}: {error.filename}", file=sys.stderr)
        return 1
    return 0


def solve_file(
    setting: Mapping[str, Any], root: Path, scratch: Path, source: Path, made: Path
) -> None:
    """Write the solver's answer to ``source`` to the new file ``made``."""
    if setting["inputs"]:
        solve_table(setting, root, scratch, source, made)
        return
    program = private_copy(root, setting["executable"], scratch / "solver")
    call(setting["command"], program, source, made, setting["case_seconds"], scratch / "solver")


def solve_table(
    setting: Mapping[str, Any], root: Path, scratch: Path, source: Path, made: Path
) -> None:
    """Solve a strict CSV file, one case per row; an optional ``sample_id`` names the rows."""
    names, rows = read_cases(source, setting["inputs"])
    answers = solve(setting, root, scratch, rows, processors())
    with open(made, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["sample_id", *setting["outputs"]])
        for name, answer in zip(names, answers, strict=True):
            writer.writerow([name, *map(repr, numbers(name, answer))])


def numbers(name: str, answer: Answer | None) -> list[float]:
    """Return the numbers of one case, or refuse the whole file naming the case."""
    if answer is None or isinstance(answer, str):
        raise SolverFailed(f"case {name}: {answer}")
    return answer


def read_cases(path: Path, inputs: Sequence[str]) -> tuple[list[str], list[list[float]]]:
    """Return names and values of the rows of a strict CSV file."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream, strict=True)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise SolverFailed(f"{path.name}: no strict CSV: {error}") from error
    missing = [name for name in inputs if name not in header]
    if missing:
        raise SolverFailed(f"{path.name}: column {missing[0]!r} is missing: {', '.join(header)}")
    places = [header.index(name) for name in inputs]
    named = header.index("sample_id") if "sample_id" in header else None
    names = [str(row) if named is None else fields[named] for row, fields in enumerate(rows)]
    if len(set(names)) != len(names):
        raise SolverFailed(f"{path.name}: a sample_id occurs twice")
    return names, [case(path.name, row, fields, places) for row, fields in enumerate(rows)]


def case(name: str, row: int, fields: Sequence[str], places: Sequence[int]) -> list[float]:
    """Return the numbers of one row."""
    try:
        found = [float(fields[place]) for place in places]
    except (ValueError, IndexError):
        found = [math.nan]
    if not all(map(math.isfinite, found)):
        raise SolverFailed(f"{name}: row {row + 1}: expected finite numbers, found {fields}")
    return found
