"""The operation ``file_solver.sample``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness.plugin import Context, Outcome
from sciharness_file_solver.requests import SampleRequest
from sciharness_file_solver.sampling.asking import Asking
from sciharness_file_solver.sampling.design import (
    Ranges,
    at_random,
    disagreeing,
    filling,
    with_corners,
)
from sciharness_file_solver.sampling.table import (
    ADAPTIVE,
    CALIBRATION,
    DESIGN,
    Samples,
    write_samples,
)
from sciharness_file_solver.shipped.calling import Answer, SolverFailed
from sciharness_file_solver.solver import SolverInput, read_solver

Array = NDArray[np.float64]
ROUNDS = 4  # of adaptive choice: each learns from the one before
FEWEST_CALIBRATION = 40


def sample(request: SampleRequest, context: Context) -> Outcome:
    """Ask a solver for ``count`` cases and write ``samples.csv``.

    Raises:
        DataError: the solver cannot be called, or fails whatever it is asked.
        RequestError: the ranges do not fit its input columns.
    """
    solver = read_solver(context, case_seconds=request.case_seconds)
    ranges = Ranges.of(solver.inputs, request.ranges)
    asking = Asking.of(context, solver, request.count)
    try:
        samples = collect(request, context.seed, ranges, solver, asking)
    except SolverFailed as fault:
        raise DataError(
            str(fault), where="solver", hint="Try its command by hand on a small input."
        ) from fault
    finally:
        shutil.rmtree(asking.scratch, ignore_errors=True)
    write_samples(context.output("samples.csv", "DATASET"), samples)
    return _outcome(samples, asking)


def collect(
    request: SampleRequest, seed: int, ranges: Ranges, solver: SolverInput, asking: Asking
) -> Samples:
    """Return all cases: the even design, random ones for calibration, then adaptive ones."""
    calibration, adaptive = shares(request)
    even = request.count - calibration - adaptive
    parts = [
        _Part(DESIGN, with_corners(ranges, filling(ranges, even, request.design, seed))),
        _Part(CALIBRATION, at_random(ranges, calibration, seed + 1)),
    ]
    for part in parts:
        part.answers = asking.ask(part.rows)
    for number in range(ROUNDS):
        size = adaptive * (number + 1) // ROUNDS - adaptive * number // ROUNDS
        known = _learned(solver, [part for part in parts if part.stage != CALIBRATION])
        if not size or known.asked.shape[0] < 2 * len(ranges.names) or asking.stopped():
            continue
        rows = disagreeing(ranges, known.asked, known.answered, size, seed + 2 + number)
        part = _Part(ADAPTIVE, rows)
        part.answers = asking.ask(rows)
        parts.append(part)
    return _joined(solver, parts)


def shares(request: SampleRequest) -> tuple[int, int]:
    """Return how many cases are for calibration and how many are chosen adaptively."""
    quarter = round(request.count / 4)
    calibration = max(quarter, min(request.count // 2, FEWEST_CALIBRATION))
    return calibration, round(request.adaptive * (request.count - calibration))


class _Part:
    """Rows of one stage and what the solver said to them."""

    def __init__(self, stage: str, rows: Array) -> None:
        self.stage, self.rows = stage, rows
        self.answers: Sequence[Answer | None] = []


def _joined(solver: SolverInput, parts: Sequence[_Part]) -> Samples:
    """Return the cases that were asked; those that a stop left out are not among them."""
    cases = [
        (part.stage, row, answer)
        for part in parts
        for row, answer in zip(part.rows, part.answers, strict=True)
        if answer is not None
    ]
    blank = [float("nan")] * len(solver.outputs)
    return Samples(
        solver.inputs,
        solver.outputs,
        np.array([row for _, row, _ in cases]).reshape(-1, len(solver.inputs)),
        np.array([blank if isinstance(answer, str) else answer for _, _, answer in cases]).reshape(
            -1, len(solver.outputs)
        ),
        [stage for stage, _, _ in cases],
        [answer if isinstance(answer, str) else "" for _, _, answer in cases],
    )


def _learned(solver: SolverInput, parts: Sequence[_Part]) -> Samples:
    """Return the answered cases of some parts."""
    found = _joined(solver, parts)
    good = ~found.failed
    return Samples(
        found.inputs,
        found.outputs,
        found.asked[good],
        found.answered[good],
        [stage for stage, keep in zip(found.stages, good, strict=True) if keep],
        [""] * int(good.sum()),
    )


def _outcome(samples: Samples, asking: Asking) -> Outcome:
    failed = int(samples.failed.sum())
    notes = [f"{len(samples.stages)} cases, {asking.calls} of them asked of the solver now"]
    if failed:
        reason = next(reason for reason in samples.failures if reason)
        notes.append(f"{failed} failed and are kept as failures, the first: {reason}")
    if asking.stopped():
        notes.append("stopped before the whole design was asked")
    return Outcome(
        {"samples": float(len(samples.stages)), "failed_samples": float(failed)}, tuple(notes)
    )
