"""The plugin: ``search`` for formulas, and any ``candidate`` of a search as a predictor."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec, hookimpl
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.request import (
    BaselineRequest,
    CandidateRequest,
    SearchRequest,
)

MEASURES = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std")
PREDICTOR = (
    OutputSpec("model.json", "model"),
    OutputSpec("inference.py", "inference.source.python"),
    OutputSpec("model_card.json", "model_card"),
    OutputSpec("minimal_example.py", "MINIMAL_EXAMPLE"),
    OutputSpec("usage_guide.md", "USAGE_GUIDE"),
)
METRICS = (
    *MEASURES,
    *(f"train_{name}" for name in MEASURES),
    "complexity",
    "stability",
    "mean_relative_rmse",
    "linear_relative_rmse",
    "weighted_relative_rmse",
    "reduced_chi_square",
)


def search(request: SearchRequest, context: Context) -> Outcome:
    """Find formulas for the target, choose one by validation rows, write it as a predictor.

    Metrics without prefix are those of the chosen formula on the rows that were
    kept back to choose it, with constants fitted on the others.
    """
    from sciharness_symbolic_regression.operation import run  # numpy, not needed to describe

    return run(request, context)


def candidate(request: CandidateRequest, context: Context) -> Outcome:
    """Write another formula of a search as a predictor, with its constants as they are.

    Metrics without prefix are those that the search had on its validation rows.
    """
    from sciharness_symbolic_regression.candidate import run  # numpy, not needed to describe

    return run(request, context)


def baseline(request: BaselineRequest, context: Context) -> Outcome:
    """Fit simple closed forms by least squares, where no search engine can be had.

    Metrics are those of ``search``. It needs ``permissions.symbolic_baseline``.
    """
    from sciharness_symbolic_regression.baseline.operation import run  # numpy, not to describe

    return run(request, context)


def dynamics(request: DynamicsRequest, context: Context) -> Outcome:
    """Find the law of motion of a variable along time, with sums over neighbours as columns.

    Metrics are those of ``search`` on rates of change; whole stretches of time
    are kept back to choose a formula by.
    """
    from sciharness_symbolic_regression.dynamics.operation import run  # numpy, scipy

    return run(request, context)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return all operations."""
    return (
        Capability(
            operation="search",
            run=search,
            request=SearchRequest,
            summary="Find formulas for a table's target, with range and credibility.",
            group="execution and training",
            inputs=(
                InputSpec("data", ("labelled_table", "DATASET"), summary="the visible rows"),
                InputSpec(
                    "guesses",
                    ("guesses",),
                    optional=True,
                    summary="formulas to start from and to score, one a line",
                ),
            ),
            outputs=(OutputSpec("formulas.json", "analysis_result"), *PREDICTOR),
            metrics=METRICS,
        ),
        Capability(
            operation="baseline",
            run=baseline,
            request=BaselineRequest,
            summary="Fit simple closed forms to a table's target; no search.",
            group="execution and training",
            inputs=(InputSpec("data", ("labelled_table", "DATASET"), summary="the visible rows"),),
            outputs=(OutputSpec("formulas.json", "analysis_result"), *PREDICTOR),
            metrics=METRICS,
            permission="symbolic_baseline",
        ),
        Capability(
            operation="dynamics",
            run=dynamics,
            request=DynamicsRequest,
            summary="Find the law of motion of a variable of a context.data directory.",
            group="execution and training",
            inputs=(
                InputSpec("data", ("context_data",), summary="a directory with a time axis"),
                InputSpec(
                    "guesses",
                    ("guesses",),
                    optional=True,
                    summary="formulas to start from and to score, one a line",
                ),
            ),
            outputs=(
                OutputSpec("formulas.json", "analysis_result"),
                OutputSpec("dynamics.json", "analysis_result"),
                OutputSpec("samples.csv", "DATASET"),
                *PREDICTOR,
            ),
            metrics=METRICS,
        ),
        Capability(
            operation="candidate",
            run=candidate,
            request=CandidateRequest,
            summary="Write another formula of a search as a predictor.",
            group="execution and training",
            inputs=(
                InputSpec("formulas", ("analysis_result",), summary="formulas.json of a search"),
                InputSpec("data", ("labelled_table", "DATASET"), summary="the visible rows"),
            ),
            outputs=PREDICTOR,
            metrics=(*MEASURES, *(f"train_{name}" for name in MEASURES), "complexity"),
        ),
    )
