"""A generated plugin as a step of a run: the verified bytes in a child process of their own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from sciharness.errors import DataError
from sciharness.generated.adapters import (
    OUTPUT,
    SOLVE_SECONDS,
    adapter_files,
    card_of_adapter,
    solve_in,
)
from sciharness.generated.packages import card_of, predictor_files
from sciharness.generated.predicting import lay_out, refusals, strict_rows
from sciharness.runtime.inference import INFERENCE_SECONDS
from sciharness.runtime.inference import predict as run_predictor
from sciharness.workers.outcome import Produced
from sciharness.workers.pool import Job, JobResult

PREDICTIONS = "predictions.csv"


def predict_job(job: Job, cancelled: Callable[[], bool]) -> JobResult:
    """Predict the rows of the input ``data`` and return them as ``predictions.csv``.

    Raises:
        DataError: the table lacks a column of the card.
        ActionFailed: the predictor refused a row or ended badly.
    """
    began = time.monotonic()
    if job.package is None:
        raise DataError("a predictor without its package", where=str(job.pin))
    package = job.package.package
    files = predictor_files(package.files, str(package.entry_point))
    card = card_of(files, job.pin.plugin_id)
    given = job.inputs["data"]
    scratch = _fresh(job.workspace / "predict")
    name = str(given.meta.get("file_name", given.path.name))
    rows, notes = strict_rows(given.path, card, scratch, name)
    predictor = lay_out(files, scratch / "predictor")
    with refusals(name):
        made = run_predictor(
            predictor,
            rows,
            scratch,
            threads=job.workers,
            seconds=INFERENCE_SECONDS if job.wall_limit is None else job.wall_limit,
            cancelled=cancelled,
        )
    target = _fresh(job.workspace / "outputs") / PREDICTIONS
    os.replace(made.path, target)
    return JobResult(
        metrics={},
        artifacts=(Produced(PREDICTIONS, "DATASET", target),),
        notes=tuple(notes),
        usage={},
        seconds=time.monotonic() - began,
        cpu_seconds=made.cpu_seconds,
    )


def solve_job(job: Job, cancelled: Callable[[], bool]) -> JobResult:
    """Solve the input ``data`` by an installed adapter and return ``solved.csv``.

    Raises:
        ActionFailed: the adapter ended with an error.
    """
    began = time.monotonic()
    if job.package is None:
        raise DataError("an adapter without its package", where=str(job.pin))
    package = job.package.package
    files = adapter_files(package.files, str(package.entry_point))
    made, done = solve_in(
        files,
        job.inputs["data"].path,
        _fresh(job.workspace / "solve"),
        threads=job.workers,
        seconds=SOLVE_SECONDS if job.wall_limit is None else job.wall_limit,
        cancelled=cancelled,
    )
    target = _fresh(job.workspace / "outputs") / OUTPUT
    os.replace(made, target)
    table = bool(card_of_adapter(files).get("table"))
    return JobResult(
        metrics={},
        artifacts=(Produced(OUTPUT, "DATASET" if table else "OTHER", target),),
        notes=(),
        usage={},
        seconds=time.monotonic() - began,
        cpu_seconds=done.cpu_seconds,
    )


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
