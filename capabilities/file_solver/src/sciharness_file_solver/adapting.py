"""The operations ``adapter`` and ``smoke_test``: a program in front of a solver, and its trial."""

from __future__ import annotations

import hashlib

from sciharness.adapters import RECORD, smoke_test
from sciharness.plugin import Context, Outcome
from sciharness_file_solver.requests import AdapterRequest, SmokeRequest
from sciharness_file_solver.solver import read_solver
from sciharness_file_solver.sources import adapter_source

NAME = "adapter.py"


def adapt(request: AdapterRequest, context: Context) -> Outcome:
    """Write adapter.py by file-solver-adapter-v1 from the contract's ``solver:`` block.

    Raises:
        DataError: the contract does not say how the solver is called.
    """
    solver = read_solver(context, table=False, case_seconds=request.case_seconds)
    text = adapter_source(solver.setting)
    context.output(NAME, "source.python").write_text(text, encoding="utf-8", newline="\n")
    digest = hashlib.sha256(text.encode()).hexdigest()
    bundle = solver.bundle_sha256()
    return Outcome(notes=(f"adapter {digest[:12]}… for the solver bundle {bundle[:12]}…",))


def smoke(request: SmokeRequest, context: Context) -> Outcome:
    """Call an adapter and its solver briefly and write the record of what came.

    A test that fails is a result too: the record says so and nothing can be
    published by it.

    Raises:
        DataError: the contract documents no short call.
    """
    name, kind = RECORD
    found = smoke_test(
        context.inputs["program"].path,
        context.inputs["solver"],
        context.workspace / "smoke",
        seconds=request.seconds,
        cancelled=lambda: context.cancelled,
    )
    context.output(name, kind).write_bytes(found.to_bytes())
    failed = [one for one in found.record["checks"] if not one["passed"]]
    notes = [f"failed: {one['check']}: {one['found']}" for one in failed]
    return Outcome(
        {"adapter_validated": float(found.passed)}, (*notes, *found.record["statements"])
    )
