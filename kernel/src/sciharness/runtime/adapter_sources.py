"""The three sources of a solver adapter: bundle, adapter source, record of the smoke test."""

from __future__ import annotations

from sciharness.adapters import RECORD, check_interface, read_validation
from sciharness.errors import DeliveryError, IntegrityError
from sciharness.runtime.records import ArtifactRef
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.home import Home

DELIVERABLE = "solver_adapter"
BUNDLE = "solver_bundle"
SOURCE = "source.python"


def adapter_sources(home: Home, state: RunState) -> list[ArtifactRef]:
    """Return exactly the three artifacts that a solver adapter may be made from.

    The one record of a smoke test names the other two by digest; both have to
    be inputs of the action that made the record.

    Raises:
        DeliveryError: there is not exactly one record, or its test did not pass.
        IntegrityError: interface, digests or lineage are not as it says.
    """
    records = [item for item in state.artifacts if item.type == RECORD[1] and item.action >= 0]
    if len(records) != 1:
        raise DeliveryError(
            f"{len(records)} records of a smoke test",
            where=DELIVERABLE,
            hint="Run file_solver.adapter and then execution.python.run on what it wrote.",
        )
    record, store = records[0], ArtifactStore(home)
    content = store.path(record.sha256, verified=True).read_bytes()
    said = read_validation(content, record.name, unpassed=DeliveryError)
    used = _inputs_of(state, record)
    bundle = _bound(state, used, BUNDLE, said["solver_bundle_sha256"])
    adapter = _bound(state, used, SOURCE, said["adapter_source_sha256"])
    check_interface(store.path(adapter.sha256, verified=True).read_bytes(), adapter.name)
    return [bundle, adapter, record]


def _inputs_of(state: RunState, record: ArtifactRef) -> frozenset[str]:
    """Return the IDs of the artifacts that the action of a record was given."""
    action = next(
        (one for one in state.actions if one.index == record.action and one.status == "finished"),
        None,
    )
    given = action.inputs.values() if action is not None else ()
    return frozenset(one for ids in given for one in ids)


def _bound(state: RunState, used: frozenset[str], kind: str, sha256: str) -> ArtifactRef:
    fit = [item for item in state.artifacts if item.type == kind and item.sha256 == sha256]
    fit = [item for item in fit if item.id in used]
    if not fit:
        raise IntegrityError(
            f"the record names a {kind} {sha256[:12]}… that its test was not given",
            where=DELIVERABLE,
            hint="The folder has to be an input of role reference_solver and a sound bundle.",
        )
    return fit[0]
