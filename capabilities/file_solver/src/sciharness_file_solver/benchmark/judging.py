"""Judging: what the measurements say of errors, of the routing policy and of speed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciharness.errors import DataError
from sciharness_file_solver.benchmark.measuring import Array, Measured

Json = dict[str, Any]  # Any: JSON values

SCHEMA = "reference-solver-benchmark-v1"
SAME = 1e-9  # relative: the solver asked twice; texts of floats are exact
SIGMAS = 3.0
STATEMENT = (
    "The reference is the solver that the surrogate was trained on, and this program was written "
    "beside the surrogate: these values are reported, never trusted. A trusted error needs "
    "labelled data of independent origin."
)


def judged(found: Measured, model: Mapping[str, Any]) -> Json:
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
