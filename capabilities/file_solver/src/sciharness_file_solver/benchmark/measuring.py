"""Measuring: hybrid and solver run on the same fresh rows, inside the domain and beyond it."""

from __future__ import annotations

import csv
import math
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness.plugin import Context
from sciharness.programs import Grants, Limits, child_environment, run_child
from sciharness_file_solver.requests import BenchmarkRequest
from sciharness_file_solver.shipped.calling import SolverFailed, solve, write_rows
from sciharness_file_solver.shipped.routing import BUNDLE, MODEL
from sciharness_file_solver.solver import SolverInput

Array = NDArray[np.float64]


@frozen(eq=False)
class Predicted:
    """OUTPUT of a hybrid: values, error bounds and who answered, with the seconds it took."""

    values: Array
    bounds: Array
    by_model: NDArray[np.bool_]
    lines: bytes
    seconds: float


@frozen(eq=False)
class Measured:
    """What was measured: the hybrid on all queries, the solver on some, both outside."""

    queries: Array
    compared: NDArray[np.int_]
    hybrid: Predicted
    truth: Array
    solver_seconds: float
    outside: Predicted | None
    outside_truth: Array


def measure(
    request: BenchmarkRequest,
    context: Context,
    predictor: Path,
    model: Mapping[str, Any],
    solver: SolverInput,
) -> Measured:
    """Run hybrid and solver on rows that neither training nor calibration has seen."""
    draw = np.random.default_rng([context.seed, 20_021])  # apart from every seed of sampling
    low, high = (np.array([one[end] for one in model["columns"]]) for end in ("min", "max"))
    asked = low + draw.random((request.queries, len(low))) * (high - low)
    beyond = _beyond(draw, low, high, request.outside)
    some = np.sort(draw.permutation(len(asked))[: request.compared])
    scratch = context.workspace / "benchmark"
    try:
        context.progress(0.05, f"hybrid: {len(asked)} queries")
        hybrid = predict(predictor, model, asked, scratch / "hybrid")
        context.progress(0.2, f"solver: {len(some)} of them")
        truth, seconds = _solved(context, solver, model, asked[some], scratch / "solver")
        answers, _ = _solved(context, solver, model, beyond, scratch / "beyond", hopeful=False)
        answered = np.isfinite(answers)
        outside = None
        if answered.any():
            outside = predict(predictor, model, beyond[answered], scratch / "outside")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Measured(asked, some, hybrid, truth, seconds, outside, answers[answered])


def _beyond(draw: np.random.Generator, low: Array, high: Array, count: int) -> Array:
    """Return rows with one column up to a fifth of its range beyond an end."""
    rows = low + draw.random((count, len(low))) * (high - low)
    width = high - low
    for row, values in enumerate(rows):
        column = row % len(low)
        far = (0.001 + 0.2 * draw.random()) * (width[column] or 1.0)
        values[column] = high[column] + far if row // len(low) % 2 else low[column] - far
    return rows


def _solved(
    context: Context,
    solver: SolverInput,
    model: Mapping[str, Any],
    rows: Array,
    scratch: Path,
    *,
    hopeful: bool = True,
) -> tuple[Array, float]:
    """Return the solver's numbers, NaN for failures, and the seconds of all calls together."""
    began = time.monotonic()
    try:
        answers = solve(
            solver.setting,
            solver.root,
            scratch,
            rows.tolist(),
            context.workers,
            lambda places, found: context.charge(solver_calls=len(found)),
            lambda: context.cancelled,
        )
    except SolverFailed as fault:
        if hopeful:
            raise DataError(str(fault), where="solver") from fault
        return np.full(len(rows), np.nan), time.monotonic() - began
    seconds = time.monotonic() - began
    output = solver.outputs.index(model["target"]["name"])
    numbers = [answer[output] if isinstance(answer, list) else math.nan for answer in answers]
    return np.array(numbers), seconds


def predict(predictor: Path, model: Mapping[str, Any], rows: Array, scratch: Path) -> Predicted:
    """Run inference.py of the hybrid as its users do, and time it from start to end."""
    scratch.mkdir(parents=True)
    copy, source, output = scratch / "predictor", scratch / "input.csv", scratch / "output.csv"
    copy.mkdir()
    for name in ("model.json", "inference.py", BUNDLE):
        shutil.copyfile(predictor / name, copy / name)
    write_rows(source, [column["name"] for column in model["columns"]], rows.tolist())
    words = ["--model", copy / "model.json", "--input", source, "--output", output]
    result = run_child(
        [sys.executable, "-I", "-B", str(copy / "inference.py"), *map(str, words)],
        cwd=scratch,
        env=child_environment(scratch, 1),
        limits=Limits(),
        grants=Grants(write=(scratch,), execute=(scratch,)),
    )
    if result.returncode != 0 or not output.is_file():
        said = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise DataError(f"the hybrid failed: {said[-1]}", where="predictor")
    return _read(output, len(rows), result.seconds)


def _read(output: Path, rows: int, seconds: float) -> Predicted:
    lines = output.read_bytes()
    table = list(csv.DictReader(lines.decode("utf-8").splitlines()))
    if len(table) != rows:
        raise DataError(f"{len(table)} predictions for {rows} rows", where="predictor")
    values = np.array([float(row["prediction"]) for row in table])
    upper = np.array([float(row["upper"]) for row in table])
    by_model = np.array([row["routed"] == MODEL for row in table])
    return Predicted(values, upper - values, by_model, lines, seconds)
