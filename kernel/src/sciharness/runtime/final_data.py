"""Generated final data: made after the predictor is frozen, split and sealed at once."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import Any

from attrs import evolve, frozen

from sciharness.contract.records import ContractInput
from sciharness.contract.steps import Binding, PlannedStep
from sciharness.errors import ContractError
from sciharness.plugins import Leasable
from sciharness.requests import COMMON
from sciharness.runtime import execute
from sciharness.runtime.final import digest_of
from sciharness.runtime.inputs import predictor_artifacts, resolve
from sciharness.runtime.records import FINAL, ActionRecord, ArtifactRef, StagedInput, to_plain
from sciharness.runtime.session import Session
from sciharness.runtime.settlement import finished, ingest
from sciharness.runtime.staging import LABELS, Staged, sealed_target, store_view
from sciharness.store.vault import Vault
from sciharness.tables import Prepared, prepare_final
from sciharness.workers.pool import JobResult
from sciharness_catalog.canonical import canonical_json


@frozen
class Generated:
    """What a generator made: its table, split, and all else that it gave."""

    prepared: Prepared
    result: JobResult


def make_final_data(
    session: Session, record: ActionRecord, step: PlannedStep, lease: Leasable
) -> None:
    """Run the step of ``holdout.generated_by``: freeze, generate, seal the labels.

    The seed of the step follows from the contract's seed and the frozen
    predictor, so that nothing could have trained on these rows. The table that
    the operation makes is split at once; it never becomes an artifact.
    """
    seeded = _seeded(session, record, step)
    made, usage = generate(session, seeded, step, lease)
    sealed = _seal(session, seeded, step, made)
    references = ingest(session, seeded, made.result)
    event = finished(seeded, made.result, usage, references, group=lease.operation.group)
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


def _seeded(session: Session, record: ActionRecord, step: PlannedStep) -> ActionRecord:
    producer = step.bindings["predictor"].name
    artifacts = predictor_artifacts(step.id, session.state.artifacts_of(producer))
    seed = generated_seed(session.state.contract.seed, digest_of(artifacts, ""))
    return evolve(record, request={**record.request, "seed": seed})


def generate(
    session: Session, record: ActionRecord, step: PlannedStep, lease: Leasable
) -> tuple[Generated, dict[str, float]]:
    """Run the generator and split what it made; nothing is sealed or recorded here.

    Raises:
        ContractError: it did not make exactly one table.
    """
    inputs = resolve(session, step, lease.operation)
    job = execute.job_for(session, record, lease, inputs)
    result, usage = execute.work(session, record, job)
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
    others = tuple(item for item in result.artifacts if item is not made)
    return Generated(prepared, evolve(result, artifacts=others)), usage


def _seal(session: Session, record: ActionRecord, step: PlannedStep, made: Generated) -> Staged:
    prepared = made.prepared
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
    return Staged(staged, Vault(session.home).seal({LABELS: prepared.labels}))


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
