"""A package compared with the record of the run it was made from, item by item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sciharness.contract.artifact_types import PREDICTOR
from sciharness.errors import DeliveryError, IntegrityError
from sciharness.runtime.records import ArtifactRef
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.home import Home
from sciharness_catalog.attestation import Attestation
from sciharness_catalog.wheels import Wheel, read_wheel

PREDICTOR_PROTOCOL = "file-predictor-v1"
# What a package of a predictor has to come from, as far as the run accepted it.
_SOURCES = (*PREDICTOR, "predictor.evaluation")

_Pairs = dict[str, tuple[object, object]]


def accepted_artifacts(state: RunState) -> list[ArtifactRef]:
    """Return the artifacts of the frozen predictor's step and of its final evaluation."""
    if state.frozen is None:
        raise DeliveryError("no predictor was frozen and evaluated", where=state.run_id)
    step, index = state.frozen["step"], state.frozen["index"]
    return [item for item in state.artifacts if item.step == step or item.action == index]


def accepted_sources(state: RunState) -> list[ArtifactRef]:
    """Return the artifacts that a package of the frozen predictor has to come from."""
    return [item for item in accepted_artifacts(state) if item.type in _SOURCES]


def evaluated_metrics(home: Home, state: RunState) -> dict[str, float]:
    """Return the metrics as the accepted evaluation itself tells them."""
    store, told = ArtifactStore(home), dict[str, float]()
    for item in accepted_artifacts(state):
        if item.type == "predictor.evaluation":
            plain = json.loads(store.path(item.sha256, verified=True).read_bytes())
            metrics = plain.get("metrics") if isinstance(plain, dict) else None
            told.update(metrics if isinstance(metrics, dict) else {})
    return told


def compare(
    state: RunState,
    wheel: Path,
    statement: Attestation,
    evaluated: Mapping[str, float],
    sources: Sequence[ArtifactRef] | None = None,
    protocol: str = PREDICTOR_PROTOCOL,
) -> None:
    """Compare a package with the record of its run, item by item.

    ``evaluated`` are the metrics that stand in the accepted evaluation,
    ``sources`` the artifacts that the package has to name as its own, by default
    those of the frozen predictor; one that does not predict may name no other.

    Raises:
        IntegrityError: naming every item that differs.
    """
    sources = accepted_sources(state) if sources is None else sources
    content = read_wheel(wheel)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    expected: dict[str, object] = {
        "subject": (statement.subject, statement.subject_sha256),
        "implementation digest": statement.implementation_digest,
        "contract": statement.contract_sha256,
        "metrics": dict(statement.metrics),
        "protocol": statement.protocol,
    }
    held: dict[str, object] = {
        "subject": (wheel.name, digest),
        "implementation digest": content.digest,
        "contract": state.contract_digest,
        "metrics": {one.name: one.value for one in state.metrics if one.source == "trusted"},
        "protocol": protocol,
    }
    if protocol != PREDICTOR_PROTOCOL:
        held["sources"] = sorted(one.id for one in sources)
        expected["sources"] = sorted(one.id for one in statement.sources)
    held.update({f"file {name}": _sha256(data) for name, data in content.members.items()})
    expected.update({f"file {name}": value for name, value in statement.files.items()})
    for pairs in (_sources(state, content, statement, sources), _values(state, evaluated)):
        held.update({name: one for name, (one, _) in pairs.items()})
        expected.update({name: other for name, (_, other) in pairs.items()})
    differing = [key for key in sorted({*held, *expected}) if held.get(key) != expected.get(key)]
    if differing:
        raise IntegrityError(
            f"package and record differ: {', '.join(differing)}",
            where=wheel.name,
            hint="Nothing of it was delivered.",
        )


def _sources(
    state: RunState, content: Wheel, statement: Attestation, sources: Sequence[ArtifactRef]
) -> _Pairs:
    """Return for each source what the run holds and what the statement says of it."""
    known = {item.id: item.sha256 for item in state.artifacts}
    package = statement.plugin_id.replace(".", "_")
    pairs: _Pairs = {}
    for source in statement.sources:
        held = known.get(source.id, "no such artifact of the run")
        pairs[f"source {source.name}"] = (held, source.sha256)
        part = content.members.get(f"{package}/{source.name}")
        if part is not None:
            pairs[f"part {source.name}"] = (_sha256(part), source.sha256)
    named = {source.id for source in statement.sources}
    for item in sources:
        pairs[f"accepted {item.name}"] = (item.id in named, True)
    return pairs


def _values(state: RunState, evaluated: Mapping[str, float]) -> _Pairs:
    """Return for each metric of the evaluation whether the run recorded it so."""
    trusted = [one for one in state.metrics if one.source == "trusted"]
    pairs: _Pairs = {}
    for name in sorted({one.name for one in trusted} & evaluated.keys()):
        recorded = {one.value for one in trusted if one.name == name}
        pairs[f"metric {name}"] = (evaluated[name] in recorded, True)
    return pairs


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
