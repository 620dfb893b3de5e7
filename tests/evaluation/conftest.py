"""A small stand-in for the kernel: two CSV files and the context of an evaluator."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from sciharness import Context, Input, Outcome
from sciharness_evaluation.plugin import harness_evaluators


@frozen
class Judged:
    """Outcome of an evaluation and the record it wrote."""

    outcome: Outcome
    record: dict[str, Any]
    written: bytes


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write rows as strict CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def judge_files(
    folder: Path, operation: str, predictions: Path, labels: Path, meta: dict[str, Any]
) -> Judged:
    """Run an evaluator of the plugin on two files."""
    evaluator = next(one for one in harness_evaluators() if one.operation == operation)
    context = Context(
        inputs={
            "predictions": Input("predictions", predictions, "DATASET"),
            "labels": Input("labels", labels, "DATASET", meta={"task": operation, **meta}),
        },
        workspace=folder,
    )
    outcome = evaluator.run(evaluator.request(), context)
    written = (folder / "outputs" / "evaluation.json").read_bytes()
    return Judged(outcome, json.loads(written), written)


@pytest.fixture(name="judge")
def judge_fixture(tmp_path: Path) -> Callable[..., Judged]:
    """Return a function that judges predicted against true cells of rows 0, 1, 2, ..."""

    def judge(
        operation: str,
        predicted: Sequence[object],
        true: Sequence[object],
        columns: dict[str, Sequence[object]] | None = None,
        **meta: object,
    ) -> Judged:
        more = columns or {}
        predictions = write_csv(
            tmp_path / "predictions.csv",
            ["sample_id", "prediction", *more],
            zip(range(len(predicted)), predicted, *more.values(), strict=True),
        )
        labels = write_csv(tmp_path / "labels.csv", ["sample_id", "target"], enumerate(true))
        return judge_files(tmp_path, operation, predictions, labels, meta)

    return judge


@pytest.fixture(name="judge_texts")
def judge_texts_fixture(tmp_path: Path) -> Callable[..., Judged]:
    """Return a function that judges the very bytes of two files as a regression."""

    def judge(predictions: str | bytes, labels: str) -> Judged:
        raw = predictions if isinstance(predictions, bytes) else predictions.encode()
        (tmp_path / "predictions.csv").write_bytes(raw)
        (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
        places = (tmp_path / "predictions.csv", tmp_path / "labels.csv")
        return judge_files(tmp_path, "regression", *places, {})

    return judge
