"""What this distribution registers: one operation that runs a Python program."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness import Capability, Context, InputSpec, Outcome, OutputSpec, hookimpl
from sciharness_program_runner.requests import RunRequest


def run(request: RunRequest, context: Context) -> Outcome:
    """Run a program on the inputs of the step."""
    # Imported when it runs: not needed to describe the plugin.
    from sciharness_program_runner.running import run as run_program

    return run_program(request, context)


@hookimpl
def harness_capabilities() -> Sequence[Capability]:
    """Return the one operation."""
    return (
        Capability(
            operation="run",
            run=run,
            request=RunRequest,
            summary="Run a Python program as a child process in a workspace of its own; what it "
            "reports is never trusted.",
            group="execution and training",
            inputs=(
                InputSpec("program", ("source.python",), summary="one Python file"),
                InputSpec("solver", ("reference_solver",), optional=True, summary="its folder"),
                InputSpec(
                    "*",
                    optional=True,
                    summary="any further input NAME, given to the program as --NAME PATH",
                ),
            ),
            outputs=(
                OutputSpec("result.json", "OTHER", optional=True),
                OutputSpec("run_record.json", "OTHER", optional=True),
                OutputSpec("adapter_validation.json", "adapter_validation", optional=True),
            ),
            metrics=("*",),
            programs=True,
            charges=("solver_calls",),
        ),
    )
