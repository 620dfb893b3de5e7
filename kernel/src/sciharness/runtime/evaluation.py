"""Evaluation steps: sealed rows once by the frozen predictor, visible rows as reported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from attrs import evolve

from sciharness.contract.steps import PlannedStep
from sciharness.errors import ContractError
from sciharness.plugin import Input
from sciharness.plugins import Leasable
from sciharness.runtime import execute
from sciharness.runtime.final import (
    evaluate_final,
    freeze,
    judge_input,
    label_meta,
    predict,
    predictor_digest,
    undefined_metrics,
)
from sciharness.runtime.inputs import predictor_artifacts, predictor_folder, resolve, staged_input
from sciharness.runtime.records import (
    FINAL,
    ActionRecord,
    ArtifactRef,
    SealedTarget,
    StagedInput,
    to_plain,
)
from sciharness.runtime.session import Session
from sciharness.store.artifacts import artifact_id
from sciharness.store.vault import Vault
from sciharness.tables import split_labels
from sciharness.workers.pool import JobResult
from sciharness_catalog.canonical import canonical_json


def evaluate(session: Session, record: ActionRecord, step: PlannedStep) -> None:
    """Run an evaluator step: final rows freeze and seal, visible rows only report."""
    data = step.bindings["data"]
    staged = session.state.inputs.get(data.name)
    if staged is None or staged.sealed is None:
        raise ContractError(
            f"{data.name} has no labels to judge by",
            where=f"steps.{step.id}.inputs.data",
            hint="Bind a labelled table.",
        )
    producer = step.bindings["predictor"].name
    if step.kind == "final_evaluation":
        predictor = freeze(session, step.id, producer, staged)
        evaluate_final(session, record, predictor, staged)
    else:
        _evaluate_visible(session, record, step, staged)


def _evaluate_visible(
    session: Session, record: ActionRecord, step: PlannedStep, staged: StagedInput
) -> None:
    producer = step.bindings["predictor"].name
    folder = predictor_folder(
        session, step.id, "predictor", session.state.artifacts_of(producer)
    ).path
    rows = staged_input(session, "data", staged, step.bindings["data"].view)
    workspace = session.workspace(record.index)
    inputs, labels = split_labels(rows, workspace)
    scratch = workspace / "predict"
    scratch.mkdir(exist_ok=True)
    predictions = predict(folder, inputs, scratch, threads=session.workers)
    meta = {**label_meta(staged), "last_query": True, "view": step.bindings["data"].view}
    lease = session.leases[record.capability]
    job = execute.job_for(
        session, record, lease, judge_input(session, record, predictions, labels, meta)
    )
    result, usage = execute.work(session, record, job)
    references = execute.ingest(session, record, result)
    event = execute.finished(
        record, result, usage, references, undefined=undefined_metrics(result)
    )
    session.record(*session.judged([event]))


def make_final_data(
    session: Session, record: ActionRecord, step: PlannedStep, lease: Leasable
) -> None:
    """Run the step of ``holdout.generated_by``: freeze, generate, seal the labels.

    The seed of the step follows from the contract's seed and the frozen
    predictor, so that nothing could have trained on these rows. The table that
    the operation makes is split at once; it never becomes an artifact.
    """
    producer = step.bindings["predictor"].name
    artifacts = predictor_artifacts(step.id, session.state.artifacts_of(producer))
    digest = predictor_digest(artifacts, "")
    seed = generated_seed(session.state.contract.seed, digest)
    sealed_record = evolve(record, request={**record.request, "seed": seed})
    inputs = resolve(session, step, lease.operation)
    job = execute.job_for(session, sealed_record, lease, inputs)
    result, usage = execute.work(session, sealed_record, job)
    staged, others = _seal_generated(session, sealed_record, step, result, digest)
    kept = evolve(result, artifacts=tuple(others))
    references = execute.ingest(session, sealed_record, kept)
    event = execute.finished(
        sealed_record, kept, usage, references, group=lease.operation.group
    )
    session.record(("FinalDataSealed", {"input": to_plain(staged)}), *session.judged([event]))


def generated_seed(seed: int, digest: str) -> int:
    """Return the seed of a final data set: 63 bits of a hash of seed and digest."""
    text = f"generated-final-data-v1\n{seed}\n{digest}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


def _seal_generated(
    session: Session, record: ActionRecord, step: PlannedStep, result: JobResult, digest: str
) -> tuple[StagedInput, list[object]]:
    tables = [item for item in result.artifacts if item.type == "DATASET"]
    if len(tables) != 1:
        raise ContractError(
            f"the step has to write exactly one DATASET, it wrote {len(tables)}",
            where=f"steps.{step.id}",
        )
    source = Input(name=step.id, path=tables[0].path, type="DATASET")
    folder = session.workspace(record.index) / "sealed"
    folder.mkdir(exist_ok=True)
    target, task = _card_target(session, step)
    prepared = _split_generated(source, folder, target, task)
    final = _stage(session, record, step, prepared.final_inputs, "final_inputs.csv")
    staged = StagedInput(
        name=step.id,
        role="labelled_table",
        type="DATASET",
        sha256=final.sha256,
        size=final.size,
        views={FINAL: final},
        table=prepared.table,
        sealed=SealedTarget(
            target=target,
            reason="generated after the predictor was frozen",
            rows_train=0,
            rows_final=prepared.rows_final,
            split="generated",
            vault_key=Vault(session.home).seal({"labels.csv": prepared.labels}),
            facts=prepared.facts,
        ),
        meta={"ledger_source": _ledger_source(session, record, step)},
    )
    tables[0].path.unlink()
    return staged, [item for item in result.artifacts if item is not tables[0]]
