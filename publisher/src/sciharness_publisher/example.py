"""The minimal example: a program that calls a predictor on two rows and prints the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sciharness_publisher.predictor import Column, Model

_PROGRAM = '''"""Predict {target} for two rows. Run it beside model.json and inference.py."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = {columns}
ROWS = {rows}


def main() -> None:
    """Write the rows to a table, call the predictor, print what it answers."""
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder, "input.csv"), Path(folder, "output.csv")
        with open(table, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\\n").writerows([COLUMNS, *ROWS])
        command = [sys.executable, str(HERE / "inference.py"), "--model", str(HERE / "model.json")]
        subprocess.run([*command, "--input", str(table), "--output", str(answer)], check=True)
        print(answer.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
'''


def minimal_example(model: Model) -> str:
    """Return the program text; its two rows lie a third and halfway into the training range."""
    rows = [[i, *(_between(column, part) for column in model.columns)] for i, part in _ROWS]
    names = ["sample_id", *(column.name for column in model.columns)]
    target = json.dumps(model.target, ensure_ascii=False)[1:-1]  # safe inside the docstring
    return _PROGRAM.format(
        target=target.replace('"', "'"),
        columns=repr(names),
        rows=repr(rows),
    )


_ROWS = ((0, 1 / 3), (1, 1 / 2))


def _between(column: Column, part: float) -> float:
    value = column.minimum + part * (column.maximum - column.minimum)
    return min(max(float(f"{value:.4g}"), column.minimum), column.maximum)
