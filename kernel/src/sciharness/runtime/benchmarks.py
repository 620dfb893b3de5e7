"""Benchmarks against a reference solver: they freeze a predictor and never make it trusted.

The kernel writes the receipt itself. It binds the predictor's files, what the
benchmark wrote and the solver by artifact ID and SHA-256, so that a package
can be made from what was measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from sciharness.contract._matching import wants_predictor
from sciharness.contract.steps import PlannedStep
from sciharness.descriptors import Operation
from sciharness.errors import ContractError
from sciharness.failpoints import reach
from sciharness.plugin import Input
from sciharness.plugins import Leasable
from sciharness.runtime import execute
from sciharness.runtime.criteria import TASK_COMPLETION
from sciharness.runtime.inputs import predictor_artifacts
from sciharness.runtime.records import ActionRecord, ArtifactRef
from sciharness.runtime.session import Session
from sciharness.runtime.settlement import finished, ingest
from sciharness.store.artifacts import artifact_id
from sciharness.workers.pool import ActionFailed, JobResult
from sciharness_catalog.canonical import canonical_json

SCHEMA = "reference-solver-benchmark-v1"
RESULT = "benchmark_result"
REFERENCE = "reference_solver"
RECEIPT = ("evaluation.json", "predictor.evaluation")
STATEMENT = (
    "Untrusted: the reference is a solver of the contract and the benchmark is no independent "
    "evaluator. A trusted error needs labelled data of independent origin."
)


def is_benchmark(operation: Operation) -> bool:
    """Return whether an operation measures a predictor against a reference solver."""
    makes = any(output.type.lower() == RESULT for output in operation.outputs)
    takes = any(REFERENCE in spec.types for spec in operation.inputs)
    return makes and takes and any(wants_predictor(spec) for spec in operation.inputs)


def run_benchmark(
    session: Session,
    record: ActionRecord,
    step: PlannedStep,
    lease: Leasable,
    inputs: Mapping[str, Input],
) -> None:
    """Freeze the predictor, run the benchmark, and settle it with a receipt.

    A predictor that a final evaluation has frozen stays the frozen one.

    Raises:
        ContractError: predictor or solver is not one of this run.
        ActionFailed: it did not write what a benchmark writes, or misses a metric.
    """
    predictor = _predictor(session, step)
    solver = _solver(session, step, lease.operation)
    if session.state.frozen is None or session.state.frozen.get("benchmark"):
        body = {
            "index": record.index,
            "step": step.bindings["predictor"].name,
            "digest": _digest(predictor),
            "predictor": [item.id for item in predictor],
            "benchmark": True,
        }
        session.record(("PredictorFrozen", body))
        reach("predictor.frozen")
    job = execute.job_for(session, record, lease, inputs)
    result, usage = execute.work(session, record, job)
    _check(session, lease.operation, result)
    references = ingest(session, record, result)
    receipt = _receipt(session, record, result, [*predictor], references, solver)
    event = finished(record, result, usage, [*references, receipt], group=lease.operation.group)
    session.record(*session.judged([event]))


def _predictor(session: Session, step: PlannedStep) -> list[ArtifactRef]:
    binding = step.bindings["predictor"]
    if binding.source != "step":
        raise ContractError(
            f"{binding.name} is no step of this run",
            where=f"steps.{step.id}.inputs.predictor",
            hint="Bind the step that trained the predictor.",
        )
    return predictor_artifacts(step.id, session.state.artifacts_of(binding.name))


def _solver(session: Session, step: PlannedStep, operation: Operation) -> ArtifactRef:
    for spec in operation.inputs:
        binding = step.bindings.get(spec.name)
        if REFERENCE not in spec.types or binding is None or binding.source != "input":
            continue
        staged = session.state.inputs[binding.name]
        if staged.role == REFERENCE:
            return staged.views[binding.view]
    raise ContractError(
        f"no input of role {REFERENCE}",
        where=f"steps.{step.id}.inputs",
        hint=f"Bind the solver, an input of the contract with role: {REFERENCE}.",
    )


def _digest(predictor: list[ArtifactRef]) -> str:
    facts: dict[str, Any] = {item.name: item.sha256 for item in predictor}
    return hashlib.sha256(canonical_json(facts)).hexdigest()


def _check(session: Session, operation: Operation, result: JobResult) -> None:
    """Refuse a benchmark without its result, its one prediction output or a wanted metric."""
    kinds = [item.type for item in result.artifacts]
    for kind, what in ((RESULT, "result"), ("DATASET", "prediction output")):
        if kinds.count(kind) != 1:
            raise ActionFailed(
                f"a benchmark writes exactly one {what} ({kind}), found {kinds.count(kind)}",
                reason="bad_artifact",
            )
    missing = sorted(set(_wanted(session, operation)) - result.metrics.keys())
    if missing:
        raise ActionFailed(
            f"the benchmark reports no {', '.join(missing)}, which acceptance asks for",
            reason="missing_result",
        )


def _wanted(session: Session, operation: Operation) -> Iterator[str]:
    """Yield the metrics that nobody else reports: neither the kernel nor another capability."""
    others = {
        metric
        for name, lease in session.leases.items()
        if name != operation.name
        for metric in lease.operation.metrics
    }
    for criterion in session.state.criteria:
        owned = criterion.metric == TASK_COMPLETION or criterion.trusted
        if not owned and criterion.metric not in others:
            yield criterion.metric


def _receipt(
    session: Session,
    record: ActionRecord,
    result: JobResult,
    predictor: list[ArtifactRef],
    made: list[ArtifactRef],
    solver: ArtifactRef,
) -> ArtifactRef:
    name, kind = RECEIPT
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "trusted": False,
        "statement": STATEMENT,
        "products": [_bound(item) for item in predictor],
        "benchmark": [_bound(item) for item in made],
        "solver": _bound(solver),
        "metrics": dict(result.metrics),
    }
    path = session.workspace(record.index) / f"receipt-{name}"
    path.write_bytes(canonical_json(body))
    blob = session.store.ingest(path)
    return ArtifactRef(
        id=artifact_id(kind, name, blob.sha256, record.index),
        name=name,
        type=kind,
        sha256=blob.sha256,
        size=blob.size,
        action=record.index,
        step=record.step,
    )


def _bound(item: ArtifactRef) -> dict[str, str]:
    return {"id": item.id, "name": item.name, "type": item.type, "sha256": item.sha256}
