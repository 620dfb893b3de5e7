"""The operation ``file_solver.benchmark``: a hybrid measured against its solver, end to end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sciharness.errors import DataError
from sciharness.plugin import Context, Outcome
from sciharness_file_solver.benchmark.judging import STATEMENT, Json, judged
from sciharness_file_solver.benchmark.measuring import measure
from sciharness_file_solver.requests import BenchmarkRequest
from sciharness_file_solver.solver import SolverInput, read_solver
from sciharness_file_solver.telling import table, tell


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
    document = judged(found, model)
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


def _outside_note(outside: Json) -> str:
    rows = outside["rows"]
    if not rows:
        return "outside the domain the solver answers no row either"
    return (
        f"outside the domain: {outside['to_solver']} of {rows} rows went to the solver, "
        f"{outside['hybrid_seconds']:.2f} s in all, so nothing is gained there"
    )
