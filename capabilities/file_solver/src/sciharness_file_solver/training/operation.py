"""The operation ``file_solver.train``."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sciharness.errors import DataError, RequestError
from sciharness.plugin import Context, Outcome
from sciharness_file_solver.requests import TrainRequest
from sciharness_file_solver.sampling.table import (
    ADAPTIVE,
    CALIBRATION,
    DESIGN,
    Samples,
    read_samples,
)
from sciharness_file_solver.solver import SolverInput, read_solver
from sciharness_file_solver.telling import table, tell
from sciharness_file_solver.training.families import Box, Surrogate
from sciharness_file_solver.training.hybrid import HybridModel, write_hybrid
from sciharness_file_solver.training.policy import Policy, fewest, measured, regions
from sciharness_file_solver.training.selection import Compared, choose, compare
from sciharness_publisher.predictor import Card, CardMetric

Array = NDArray[np.float64]
LIBRARIES = ("numpy", "scipy", "scikit-learn", "sciharness-publisher", "sciharness-file-solver")


@frozen(eq=False)
class Trained:
    """A surrogate with its policy, and what kept cases say of them."""

    surrogate: Surrogate
    compared: Sequence[Compared]
    chosen: Compared
    policy: Policy
    box: Box
    share: float
    relative_rmse: float
    kept: int


def train(request: TrainRequest, context: Context) -> Outcome:
    """Train a surrogate of a solver and the policy that says where it may answer.

    Raises:
        DataError: the table holds no samples of this solver, or too few.
        RequestError: the target is no output of the solver.
    """
    solver = read_solver(context, case_seconds=request.case_seconds)
    given = context.inputs["data"].path
    samples = read_samples(given, solver.inputs, solver.outputs)
    target = request.target or solver.outputs[0]
    if target not in solver.outputs:
        raise RequestError(
            f"{target!r} is no output of the solver",
            where="with.target",
            hint=f"It has {', '.join(solver.outputs)}.",
        )
    trained = fit(request, context, samples, solver.outputs.index(target))
    model = _model(trained, solver, target, solver.write_bundle(context))
    digest = hashlib.sha256(given.read_bytes()).hexdigest()
    write_hybrid(context, model, _card(trained, digest, context.seed), trained.surrogate.part)
    _tell(context, trained, target)
    return _outcome(trained)


def fit(request: TrainRequest, context: Context, samples: Samples, output: int) -> Trained:
    """Choose, fit and calibrate on the samples of one output."""
    began = time.monotonic()

    def stopped() -> bool:
        limit = context.time_limit
        return context.cancelled or (limit is not None and time.monotonic() - began > limit)

    learning, kept = samples.of(DESIGN, ADAPTIVE), samples.of(CALIBRATION)
    _check_enough(int(kept.sum()), request)
    good = learning & ~samples.failed
    box = Box(samples.inputs, samples.asked.min(axis=0), samples.asked.max(axis=0))
    rows, values = samples.asked[good], samples.answered[good, output]
    context.progress(0.1, "comparing surrogates")
    compared = compare(
        box,
        rows,
        values,
        families=request.families,
        folds=request.folds,
        seed=context.seed,
        stopped=stopped,
    )
    chosen = choose(compared)
    context.progress(0.8, f"fitting {chosen.setting.family}", relative_rmse=chosen.relative_rmse)
    surrogate = chosen.setting.fit(box, rows, values, context.seed)
    errors = np.full(len(samples.asked), np.inf)
    errors[good] = np.abs(chosen.predicted - values)
    size = float(np.sqrt((values**2).mean()))
    policy = regions(
        box,
        samples.asked[learning],
        errors[learning],
        int(kept.sum()),
        request.tolerance * size,
        request.miss_rate,
        context.seed,
    )
    asked, truth = samples.asked[kept], samples.answered[kept, output]
    misses = np.where(np.isfinite(truth), np.abs(surrogate.predict(asked) - truth), np.inf)
    policy = measured(policy, asked, misses)
    usual = misses[np.isfinite(misses)]
    return Trained(
        surrogate,
        compared,
        chosen,
        policy,
        box,
        share=float(policy.answered(asked).mean()),
        relative_rmse=float(np.sqrt((usual**2).mean())) / size if size else 0.0,
        kept=len(usual),
    )


def _tell(context: Context, trained: Trained, target: str) -> None:
    policy = trained.policy
    compared = [
        (one.setting.family.replace("_", " "), one.setting.words, one.relative_rmse)
        for one in trained.compared
    ]
    found = [
        (place + 1, policy.cases[leaf], bound if bound is not None else "unknown", who)
        for place, leaf in enumerate(policy.leaves)
        for bound in (policy.bound[leaf],)
        for who in ("surrogate" if policy.answers(leaf) else "solver",)
    ]
    tell(
        context,
        f"Surrogate of {target}",
        facts={
            "chosen": f"{trained.chosen.setting.family}, {trained.chosen.setting.words}",
            "tolerance": policy.tolerance,
            "share of the domain it may answer": trained.share,
        },
        tables=[
            table("Compared by cross-validation", ("kind", "setting", "relative RMSE"), compared),
            table(
                f"Regions and their error bounds (miss rate {policy.miss_rate:g})",
                ("region", "kept cases", "bound", "answered by"),
                found,
            ),
        ],
    )


def _check_enough(kept: int, request: TrainRequest) -> None:
    least = fewest(request.miss_rate)
    if kept < least:
        raise DataError(
            f"{kept} calibration cases; a miss rate of {request.miss_rate:g} needs {least}",
            where="data",
            hint="Raise `count` of file_solver.sample, or `miss_rate`.",
        )


def _model(trained: Trained, solver: SolverInput, target: str, bundle: str) -> HybridModel:
    setting = trained.chosen.setting
    return HybridModel(
        target=target,
        columns=trained.box.columns(),
        surrogate=trained.surrogate.document(target, trained.box),
        policy=trained.policy.document(),
        solver={**solver.setting, "bundle_sha256": bundle, "files": solver.files},
        words=f"{setting.family.replace('_', ' ')}, {setting.words}",
    )


def _card(trained: Trained, digest: str, seed: int) -> Card:
    setting = trained.chosen.setting
    return Card(
        training_sha256=digest,
        seed=seed,
        metrics=(
            CardMetric("relative_rmse", trained.relative_rmse, "validation", trained.kept),
            CardMetric("answered_share", trained.share, "validation", trained.kept),
        ),
        versions={"python": platform.python_version(), **{one: version(one) for one in LIBRARIES}},
        limits=(
            f"Surrogate: {setting.family.replace('_', ' ')}, {setting.words}; errors are against "
            "the solver, not against nature.",
            "Rows outside the ranges, and rows in regions without a small enough error bound, are "
            "answered by the solver.",
        ),
    )


def _outcome(trained: Trained) -> Outcome:
    best = trained.chosen
    notes = [
        f"{one.setting.family} ({one.setting.words}): relative RMSE {one.relative_rmse:.3g}"
        for one in trained.compared
    ]
    notes.append(
        f"chosen: {best.setting.family} ({best.setting.words}); it may answer "
        f"{100 * trained.share:.1f} % of the domain, the solver answers the rest"
    )
    found = {"validation_relative_rmse": trained.relative_rmse, "answered_share": trained.share}
    return Outcome(found, tuple(notes))
