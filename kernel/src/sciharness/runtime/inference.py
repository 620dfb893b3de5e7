"""Inference: a predictor's program run on a table, in a confined child."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from sciharness.roles import Program
from sciharness.runtime.programs import Starter, as_it_is
from sciharness.workers.child import ChildResult, Grants, Limits, child_environment, run_child
from sciharness.workers.failures import ActionFailed

INFERENCE_SECONDS = 600.0
FALL_BACK_SECONDS = 7200.0  # where a solver answers some of the rows
SOLVER_ARCHIVE = "solver.tar"  # beside model.json of a hybrid

_REFUSED = 3  # what inference.py of file-predictor-v1 ends with when the table is at fault


class RowsRefusedError(ActionFailed):
    """The predictor refused the table: a column, a row or a value in it."""


@frozen
class Predicted:
    """The OUTPUT file of a predictor and what making it has cost."""

    path: Path
    seconds: float
    cpu_seconds: float


def predict(
    predictor: Path,
    table: Path,
    workspace: Path,
    *,
    threads: int = 1,
    seconds: float = INFERENCE_SECONDS,
    start: Starter = as_it_is,
    cancelled: Callable[[], bool] = lambda: False,
) -> Predicted:
    """Run ``inference.py`` of a predictor folder on a strict CSV and return OUTPUT.

    The child sees the folder, the table and its workspace, nothing else. A
    hybrid's solver is unpacked there and named by ``--solver-root``. ``start``
    says how it is started.

    Raises:
        ActionFailed: it ends with an error, runs out of time or memory, or writes nothing.
    """
    output = workspace / "predictions.csv"
    output.unlink(missing_ok=True)
    files = {
        "--model": predictor / "model.json",
        "--input": table,
        "--output": output,
        **_solver_root(predictor, workspace),
    }
    arguments = [str(word) for pair in files.items() for word in pair]
    if "--solver-root" in files and seconds == INFERENCE_SECONDS:
        seconds = FALL_BACK_SECONDS
    command = start(
        Program(
            purpose="inference",
            argv=(sys.executable, "-I", "-B", str(predictor / "inference.py"), *arguments),
            environment=child_environment(workspace, threads),
            wall_seconds=seconds,
            memory_bytes=Limits().memory_bytes,
            threads=threads,
        )
    )
    result = run_child(
        command.argv,
        cwd=workspace,
        env=command.environment,
        limits=Limits(wall_seconds=command.wall_seconds, memory_bytes=command.memory_bytes),
        grants=Grants(
            read=(predictor, table),
            write=(workspace,),
            execute=(workspace,) if "--solver-root" in files else (),
        ),
        cancelled=cancelled,
    )
    _check(result, output)
    return Predicted(output, result.seconds, result.cpu_seconds + command.cpu_seconds)


def _check(result: ChildResult, output: Path) -> None:
    """Refuse a child that failed or wrote nothing, with what it said last."""
    if result.failure is not None or result.returncode != 0:
        tail = result.stderr.decode("utf-8", "replace").strip().splitlines()[-5:]
        if result.failure is None and result.returncode == _REFUSED and tail:
            raise RowsRefusedError(
                tail[-1], reason="error", detail="\n".join(tail), cpu_seconds=result.cpu_seconds
            )
        raise ActionFailed(
            f"inference.py ended with {result.failure or f'exit code {result.returncode}'}: "
            + (tail[-1] if tail else "no message"),
            reason=result.failure or "error",
            detail="\n".join(tail),
            cpu_seconds=result.cpu_seconds,
        )
    if output.is_symlink() or not output.is_file():
        raise ActionFailed(
            "inference.py wrote no predictions",
            reason="missing_result",
            cpu_seconds=result.cpu_seconds,
        )


def _solver_root(predictor: Path, workspace: Path) -> dict[str, Path]:
    """Unpack the solver that a hybrid falls back to, and say where it lies."""
    archive = predictor / SOLVER_ARCHIVE
    if not archive.is_file():
        return {}
    from sciharness.bundles import unpack  # few predictors have a solver

    root = workspace / "solver"
    shutil.rmtree(root, ignore_errors=True)
    unpack(archive, root)
    return {"--solver-root": root}
