"""Tables on disk, and the plugin's operations on them through a real operation context."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from sciharness import Context, Input, Outcome, Table
from sciharness_tabular.plugin import describe, train
from sciharness_tabular.requests import DescribeRequest, TrainRequest

Columns = Mapping[str, Iterable[object]]


@frozen
class Ran:
    """A finished operation: its outcome, what it wrote and what it said meanwhile."""

    outcome: Outcome
    folder: Path
    said: list[dict[str, Any]]

    @property
    def files(self) -> dict[str, bytes]:
        """Every artifact by name."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}

    def json(self, name: str) -> Any:  # Any: JSON values
        """One artifact as plain values."""
        return json.loads((self.folder / name).read_text("utf-8"))


def write_table(path: Path, columns: Columns, delimiter: str = ",") -> Path:
    """Write columns as a CSV file; floats with all their digits."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        cells = (
            column.tolist() if isinstance(column, np.ndarray) else column
            for column in columns.values()
        )
        writer.writerows(zip(*cells, strict=True))
    return path


@pytest.fixture
def labelled(tmp_path: Path) -> Callable[..., Input]:
    """Write columns, the last one the target, and return them as an input."""

    def make(columns: Columns, name: str = "data.csv", **roles: Any) -> Input:
        path = write_table(tmp_path / name, columns)
        taken = {one for one in roles.values() if isinstance(one, str)}
        *others, target = columns
        features = tuple(one for one in others if one not in (*taken, *roles.get("ignore", ())))
        table = Table(**{"target": target, "features": features, **roles})
        return Input("data", path, "DATASET", "labelled_table", table)

    return make


@pytest.fixture
def run_train(tmp_path: Path) -> Callable[..., Ran]:
    """Train on an input, in a folder of its own."""

    def run(
        data: Input,
        *,
        name: str = "train",
        seed: int = 0,
        workers: int = 1,
        cancelled: Callable[[], bool] = lambda: False,
        **request: Any,
    ) -> Ran:
        said: list[dict[str, Any]] = []
        context = Context(
            inputs={"data": data},
            workspace=tmp_path / name,
            seed=seed,
            workers=workers,
            emit=said.append,
            is_cancelled=cancelled,
        )
        outcome = train(TrainRequest(**{"iterations": 20, "folds": 3, **request}), context)
        return Ran(outcome, tmp_path / name / "outputs", said)

    return run


@pytest.fixture
def run_describe(tmp_path: Path) -> Callable[..., Ran]:
    """Describe an input, in a folder of its own."""

    def run(data: Input, *, name: str = "describe", seed: int = 0, **request: Any) -> Ran:
        context = Context(inputs={"data": data}, workspace=tmp_path / name, seed=seed)
        outcome = describe(DescribeRequest(**request), context)
        return Ran(outcome, tmp_path / name / "outputs", [])

    return run


@pytest.fixture
def predict() -> Callable[..., list[dict[str, str]]]:
    """Run the written inference.py as a child process on columns; return its output rows."""

    def run(folder: Path, columns: Columns, code: int = 0) -> list[dict[str, str]]:
        write_table(folder / "in.csv", columns)
        command = [sys.executable, "-I", "inference.py", "--model", "model.json"]
        done = subprocess.run(
            [*command, "--input", "in.csv", "--output", "out.csv"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        if code:
            return [{"message": done.stderr}]
        with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    return run


@pytest.fixture(name="numbers")
def numbers_fixture() -> Callable[..., np.ndarray]:
    """The maker of an array of one column of output rows."""
    return numbers


@pytest.fixture(name="waves")
def waves_fixture() -> Callable[..., dict[str, np.ndarray]]:
    """The maker of a table for regression."""
    return waves


@pytest.fixture(name="kinds")
def kinds_fixture() -> Callable[..., dict[str, Any]]:
    """The maker of a table for classification."""
    return kinds


def numbers(rows: Sequence[Mapping[str, str]], name: str) -> np.ndarray:
    """Return one column of output rows as float64."""
    return np.array([float(row[name]) for row in rows])


def waves(rows: int, seed: int = 0, noise: float = 0.1) -> dict[str, np.ndarray]:
    """A table with a curved law in two columns and one that says nothing."""
    draw = np.random.default_rng(seed)
    a, b, c = draw.uniform(0, 3, rows), draw.uniform(-1, 1, rows), draw.normal(0, 1, rows)
    return {"a": a, "b": b, "c": c, "y": np.sin(2 * a) + b * b + 5 + noise * draw.normal(size=rows)}


def kinds(rows: int, seed: int = 0, names: Sequence[str] = ("no", "yes")) -> dict[str, Any]:
    """A table whose classes are stripes of a slanted coordinate, with some noise."""
    draw = np.random.default_rng(seed)
    a, b = draw.uniform(0, 1, rows), draw.uniform(0, 1, rows)
    place = np.clip((a + b) / 2 + 0.03 * draw.normal(size=rows), 0, 0.999)
    return {"a": a, "b": b, "kind": [names[int(one * len(names))] for one in place]}
