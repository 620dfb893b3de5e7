"""Evaluation steps: sealed rows once by the frozen predictor, visible rows as reported."""

from __future__ import annotations

from sciharness.contract.steps import PlannedStep
from sciharness.errors import ContractError
from sciharness.runtime.execute import job_for
from sciharness.runtime.executing import starter
from sciharness.runtime.final import evaluate_final, freeze
from sciharness.runtime.inference import predict
from sciharness.runtime.inputs import predictor_folder, staged_input
from sciharness.runtime.judging import judge_input, judge_work, label_meta, undefined_metrics
from sciharness.runtime.records import FINAL, ActionRecord, StagedInput
from sciharness.runtime.session import Session
from sciharness.runtime.settlement import finished, ingest
from sciharness.tables import split_labels
from sciharness.workers.pool import JobResult


def evaluate(session: Session, record: ActionRecord, step: PlannedStep) -> None:
    """Run an evaluator step: final rows freeze and seal, visible rows only report."""
    staged = labelled_input(session, step)
    if step.kind == "final_evaluation":
        predictor = freeze(session, step.id, step.bindings["predictor"].name, staged)
        evaluate_final(session, record, predictor, staged)
        return
    result, usage = judge_visible(session, record, step)
    references = ingest(session, record, result)
    event = finished(record, result, usage, references, undefined=undefined_metrics(result))
    session.record(*session.judged([event]))


def labelled_input(session: Session, step: PlannedStep) -> StagedInput:
    """Return the input that an evaluator step judges by.

    Raises:
        ContractError: it has no labels.
    """
    data = step.bindings["data"]
    staged = session.state.inputs.get(data.name)
    if staged is None or staged.sealed is None:
        raise ContractError(
            f"{data.name} has no labels to judge by",
            where=f"steps.{step.id}.inputs.data",
            hint="Bind a labelled table.",
        )
    return staged


def judge_visible(
    session: Session, record: ActionRecord, step: PlannedStep
) -> tuple[JobResult, dict[str, float]]:
    """Run predictor and evaluator on rows that steps may see; nothing is recorded here."""
    staged = labelled_input(session, step)
    if set(staged.views) == {FINAL}:
        raise ContractError(
            f"{step.operation} may not see final labels",
            where=f"steps.{step.id}.inputs.data",
            hint="A person may grant it: `harness plugin admit PLUGIN --trust-metrics`.",
        )
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
        folder,
        inputs,
        scratch,
        threads=session.workers,
        start=starter(session, record),
        cancelled=session.cancelled,
    )
    meta = {**label_meta(staged), "last_query": True, "view": step.bindings["data"].view}
    lease = session.leases[record.capability]
    job = job_for(session, record, lease, judge_input(predicted.path, labels, meta))
    return judge_work(session, record, job, predicted)
