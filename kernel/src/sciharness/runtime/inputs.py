"""Inputs of an action: bindings of a planned step made into files and tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciharness.bundles import unpack
from sciharness.contract.artifact_types import FOLDERS, PREDICTOR_FILES, SOLVER_BUNDLE
from sciharness.contract.inputs import input_facts
from sciharness.contract.steps import Binding, PlannedStep
from sciharness.descriptors import Operation
from sciharness.errors import ContractError, DataError, IntegrityError
from sciharness.plugin import Input, InputSpec
from sciharness.runtime.inference import SOLVER_ARCHIVE
from sciharness.runtime.records import BUNDLE, TRAIN, WHOLE, ArtifactRef, StagedInput
from sciharness.runtime.session import Session


def resolve(session: Session, step: PlannedStep, operation: Operation) -> dict[str, Input]:
    """Return the inputs of ``step`` by name, as files that exist now.

    Raises:
        ContractError: a producing step has no artifact that fits.
    """
    return {
        name: _bound(session, step, operation, name, binding)
        for name, binding in step.bindings.items()
    }


def input_digests(inputs: Mapping[str, Input]) -> dict[str, Any]:  # Any: JSON values
    """Return what the record keeps of an action's inputs: artifact IDs by name."""
    return {name: value.meta.get("artifacts", []) for name, value in inputs.items()}


def _bound(
    session: Session, step: PlannedStep, operation: Operation, name: str, binding: Binding
) -> Input:
    if binding.source == "input":
        return staged_input(session, name, session.state.inputs[binding.name], binding.view)
    artifacts = session.state.artifacts_of(binding.name)
    if binding.name in session.state.inputs:  # final data that a step has made
        return staged_input(session, name, session.state.inputs[binding.name], binding.view)
    if binding.artifact is not None:
        fit = [item for item in artifacts if item.name == binding.artifact]
    elif name == "predictor":
        return predictor_folder(session, step.id, name, artifacts)
    else:
        fit = [item for item in artifacts if _fits(item, _spec(operation, name))]
    if len(fit) != 1:
        raise ContractError(
            f"step {binding.name} has {len(fit)} artifacts for input {name}",
            where=f"steps.{step.id}.inputs.{name}",
            hint=f"Name one: {', '.join(f'{binding.name}.{item.name}' for item in artifacts)}",
        )
    return artifact_input(session, name, fit[0])


def _spec(operation: Operation, name: str) -> InputSpec:
    found = [spec for spec in operation.inputs if spec.name == name]
    return found[0] if found else InputSpec(name)


def _fits(artifact: ArtifactRef, spec: InputSpec) -> bool:
    return not spec.types or artifact.type in spec.types


def artifact_input(session: Session, name: str, artifact: ArtifactRef) -> Input:
    """Return an artifact as an input; its bytes are checked against its digest."""
    return Input(
        name=name,
        path=session.store.path(artifact.sha256, verified=True),
        type=artifact.type,
        meta={"artifacts": [artifact.id], "file_name": artifact.name},
    )


def staged_input(session: Session, name: str, staged: StagedInput, view: str) -> Input:
    """Return one view of a contract input: visible rows unless said otherwise."""
    wanted = view if view in staged.views else (TRAIN if TRAIN in staged.views else WHOLE)
    artifact = staged.views[wanted]
    is_folder = artifact.type in FOLDERS
    return Input(
        name=name,
        path=unpacked(session, artifact, staged.sha256)
        if is_folder
        else session.store.path(artifact.sha256, verified=True),
        type=staged.type,
        role=staged.role,
        table=staged.table,
        meta={
            **staged.meta,
            "view": wanted,
            "artifacts": [artifact.id],
            "file_name": artifact.name.removesuffix(BUNDLE) if is_folder else artifact.name,
        },
    )


def unpacked(session: Session, bundle: ArtifactRef, digest: str) -> Path:
    """Return the folder of a directory bundle; ``digest`` is that of the folder.

    It is unpacked once in a run and hashed anew whenever an action needs it.

    Raises:
        IntegrityError: the stored bundle is not what was packed.
    """
    place = session.folder / "bundles" / bundle.sha256
    folder = place / bundle.name.removesuffix(BUNDLE)
    if _digest_of(folder) == digest:
        return folder
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    unpack(session.store.path(bundle.sha256, verified=True), folder)
    if _digest_of(folder) != digest:
        raise IntegrityError("the unpacked folder is not what was packed", where=bundle.name)
    return folder


def _digest_of(folder: Path) -> str:
    try:
        return input_facts(folder.name, folder).sha256
    except DataError:
        return ""


def predictor_folder(session: Session, step: str, name: str, artifacts: list[ArtifactRef]) -> Input:
    """Return a folder with the three files of the one predictor among ``artifacts``."""
    chosen = predictor_artifacts(step, artifacts)
    folder = session.workspace(len(session.state.settled)) / "predictor"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for artifact in chosen:
        shutil.copyfile(session.store.path(artifact.sha256, verified=True), folder / artifact.name)
    return Input(
        name=name,
        path=folder,
        type="predictor",
        meta={"artifacts": [artifact.id for artifact in chosen]},
    )


def predictor_artifacts(step: str, artifacts: list[ArtifactRef]) -> list[ArtifactRef]:
    """Return model, inference source and model card of the one predictor of a step.

    A hybrid's solver archive comes after them.

    Raises:
        ContractError: one of the three is missing or there are several.
    """
    chosen = []
    for file_name, kind in PREDICTOR_FILES.items():
        fit = [item for item in artifacts if item.type == kind]
        if len(fit) != 1:
            raise ContractError(
                f"a predictor has exactly one {file_name} of type {kind}, found {len(fit)}",
                where=f"steps.{step}.inputs.predictor",
                hint="Bind the step that trained the predictor.",
            )
        chosen.append(fit[0])
    return [*chosen, *fall_back(artifacts)]


def fall_back(artifacts: list[ArtifactRef]) -> list[ArtifactRef]:
    """Return the archive of the solver that a predictor falls back to, if it brings one."""
    return [
        item for item in artifacts if item.name == SOLVER_ARCHIVE and item.type == SOLVER_BUNDLE
    ]


def report_inputs(session: Session, run_view: Mapping[str, Any]) -> dict[str, Input]:
    """Return the inputs of a reporting operation: the run record and all visible artifacts."""
    folder = session.workspace(len(session.state.settled))
    record = folder / "run.json"
    record.write_text(json.dumps(run_view, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    inputs = {"run": Input(name="run", path=record, type="run")}
    for artifact in session.state.artifacts:
        if artifact.action >= 0:
            name = f"{artifact.step}.{artifact.name}"
            inputs[name] = artifact_input(session, name, artifact)
    for staged in session.state.inputs.values():
        if staged.sealed is not None and TRAIN in staged.views:
            inputs.setdefault("data", staged_input(session, "data", staged, TRAIN))
    return inputs


def clean(folder: Path) -> None:
    """Remove the outputs of an earlier attempt, keep its checkpoint."""
    shutil.rmtree(folder / "outputs", ignore_errors=True)
