"""Other formulas of a search: a candidate of formulas.json made a predictor, outside the record."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.errors import UsageError
from sciharness.plugin import Input
from sciharness.plugins import Plugins
from sciharness.runtime.call import run_once
from sciharness.runtime.records import TRAIN, ArtifactRef
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.home import Home
from sciharness.workers.pool import JobResult

FORMULAS = "formulas.json"
NOTE = "Never judged on the final rows: its metrics are reported, not trusted."

Json = Mapping[str, Any]  # Any: JSON values


@frozen
class Candidate:
    """One candidate as a predictor: its files by name, and what is known of it.

    ``facts`` has its position, formula and metrics, all of source ``reported``.
    """

    index: int
    facts: Json
    files: Mapping[str, bytes]

    @property
    def folder(self) -> str:
        """The name of its folder in an export."""
        return f"candidate-{self.index}"

    def placed(self) -> dict[str, bytes]:
        """Return its files by their paths in an export, with ``candidate.json``."""
        text = json.dumps(dict(self.facts), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        files = {**self.files, "candidate.json": text.encode()}
        return {f"{self.folder}/{name}": content for name, content in files.items()}


def make_candidate(home: Home, state: RunState, index: int) -> Candidate:
    """Return the candidate ``index`` of the newest formulas.json of a run as a predictor.

    The plugin that wrote it makes the predictor, by its operation
    ``candidate``, from the rows that the search saw. Nothing is recorded, and
    no label is looked at.

    Raises:
        UsageError: the run has no formulas, or none at this position.
        HarnessError: the plugin may not load.
        ActionFailed: it could not make the predictor.
    """
    store = ArtifactStore(home)
    formulas = _newest(state)
    document = json.loads(store.path(formulas.sha256, verified=True).read_text("utf-8"))
    candidates = document["candidates"]
    if index >= len(candidates):
        listed = (f"{place}: {item['formula']}" for place, item in enumerate(candidates))
        raise UsageError(
            f"there is no candidate {index}",
            where=state.run_id,
            hint="\n  ".join(["There are these, from the simplest on:", *listed]),
        )
    producer = next(item for item in state.actions if item.index == formulas.action)
    plugin_id = producer.capability.rpartition(".")[0]
    lease = Plugins(home).lease(f"{plugin_id}.candidate")
    request = {"candidate": index, "seed": state.contract.seed, "workers": 1}
    inputs = {
        "formulas": _input(store, "formulas", formulas),
        "data": _rows(store, state, producer.inputs.get("data", [])),
    }
    scratch = Path(tempfile.mkdtemp(prefix="candidate-", dir=home.temporary))
    try:
        result = run_once(home, lease, request, inputs, scratch)
        files = {item.name: item.path.read_bytes() for item in result.artifacts}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    facts = {
        "candidate": index,
        "chosen": document["chosen"],
        "formula": candidates[index]["formula"],
        "target": document["target"],
        "metrics": _metrics(result, lease.operation.name),
        "note": NOTE,
        "formulas_sha256": formulas.sha256,
        "pin": str(lease.pin),
    }
    return Candidate(index, facts, files)


def _newest(state: RunState) -> ArtifactRef:
    found = [item for item in state.artifacts if item.name == FORMULAS and item.action >= 0]
    if not found:
        raise UsageError(
            f"the run has no {FORMULAS}",
            where=state.run_id,
            hint="Only a search for formulas has candidates.",
        )
    return found[-1]


def _rows(store: ArtifactStore, state: RunState, shown: list[str]) -> Input:
    """Return the rows that a search has seen, by the IDs of its input's artifacts."""
    for staged in state.inputs.values():
        for artifact in staged.views.values():
            if artifact.id in shown:
                path = store.path(artifact.sha256, verified=True)
                meta = {"view": TRAIN, "file_name": artifact.name}
                return Input("data", path, staged.type, staged.role, staged.table, meta)
    for artifact in state.artifacts:
        if artifact.id in shown:
            return _input(store, "data", artifact)
    raise UsageError("the record does not say which rows the search saw", where=state.run_id)


def _input(store: ArtifactStore, name: str, artifact: ArtifactRef) -> Input:
    return Input(name, store.path(artifact.sha256, verified=True), artifact.type)


def _metrics(result: JobResult, capability: str) -> list[Json]:
    return [
        {"name": name, "value": value, "source": "reported", "capability": capability}
        for name, value in sorted(result.metrics.items())
    ]
