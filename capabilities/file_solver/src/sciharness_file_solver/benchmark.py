"""The operation ``file_solver.benchmark``: a hybrid measured against its solver, end to end."""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness.plugin import Context, Outcome
from sciharness.programs import Grants, Limits, child_environment, run_child
from sciharness_file_solver.requests import BenchmarkRequest
from sciharness_file_solver.shipped.calling import SolverFailed, solve, write_rows
from sciharness_file_solver.shipped.routing import BUNDLE, MODEL
from sciharness_file_solver.solver import SolverInput, read_solver
from sciharness_file_solver.telling import table, tell

Array = NDArray[np.float64]
Json = dict[str, Any]  # Any: JSON values

SCHEMA = "reference-solver-benchmark-v1"
SAME = 1e-9  # relative: the solver asked twice; texts of floats are exact
SIGMAS = 3.0
STATEMENT = (
    "The reference is the solver that the surrogate was trained on, and this program was written "
    "beside the surrogate: these values are reported, never trusted. A trusted error needs "
    "labelled data of independent origin."
)


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


def benchmark(request: BenchmarkRequest, context: Context) -> Outcome:
    """Compare a hybrid with its solver on fresh rows; write benchmark.json and predictions.csv.

    Raises:
        DataError: the predictor is no hybrid of this solver, or fails.
    """
    predictor = context.inputs["predictor"].path
    model = json.loads((predictor / "model.json").read_text("utf-8"))
    if model.get("kind") != "hybrid":
        raise DataError(
            "is no hybrid surrogate",
            where="predictor",
            hint="Bind what file_solver.train has made.",
        )
    solver = _solver(context, model)
    found = measure(request, context, predictor, model, solver)
    document = judged(found, model, request)
    context.output("benchmark.json", "benchmark_result").write_text(
        json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8"
    )
    context.output("predictions.csv", "DATASET").write_bytes(found.hybrid.lines)
    _tell(context, document)
    return Outcome(document["metrics"], _notes(document))


def _tell(context: Context, document: Json) -> None:
    metrics, timing, outside = document["metrics"], document["timing"], document["outside"]
    checks = [
        (one["claim"], one["cases"], one["faults"], "yes" if one["passed"] else "no")
        for one in document["checks"]
    ]
    tell(
        context,
        "Hybrid against its solver",
        text=[STATEMENT],
        facts={
            "queries": timing["queries"],
            "answered by the solver": timing["fall_backs"],
            "compared with the solver": timing["solver_cases"],
            "relative RMSE": metrics["relative_rmse"],
            "largest error over the target's RMS": metrics["max_relative_error"],
            "rows outside the domain": outside["rows"],
            "of these to the solver": outside["to_solver"],
        },
        tables=[
            table("Claims of the routing policy", ("claim", "cases", "faults", "held"), checks)
        ],
    )


def _solver(context: Context, model: Mapping[str, Any]) -> SolverInput:
    """Return the solver, which has to be the very one that the model was made from."""
    solver = read_solver(context, case_seconds=model["solver"]["case_seconds"])
    bundle = solver.bundle_sha256()
    if solver.setting.get("adapter") != model["solver"].get("adapter"):
        raise DataError(
            "is not the adapter that the surrogate was made with",
            where="adapter",
            hint="Bind the adapter that sampling and training were given.",
        )
    if bundle != model["solver"]["bundle_sha256"]:
        raise DataError(
            f"digest differs: {bundle[:12]}…, the surrogate is of "
            f"{model['solver']['bundle_sha256'][:12]}…",
            where="solver",
            hint="Bind the solver that the samples came from.",
        )
    return solver


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


def judged(found: Measured, model: Mapping[str, Any], request: BenchmarkRequest) -> Json:
    """Return benchmark.json: errors, routing and speed, with what each was measured on."""
    truth, hybrid = found.truth, found.hybrid
    known = np.isfinite(truth)
    if not known.any() or not (truth[known] ** 2).sum():
        raise DataError("the solver gave no number other than zero to compare with", where="solver")
    values, by_model = hybrid.values[found.compared], hybrid.by_model[found.compared]
    bounds = hybrid.bounds[found.compared]
    error = np.where(known, np.abs(values - truth), np.inf)
    size = math.sqrt(float((truth[known] ** 2).mean()))
    answered = known & by_model
    checks = _checks(found, model, error, by_model, bounds)
    solver_seconds = found.solver_seconds * len(found.queries) / len(found.compared)
    metrics = {
        "relative_rmse": _rms(error[known]) / size,
        "model_relative_rmse": _rms(error[answered]) / size,
        "max_relative_error": float(error[known].max()) / size,
        "answered_share": float(hybrid.by_model.mean()),
        "routing_policy_verified": float(all(check["passed"] for check in checks)),
        "hybrid_speedup": solver_seconds / hybrid.seconds,
    }
    return {
        "schema": SCHEMA,
        "trusted": False,
        "statement": STATEMENT,
        "solver_bundle_sha256": model["solver"]["bundle_sha256"],
        "metrics": metrics,
        "checks": checks,
        "timing": {
            "queries": len(found.queries),
            "hybrid_seconds": hybrid.seconds,
            "fall_backs": int((~hybrid.by_model).sum()),
            "solver_cases": len(found.compared),
            "solver_seconds": found.solver_seconds,
            "solver_seconds_for_all_queries": solver_seconds,
            "scaled": len(found.compared) < len(found.queries),
        },
        "outside": _outside(found),
        "failed_reference_cases": int((~known).sum()),
    }


def _outside(found: Measured) -> Json:
    """Return what leaving the domain costs: there every row is the solver's."""
    if found.outside is None:
        return {"rows": 0, "to_solver": 0, "hybrid_seconds": None}
    return {
        "rows": len(found.outside.values),
        "to_solver": int((~found.outside.by_model).sum()),
        "hybrid_seconds": found.outside.seconds,
    }


def _outside_note(outside: Json) -> str:
    rows = outside["rows"]
    if not rows:
        return "outside the domain the solver answers no row either"
    return (
        f"outside the domain: {outside['to_solver']} of {rows} rows went to the solver, "
        f"{outside['hybrid_seconds']:.2f} s in all, so nothing is gained there"
    )


def _rms(errors: Array) -> float:
    return math.sqrt(float((errors**2).mean())) if len(errors) else 0.0


def _checks(
    found: Measured,
    model: Mapping[str, Any],
    error: Array,
    by_model: NDArray[np.bool_],
    bounds: Array,
) -> list[Json]:
    """Return the claims of the routing policy, each with what was seen of it."""
    policy = model["policy"]
    rate, count = float(policy["miss_rate"]), int(by_model.sum())
    kept = sum(policy["cases"])
    missed = int((error[by_model] > bounds[by_model]).sum())
    # Both the compared cases and the calibration cases are a sample of the domain.
    allowed = rate
    if count and kept:
        allowed += SIGMAS * math.sqrt(rate * (1 - rate) * (1 / count + 1 / kept))
    known = np.isfinite(found.truth)
    by_solver = ~by_model & known
    truth = found.truth
    same = np.abs(error[by_solver]) <= SAME * np.abs(truth[by_solver])
    checks = [
        _check("answers lie within their bounds", count, missed, missed <= allowed * count),
        _check(
            "no answer has a bound above the tolerance", count, *_over(policy, by_model, bounds)
        ),
        _check("fall-backs are the solver's own answers", len(same), *_none(~same)),
    ]
    if found.outside is not None:
        out = found.outside
        odd = np.abs(out.values - found.outside_truth) > SAME * np.abs(found.outside_truth)
        checks += [
            _check("rows outside the domain go to the solver", len(odd), *_none(out.by_model)),
            _check("and get its own answers", len(odd), *_none(odd)),
        ]
    checks[0]["allowed_share"] = allowed
    return checks


def _over(policy: Mapping[str, Any], by_model: Any, bounds: Array) -> tuple[int, bool]:
    # upper - prediction loses the last digits of the bound.
    return _none(bounds[by_model] > policy["tolerance"] * (1 + 1e-6))


def _none(faults: Sequence[bool] | Any) -> tuple[int, bool]:  # Any: an array of truths
    count = int(np.sum(faults))
    return count, count == 0


def _check(claim: str, cases: int, faults: int, passed: bool) -> Json:
    return {"claim": claim, "cases": cases, "faults": faults, "passed": bool(passed)}


def _notes(document: Json) -> tuple[str, ...]:
    metrics, timing = document["metrics"], document["timing"]
    notes = [
        f"{timing['queries']} queries: hybrid {timing['hybrid_seconds']:.2f} s with "
        f"{timing['fall_backs']} fall-backs, solver "
        f"{timing['solver_seconds_for_all_queries']:.1f} s"
        + (f" (scaled from {timing['solver_cases']} cases)" if timing["scaled"] else "")
        + f": {metrics['hybrid_speedup']:.1f} times",
        _outside_note(document["outside"]),
        STATEMENT,
    ]
    failed = [one["claim"] for one in document["checks"] if not one["passed"]]
    if failed:
        notes.append(f"routing not verified: {'; '.join(failed)}")
    return tuple(notes)
