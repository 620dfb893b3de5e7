"""What this distribution registers: sampling, training, benchmark and adapter of a solver."""

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
from sciharness_file_solver.requests import (
    AdapterRequest,
    BenchmarkRequest,
    SampleRequest,
    TrainRequest,
)

_SOLVER = InputSpec(
    "solver", ("reference_solver",), summary="folder of the solver, with a `solver:` block"
)
_ADAPTER = InputSpec(
    "adapter",
    ("source.python",),
    optional=True,
    summary="a program of file-solver-adapter-v1, for a solver that reads or writes no CSV",
)
_PREDICTOR = (
    *PREDICTOR_OUTPUTS,
    OutputSpec("solver.tar", "solver_bundle"),
    OutputSpec("report_part.json", "report_part"),
)


# Each operation's module is imported when it runs: numpy and more, not needed to describe.
def sample(request: SampleRequest, context: Context) -> Outcome:
    """Ask the solver for cases of a design."""
    from sciharness_file_solver.sampling.operation import sample as run

    return run(request, context)


SAMPLE = Capability(
    operation="sample",
    run=sample,
    request=SampleRequest,
    summary="Ask a solver for cases of a design, side by side; failures are kept as data.",
    group="domain experiments",
    inputs=(_SOLVER, _ADAPTER),
    outputs=(OutputSpec("samples.csv", "DATASET"),),
    metrics=("samples", "failed_samples"),
    programs=True,
    charges=("solver_calls",),
)


def train(request: TrainRequest, context: Context) -> Outcome:
    """Train a surrogate with the solver as fall-back."""
    from sciharness_file_solver.training.operation import train as run

    return run(request, context)


TRAIN = Capability(
    operation="train",
    run=train,
    request=TrainRequest,
    summary="Train a surrogate that answers where its measured error allows it, with the "
    "solver as fall-back.",
    group="execution and training",
    inputs=(
        InputSpec("data", ("DATASET",), summary="samples.csv of sample"),
        _SOLVER,
        _ADAPTER,
    ),
    outputs=_PREDICTOR,
    metrics=("validation_relative_rmse", "answered_share"),
)


def benchmark(request: BenchmarkRequest, context: Context) -> Outcome:
    """Measure a hybrid against its solver."""
    from sciharness_file_solver.benchmark.operation import benchmark as run

    return run(request, context)


BENCHMARK = Capability(
    operation="benchmark",
    run=benchmark,
    request=BenchmarkRequest,
    summary="Measure a hybrid against its solver: error, routing and speed, end to end; "
    "reported, never trusted.",
    group="evaluation",
    inputs=(InputSpec("predictor", ("predictor",)), _SOLVER, _ADAPTER),
    outputs=(
        OutputSpec("benchmark.json", "benchmark_result"),
        OutputSpec("predictions.csv", "DATASET"),
        OutputSpec("report_part.json", "report_part"),
    ),
    metrics=(
        "relative_rmse",
        "model_relative_rmse",
        "max_relative_error",
        "answered_share",
        "routing_policy_verified",
        "hybrid_speedup",
    ),
    programs=True,
    charges=("solver_calls",),
)


def adapter(request: AdapterRequest, context: Context) -> Outcome:
    """Write the adapter of a solver."""
    from sciharness_file_solver.adapting import adapt

    return adapt(request, context)


ADAPTER = Capability(
    operation="adapter",
    run=adapter,
    request=AdapterRequest,
    summary="Write the program that calls a solver by file-solver-adapter-v1.",
    group="execution and training",
    inputs=(_SOLVER,),
    outputs=(OutputSpec("adapter.py", "source.python"),),
)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the four operations."""
    return (SAMPLE, TRAIN, BENCHMARK, ADAPTER)
