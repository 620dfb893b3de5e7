"""The operation ``file_solver.adapter``: a program with fixed options in front of a solver."""

from __future__ import annotations

import hashlib

from sciharness.plugin import Context, Outcome
from sciharness_file_solver.requests import AdapterRequest
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
