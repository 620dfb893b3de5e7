"""The plugin: ``search`` and ``dynamics`` for formulas, ``baseline``, ``candidate``."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import (
    PREDICTOR_OUTPUTS,
    Capability,
    Context,
    InputSpec,
    Outcome,
    OutputSpec,
    hookimpl,
)
from sciharness_symbolic_regression.dynamics.request import DynamicsRequest
from sciharness_symbolic_regression.request import (
    BaselineRequest,
    CandidateRequest,
    SearchRequest,
)

MEASURES = ("relative_rmse", "r2", "rmse", "mae", "max_abs_error", "nrmse_std")
CANDIDATE_METRICS = (*MEASURES, *(f"train_{name}" for name in MEASURES), "complexity")
METRICS = (
    *CANDIDATE_METRICS,
    "stability",
    "mean_relative_rmse",
    "linear_relative_rmse",
    "weighted_relative_rmse",
    "reduced_chi_square",
)

ROWS = InputSpec("data", ("labelled_table", "DATASET"), summary="the visible rows")
GUESSES = InputSpec(
    "guesses",
    ("guesses",),
    optional=True,
    summary="formulas to start from and to score, one a line",
)
FORMULAS = OutputSpec("formulas.json", "analysis_result")


def search(request: SearchRequest, context: Context) -> Outcome:
    """Find formulas for the target, choose one by validation rows, write it as a predictor.

    Metrics without prefix are those of the chosen formula on the rows that were
    kept back to choose it, with constants fitted on the others.
    """
    from sciharness_symbolic_regression.operation import run  # numpy, not needed to describe

    return run(request, context)


SEARCH = Capability(
    operation="search",
    run=search,
    request=SearchRequest,
    summary="Find formulas for a table's target, with range and credibility.",
    group="execution and training",
    inputs=(
        ROWS,
        GUESSES,
    ),
    outputs=(FORMULAS, *PREDICTOR_OUTPUTS),
    metrics=METRICS,
)


def candidate(request: CandidateRequest, context: Context) -> Outcome:
    """Write another formula of a search as a predictor, with its constants as they are.

    Metrics without prefix are those that the search had on its validation rows.
    """
    from sciharness_symbolic_regression.candidate import run  # numpy, not needed to describe

    return run(request, context)


CANDIDATE = Capability(
    operation="candidate",
    run=candidate,
    request=CandidateRequest,
    summary="Write another formula of a search as a predictor.",
    group="execution and training",
    inputs=(
        InputSpec("formulas", ("analysis_result",), summary="formulas.json of a search"),
        ROWS,
    ),
    outputs=PREDICTOR_OUTPUTS,
    metrics=CANDIDATE_METRICS,
)


def baseline(request: BaselineRequest, context: Context) -> Outcome:
    """Fit simple closed forms by least squares, where no search engine can be had.

    Metrics are those of ``search``. It needs ``permissions.symbolic_baseline``.
    """
    from sciharness_symbolic_regression.baseline.operation import run  # numpy, not to describe

    return run(request, context)


BASELINE = Capability(
    operation="baseline",
    run=baseline,
    request=BaselineRequest,
    summary="Fit simple closed forms to a table's target; no search.",
    group="execution and training",
    inputs=(ROWS,),
    outputs=(FORMULAS, *PREDICTOR_OUTPUTS),
    metrics=METRICS,
    permission="symbolic_baseline",
)


def dynamics(request: DynamicsRequest, context: Context) -> Outcome:
    """Find the law of motion of a variable along time, with sums over neighbours as columns.

    Metrics are those of ``search`` on rates of change; whole stretches of time
    are kept back to choose a formula by.
    """
    from sciharness_symbolic_regression.dynamics.operation import run  # numpy, scipy

    return run(request, context)


DYNAMICS = Capability(
    operation="dynamics",
    run=dynamics,
    request=DynamicsRequest,
    summary="Find the law of motion of a variable of a context.data directory.",
    group="execution and training",
    inputs=(
        InputSpec("data", ("context_data",), summary="a directory with a time axis"),
        GUESSES,
    ),
    outputs=(
        FORMULAS,
        OutputSpec("dynamics.json", "analysis_result"),
        OutputSpec("samples.csv", "DATASET"),
        *PREDICTOR_OUTPUTS,
    ),
    metrics=METRICS,
)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return all operations."""
    return (SEARCH, BASELINE, DYNAMICS, CANDIDATE)
