"""Refit and test: the constants fitted again on some of the new rows, judged on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray
from scipy.optimize import least_squares

from sciharness import Context, Outcome, read_table
from sciharness.errors import DataError
from sciharness_publisher.evaluation import evaluate
from sciharness_publisher.expression import (
    Binary,
    Call,
    Expression,
    Negative,
    Number,
    parse,
    render,
)
from sciharness_verification.hypotheses import Record, artifact_ids, read, write

Array = NDArray[np.float64]

FEWEST_ROWS = 10
# What an undefined value costs: the search for constants turns back.
_HUGE = 1e30


@frozen
class Rows:
    """Verification rows: columns by symbol and the target, each of shape (rows,)."""

    columns: Mapping[str, Array]
    target: Array

    def part(self, chosen: NDArray[np.bool_]) -> Rows:
        """Return the rows where ``chosen`` (rows,) is true."""
        return Rows({name: one[chosen] for name, one in self.columns.items()}, self.target[chosen])


def carry_out(context: Context) -> Outcome:
    """Carry out an approved plan and write result and evidence."""
    hypothesis = read(context.inputs["hypothesis"], "hypothesis-v1")
    plan = read(context.inputs["plan"], "verification-plan-v1")
    _check_lineage(plan, context)
    rows = _rows(context, hypothesis)
    tree = parse(hypothesis["formula"], set(rows.columns))
    refitted, tested = _halves(len(rows.target), plan)
    places = fitted_places(tree, hypothesis["constants"])
    again = refit(tree, rows.part(refitted), places)
    values = {
        "verification_relative_rmse": relative_rmse(tree, rows),
        "refit_relative_rmse": relative_rmse(again, rows.part(tested)),
        "constants_confirmed": _confirmed(tree, again, hypothesis["constants"], places),
    }
    limits = plan["accept"]
    supports = all(values[name] <= limit for name, limit in limits.items())
    metrics = {**values, "hypothesis_verified": 1.0 if supports else 0.0}
    _write(context, hypothesis, metrics, supports, render(again), rows, refitted)
    verdict = "holds" if supports else "does not hold"
    return Outcome(metrics=metrics, notes=(f"the hypothesis {verdict} on new rows",))


def _check_lineage(plan: Record, context: Context) -> None:
    named, given = plan["hypothesis"], artifact_ids(context.inputs["hypothesis"])
    if named and given and named != given:
        raise DataError(
            "the plan was made for another hypothesis",
            where="verification_plan.json",
            hint="Plan anew for this hypothesis and have the plan approved.",
        )


def _rows(context: Context, hypothesis: Record) -> Rows:
    arrays = read_table(context.inputs["data"])
    if arrays.y is None or len(arrays.y) < FEWEST_ROWS:
        count = 0 if arrays.y is None else len(arrays.y)
        raise DataError(
            f"{count} verification rows",
            where="data",
            hint=f"A refit needs {FEWEST_ROWS}; raise holdout.verification.",
        )
    symbols = {column: symbol for symbol, column in hypothesis["symbols"].items()}
    places = {name: place for place, name in enumerate(arrays.features)}
    columns = {
        symbols.get(name, name): arrays.X[:, places[name]] for name in hypothesis["features"]
    }
    return Rows(columns, np.asarray(arrays.y, dtype=np.float64))


def _halves(count: int, plan: Record) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    order = np.random.default_rng(int(plan["seed"])).permutation(count)
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[order[: max(2, round(count * float(plan["refit_share"])))]] = True
    return chosen, ~chosen


def relative_rmse(tree: Expression, rows: Rows) -> float:
    """Return RMSE / RMS of the true values; infinite where the formula is undefined.

    Raises:
        DataError: all true values are zero, so that the metric is undefined.
    """
    with np.errstate(all="ignore"):
        residual = np.broadcast_to(evaluate(tree, rows.columns), rows.target.shape) - rows.target
    scale = float(np.sqrt(np.mean(rows.target**2)))
    if scale == 0.0:
        raise DataError("all true values are zero, so relative_rmse is undefined", where="data")
    error = float(np.sqrt(np.mean(residual**2))) / scale
    if not np.isfinite(error):
        raise DataError("the formula is undefined on some verification rows", where="hypothesis")
    return error


def fitted_places(tree: Expression, intervals: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return which numbers of a formula were fitted: those that the intervals are of.

    Others are part of its structure, as an exponent, or a plain value that the search
    recognised. Where the intervals name other numbers than the formula has, all count.
    """
    numbers = list(map(abs, constants(tree)))
    places: list[int] = []
    for interval in intervals:
        start = places[-1] + 1 if places else 0
        if abs(interval["value"]) not in numbers[start:]:
            return list(range(len(numbers)))
        places.append(numbers.index(abs(interval["value"]), start))
    return places


def refit(tree: Expression, rows: Rows, places: Sequence[int]) -> Expression:
    """Return the formula with the numbers at some places fitted again by least squares."""
    numbers = np.array(constants(tree))
    if not places:
        return tree
    start = numbers[list(places)]
    scales = np.where(start == 0.0, 1.0, np.abs(start))

    def changed(theta: Array) -> Expression:
        together = numbers.copy()
        together[list(places)] = theta * scales
        return with_constants(tree, together)

    def residuals(theta: Array) -> Array:
        with np.errstate(all="ignore"):
            found = evaluate(changed(theta), rows.columns) - rows.target
        return np.nan_to_num(
            np.broadcast_to(found, rows.target.shape), nan=1e30, posinf=1e30, neginf=-1e30
        )

    found = least_squares(residuals, start / scales, method="trf", max_nfev=200)
    return changed(found.x)


def constants(tree: Expression) -> list[float]:
    """Return the constants of a formula in the order of its text."""
    if isinstance(tree, Number):
        return [tree.value]
    return [value for child in _children(tree) for value in constants(child)]


def with_constants(tree: Expression, values: Sequence[float] | Array) -> Expression:
    """Return the formula with other constants, in the order of its text."""
    remaining = iter(float(value) for value in values)

    def rebuilt(node: Expression) -> Expression:
        if isinstance(node, Number):
            return Number(next(remaining))
        if isinstance(node, Negative):
            return Negative(rebuilt(node.operand))
        if isinstance(node, Binary):
            left = rebuilt(node.left)
            return evolve(node, left=left, right=rebuilt(node.right))
        if isinstance(node, Call):
            return evolve(node, argument=rebuilt(node.argument))
        return node

    return rebuilt(tree)


def _children(tree: Expression) -> tuple[Expression, ...]:
    if isinstance(tree, Negative):
        return (tree.operand,)
    if isinstance(tree, Binary):
        return (tree.left, tree.right)
    if isinstance(tree, Call):
        return (tree.argument,)
    return ()


def _confirmed(
    tree: Expression,
    again: Expression,
    intervals: Sequence[Mapping[str, Any]],
    places: Sequence[int],
) -> float:
    """Return the share of fitted constants whose refitted value lies in their interval."""
    if not intervals or len(places) != len(intervals):
        return 1.0 if not intervals else 0.0
    before, after = constants(tree), constants(again)
    inside = 0
    for place, interval in zip(places, intervals, strict=True):
        # a minus before a term belongs to its constant, not to the number in the text
        turned = -1.0 if before[place] * interval["value"] < 0 else 1.0
        inside += _inside(turned * after[place], interval["low"], interval["high"])
    return inside / len(intervals)


def _inside(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _write(
    context: Context,
    hypothesis: Record,
    metrics: Mapping[str, float],
    supports: bool,
    formula: str,
    rows: Rows,
    refitted: NDArray[np.bool_],
) -> None:
    result = {
        "schema": "verification-result-v1",
        "plan": artifact_ids(context.inputs["plan"]),
        "hypothesis": artifact_ids(context.inputs["hypothesis"]),
        "statement": hypothesis["statement"],
        "metrics": dict(metrics),
        "verified": supports,
        "refitted_formula": formula,
        "rows": {"all": len(rows.target), "refitted": int(refitted.sum())},
    }
    write(context, "verification_result.json", "verification_result", result)
    evidence = {
        "schema": "evidence-v1",
        "kind": "refit on rows that the search did not use",
        "supports": supports,
        "hypothesis": artifact_ids(context.inputs["hypothesis"]),
        "data": artifact_ids(context.inputs["data"]),
        "metrics": dict(metrics),
    }
    write(context, "evidence.json", "evidence", evidence)
