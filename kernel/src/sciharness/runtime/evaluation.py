"""Evaluation steps: sealed rows once by the frozen predictor, visible rows as reported."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import Any

from attrs import evolve

from sciharness.contract.records import ContractInput
from sciharness.contract.steps import Binding, PlannedStep
from sciharness.errors import ContractError
from sciharness.plugins import Leasable
from sciharness.requests import COMMON
from sciharness.runtime import execute
from sciharness.runtime.final import (
    digest_of,
    evaluate_final,
    freeze,
    judge_input,
    judge_work,
    label_meta,
    undefined_metrics,
)
from sciharness.runtime.inference import predict
from sciharness.runtime.inputs import predictor_artifacts, predictor_folder, resolve, staged_input
from sciharness.runtime.records import FINAL, ActionRecord, ArtifactRef, StagedInput, to_plain
from sciharness.runtime.session import Session
from sciharness.runtime.staging import LABELS, Staged, sealed_target, store_view
from sciharness.store.vault import Vault
from sciharness.tables import prepare_final, split_labels
from sciharness.workers.pool import JobResult, Produced
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
    predicted = predict(
        folder, inputs, scratch, threads=session.workers, cancelled=session.cancelled
    )
    meta = {**label_meta(staged), "last_query": True, "view": step.bindings["data"].view}
    lease = session.leases[record.capability]
    job = execute.job_for(session, record, lease, judge_input(predicted.path, labels, meta))
    result, usage = judge_work(session, record, job, predicted)
    references = execute.ingest(session, record, result)
    event = execute.finished(record, result, usage, references, undefined=undefined_metrics(result))
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
    digest = digest_of(artifacts, "")
    seed = generated_seed(session.state.contract.seed, digest)
    sealed_record = evolve(record, request={**record.request, "seed": seed})
    inputs = resolve(session, step, lease.operation)
    job = execute.job_for(session, sealed_record, lease, inputs)
    result, usage = execute.work(session, sealed_record, job)
    sealed, others = _seal_generated(session, sealed_record, step, result)
    kept = evolve(result, artifacts=others)
    references = execute.ingest(session, sealed_record, kept)
    event = execute.finished(sealed_record, kept, usage, references, group=lease.operation.group)
    body = {
        "input": to_plain(sealed.staged),
        "artifacts": [to_plain(item) for item in sealed.staged.views.values()],
    }
    with session.home.writing() as tx:
        Vault(session.home).bind(session.state.run_id, step.id, sealed.vault_key, tx=tx)
        session.record(("FinalDataSealed", body), *session.judged([event]), tx=tx)


def generated_seed(seed: int, digest: str) -> int:
    """Return the seed of a final data set: 32 bits of a hash of seed and digest.

    More would not fit the random generators of many libraries.
    """
    text = f"generated-final-data-v1\n{seed}\n{digest}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")


def _seal_generated(
    session: Session, record: ActionRecord, step: PlannedStep, result: JobResult
) -> tuple[Staged, tuple[Produced, ...]]:
    tables = [item for item in result.artifacts if item.type == "DATASET"]
    if len(tables) != 1:
        raise ContractError(
            f"the step has to write exactly one DATASET, it wrote {len(tables)}",
            where=f"steps.{step.id}",
        )
    made = tables[0]
    folder = session.workspace(record.index) / "sealed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    prepared = prepare_final(made.path, _card_spec(session, step, made.name), folder)
    made.path.unlink()
    assert prepared.final_inputs is not None and prepared.labels is not None
    view = store_view(
        session.home, step.id, "final_inputs.csv", prepared.final_inputs, record.index
    )
    staged = StagedInput(
        name=step.id,
        role="labelled_table",
        type="DATASET",
        sha256=view.sha256,
        size=view.size,
        views={FINAL: view},
        table=prepared.table,
        sealed=evolve(sealed_target(prepared), reason="made after the predictor was frozen"),
        meta={"ledger_subject": _generated_subject(session, record, step)},
    )
    key = Vault(session.home).seal({LABELS: prepared.labels})
    return Staged(staged, key), tuple(item for item in result.artifacts if item is not made)


def _card_spec(session: Session, step: PlannedStep, file_name: str) -> ContractInput:
    producer = step.bindings["predictor"].name
    artifacts = predictor_artifacts(step.id, session.state.artifacts_of(producer))
    source = next(item for item in artifacts if item.type == "model_card")
    card = json.loads(session.store.path(source.sha256, verified=True).read_text("utf-8"))
    return ContractInput(
        name=step.id,
        path=file_name,
        role="labelled_table",
        task=card["task"],
        target=card["target"]["name"],
        features=tuple(column["name"] for column in card["columns"]),
    )


def _generated_subject(session: Session, record: ActionRecord, step: PlannedStep) -> str:
    """Return a digest of request without seed and of all inputs but the predictor."""
    request = {name: value for name, value in record.request.items() if name not in COMMON}
    inputs = {
        name: [item.sha256 for item in _sources(session, binding)]
        for name, binding in step.bindings.items()
        if name != "predictor"
    }
    facts: dict[str, Any] = {"use": step.operation, "request": request, "inputs": inputs}
    return hashlib.sha256(canonical_json(facts)).hexdigest()


def _sources(session: Session, binding: Binding) -> list[ArtifactRef]:
    if binding.source == "input":
        return list(session.state.inputs[binding.name].views.values())
    return session.state.artifacts_of(binding.name)
