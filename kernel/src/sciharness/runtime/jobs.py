"""Where a job runs: operations of plugins in workers, predictors in children of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sciharness.descriptors import PREDICTOR_KIND, SOLVER_KIND
from sciharness.workers.pool import Job, JobResult, Workers


def run_job(
    pool: Workers,
    job: Job,
    on_event: Callable[[Mapping[str, Any]], None],  # Any: JSON values
    cancelled: Callable[[], bool],
) -> JobResult:
    """Run a job and return its result.

    Raises:
        ActionFailed: the operation failed.
        HarnessError: its code or an input was refused.
    """
    if job.operation.kind == PREDICTOR_KIND:
        from sciharness.generated.acting import predict_job  # most runs have no predictor

        return predict_job(job, cancelled)
    if job.operation.kind == SOLVER_KIND:
        from sciharness.generated.acting import solve_job  # as above

        return solve_job(job, cancelled)
    return pool.run(job, on_event, cancelled)
