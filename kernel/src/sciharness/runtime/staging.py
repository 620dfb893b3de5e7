"""Inputs of a run: hashed into artifacts, final labels split off into the vault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from attrs import frozen

from sciharness.bundles import pack_folder
from sciharness.bundles.zip_scan import unpack_zip
from sciharness.contract.artifact_types import DATASET, DIRECTORY_BUNDLE, FOLDERS
from sciharness.contract.inputs import InputFacts
from sciharness.contract.records import Contract, ContractInput
from sciharness.errors import DataError
from sciharness.plugin import Table
from sciharness.runtime.records import (
    BUNDLE,
    FINAL,
    TRAIN,
    VERIFICATION,
    WHOLE,
    ArtifactRef,
    SealedTarget,
    StagedInput,
    to_plain,
)
from sciharness.store.artifacts import ArtifactStore, artifact_id
from sciharness.store.home import Home
from sciharness.store.vault import Vault
from sciharness.tables import Prepared, check_table, prepare_labelled

LABELS = "labels.csv"


@frozen
class Staged:
    """A staged input and the key of its sealed labels, if any."""

    staged: StagedInput
    vault_key: str = ""

    def event(self) -> tuple[str, Mapping[str, Any]]:  # Any: JSON values
        """Return the event that adds the input to a run."""
        return (
            "InputAdded",
            {
                "input": to_plain(self.staged),
                "artifacts": [to_plain(item) for item in self.staged.views.values()],
            },
        )


def stage_input(
    home: Home, contract: Contract, facts: InputFacts, folder: Path, scratch: Path
) -> Staged:
    """Store what a run may see of an input; seal the rest.

    Raises:
        DataError: the file changed since it was checked, or cannot be split.
    """
    item = next(entry for entry in contract.inputs if entry.name == facts.name)
    source = folder / item.path
    if item.role == "labelled_table":
        return _stage_labelled(home, contract, item, facts, source, scratch)
    if facts.type in FOLDERS:
        return _stage_folder(home, item, facts, source, scratch)
    blob = ArtifactStore(home).ingest(source, follow=True)
    if blob.sha256 != facts.sha256:
        raise _changed(item)
    table = check_table(source, item, contract.holdout).table if item.role == "table" else None
    view = _reference(item.name, source.name, facts.type, blob.sha256, blob.size)
    return _whole(item, facts, view, table)


def _stage_folder(
    home: Home, item: ContractInput, facts: InputFacts, source: Path, scratch: Path
) -> Staged:
    archive = scratch / f"{item.name}.tar"
    if source.is_file():  # a ZIP without a flaw, scanned anew as it is unpacked
        unpack_zip(source, scratch / item.name)
        source = scratch / item.name
    with archive.open("xb") as sink:
        packed = pack_folder(source, sink)
    if packed.sha256 != facts.sha256:
        raise _changed(item)
    blob = ArtifactStore(home).ingest(archive)
    archive.unlink()
    name = f"{_folder_name(item)}{BUNDLE}"
    view = _reference(item.name, name, facts.type, blob.sha256, blob.size)
    return _whole(item, facts, view)


def _whole(
    item: ContractInput, facts: InputFacts, view: ArtifactRef, table: Table | None = None
) -> Staged:
    """Return an input of which a run sees everything."""
    return Staged(
        StagedInput(
            name=item.name,
            role=item.role,
            type=facts.type,
            sha256=facts.sha256,
            size=facts.bytes,
            views={WHOLE: view},
            table=table,
            meta={"solver": dict(item.solver)} if item.solver is not None else {},
        )
    )


def _folder_name(item: ContractInput) -> str:
    """Return what a folder is called where it is unpacked: as in the contract if that can be."""
    name = Path(item.path).name
    name = name[: -len(".zip")] if name.lower().endswith(".zip") else name
    plain = name not in ("", ".", "..") and len(name.encode()) <= 200
    return name if plain else item.name


def _stage_labelled(
    home: Home,
    contract: Contract,
    item: ContractInput,
    facts: InputFacts,
    source: Path,
    scratch: Path,
) -> Staged:
    out = scratch / item.name
    out.mkdir()
    prepared = prepare_labelled(source, item, contract.holdout, out)
    if prepared.sha256 != facts.sha256:
        raise _changed(item)
    key = Vault(home).seal({LABELS: prepared.labels}) if prepared.labels is not None else ""
    is_folder = facts.type == DIRECTORY_BUNDLE
    shown = f"{source.name}.csv" if is_folder else source.name
    views = _views(home, item.name, shown, prepared)
    staged = StagedInput(
        name=item.name,
        role=item.role,
        type=DATASET if is_folder else facts.type,
        sha256=prepared.sha256,
        size=prepared.size,
        views=views,
        table=prepared.table,
        sealed=sealed_target(prepared),
    )
    return Staged(staged, key)


def sealed_target(prepared: Prepared) -> SealedTarget:
    """Return what is recorded of a split: the target, the rule, counts and facts."""
    return SealedTarget(
        target=prepared.target,
        reason=prepared.reason,
        rows_train=prepared.rows_train,
        rows_final=prepared.rows_final,
        rows_verification=prepared.rows_verification,
        split=prepared.split,
        facts=dict(prepared.facts),
    )


def _views(home: Home, name: str, file_name: str, prepared: Prepared) -> dict[str, ArtifactRef]:
    files = {
        TRAIN: (prepared.train, _part_name(TRAIN, file_name, prepared.train)),
        VERIFICATION: (
            prepared.verification,
            _part_name(VERIFICATION, file_name, prepared.verification),
        ),
        FINAL: (prepared.final_inputs, "final_inputs.csv"),
    }
    return {
        view: store_view(home, name, shown, path)
        for view, (path, shown) in files.items()
        if path is not None
    }


def _part_name(view: str, file_name: str, path: Path | None) -> str:
    """Return the name of a part of a table; a part of a Parquet file is a CSV file."""
    return f"{view}-{PurePath(file_name).stem}{path.suffix if path is not None else ''}"


def store_view(home: Home, step: str, name: str, path: Path, action: int = -1) -> ArtifactRef:
    """Store one file of a split table as an artifact."""
    blob = ArtifactStore(home).ingest(path)
    return _reference(step, name, "DATASET", blob.sha256, blob.size, action)


def _reference(
    step: str, name: str, type: str, sha256: str, size: int, action: int = -1
) -> ArtifactRef:
    return ArtifactRef(
        id=artifact_id(type, name, sha256, action),
        name=name,
        type=type,
        sha256=sha256,
        size=size,
        action=action,
        step=step,
    )


def _changed(item: ContractInput) -> DataError:
    return DataError(
        "the file changed while it was being read",
        where=f"inputs.{item.name}",
        hint="Wait until nothing writes to it, then run again.",
    )
