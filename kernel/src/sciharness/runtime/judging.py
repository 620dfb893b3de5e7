"""Judging a predictor: its inference in a child, then an evaluator that sees the labels."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.errors import IntegrityError
from sciharness.failpoints import reach
from sciharness.plugin import Input
from sciharness.runtime.execute import job_for, work
from sciharness.runtime.inference import Predicted, predict
from sciharness.runtime.inputs import artifact_input
from sciharness.runtime.records import ActionRecord, ArtifactRef, StagedInput
from sciharness.runtime.session import Session
from sciharness.runtime.staging import LABELS
from sciharness.store.vault import Vault
from sciharness.workers.pool import ActionFailed, Job, JobResult


@frozen
class FrozenPredictor:
    """A predictor whose bytes are fixed: its artifacts and its digest."""

    step: str
    artifacts: tuple[ArtifactRef, ...]
    final_inputs: ArtifactRef
    digest: str

    def artifact(self, kind: str) -> ArtifactRef:
        """Return the one artifact of a type."""
        return next(item for item in self.artifacts if item.type == kind)


def judge_frozen(
    session: Session,
    record: ActionRecord,
    predictor: FrozenPredictor,
    staged: StagedInput,
    *,
    last: bool,
) -> tuple[JobResult, dict[str, float]]:
    """Run the predictor on the final rows and the evaluator on what it says.

    Nothing is counted and nothing recorded here. ``last`` tells the evaluator
    that no further predictor will be judged by these labels.
    """
    workspace = session.workspace(record.index)
    folder = _copy_of(session, predictor, workspace / "frozen")
    inputs = workspace / "final_inputs.csv"
    source = artifact_input(session, "inputs", predictor.final_inputs)
    shutil.copyfile(source.path, inputs)
    scratch = workspace / "predict"
    scratch.mkdir(exist_ok=True)
    predicted = predict(
        folder, inputs, scratch, threads=session.workers, cancelled=session.cancelled
    )
    reach("predictor.ran")
    meta = {**label_meta(staged), "last_query": last, "view": "final"}
    labels = sealed_labels(session, staged)
    job = job_for(
        session,
        record,
        session.leases[record.capability],
        judge_input(predicted.path, labels, meta),
        final=True,
    )
    return judge_work(session, record, job, predicted)


def judge_work(
    session: Session, record: ActionRecord, job: Job, predicted: Predicted
) -> tuple[JobResult, dict[str, float]]:
    """Run an evaluator; the usage is that of the inference and of the evaluator."""
    try:
        result, usage = work(session, record, job)
    except ActionFailed as fault:
        fault.cpu_seconds += predicted.cpu_seconds
        raise
    usage["cpu_hours"] = usage.get("cpu_hours", 0.0) + predicted.cpu_seconds / 3600.0
    return result, usage


def judge_input(
    predictions: Path,
    labels: Path,
    meta: Mapping[str, Any],  # Any: JSON values
) -> dict[str, Input]:
    """Return the two inputs of an evaluator."""
    return {
        "predictions": Input(name="predictions", path=predictions, type="DATASET"),
        "labels": Input(name="labels", path=labels, type="DATASET", meta=meta),
    }


def sealed_labels(session: Session, staged: StagedInput) -> Path:
    """Return the sealed label file of an input after its seal was checked.

    Raises:
        IntegrityError: the vault does not hold it, or it was changed.
    """
    vault = Vault(session.home)
    key = vault.key_of(session.state.run_id, staged.name)
    if key is None:
        raise IntegrityError(
            "the sealed labels are not in this home", where=f"inputs.{staged.name}"
        )
    return vault.path(key, LABELS)


def label_meta(staged: StagedInput) -> dict[str, Any]:  # Any: JSON values
    """Return what an evaluator is told beside the labels."""
    assert staged.sealed is not None and staged.table is not None
    return {
        "task": staged.table.task,
        "classes": list(staged.table.classes),
        "target": staged.sealed.target,
        "train_mean": staged.sealed.facts.get("train_mean"),
    }


def undefined_metrics(result: JobResult) -> dict[str, str]:
    """Return the metrics that an evaluation could not define, with the reasons."""
    for produced in result.artifacts:
        if produced.type == "predictor.evaluation":
            written = json.loads(produced.path.read_text("utf-8"))
            reasons = written.get("undefined", {}) if isinstance(written, dict) else {}
            return {str(name): str(reason) for name, reason in reasons.items()}
    return {}


def _copy_of(session: Session, predictor: FrozenPredictor, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for artifact in predictor.artifacts:
        source = session.store.path(artifact.sha256, verified=True)
        shutil.copyfile(source, folder / artifact.name)
    return folder
