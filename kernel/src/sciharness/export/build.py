"""Building an export: everything a run holds, but nothing of the vault, in one place."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sciharness.errors import IntegrityError
from sciharness.export._sinks import Sink, open_sink
from sciharness.export.crate import CRATE, crate_bytes
from sciharness.export.layout import Reference, fold, is_safe, place_artifacts
from sciharness.export.manifest import (
    EVENTS,
    MANIFEST,
    README,
    STATE,
    ExportedArtifact,
    Manifest,
)
from sciharness.store._files import CHUNK, Blob, opened
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.chain import line_of
from sciharness.store.errors import storing
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.vault import Vault
from sciharness_catalog.canonical import canonical_json

_TEXT = """\
This folder is the record of one run of sciharness: {run_id}

report.md, report.html   the report, if one was written
state.json               status, criteria, metrics, budget, artifacts
packages.md              packages it published, if any, and who reviewed them
contract.*               what was asked for, and the pins it ran with
ro-crate-metadata.json   the same files in the words of RO-Crate
artifacts/               what each step produced
inputs/                  what the steps were shown; final labels are never exported
events.jsonl             what happened, one event per line, as one hash chain
MANIFEST.json            the digest of every file

Check it anywhere, without the home it came from:

    harness verify PATH

That recomputes every digest and the chain, and prints the hash of the last
event. Compare it with the one that the author of the run names: whoever can
rewrite the whole folder can also make it consistent again.
"""


def build_export(
    home: Home,
    run_id: str,
    out: Path,
    *,
    state: Mapping[str, Any] | None = None,  # Any: JSON values
    files: Mapping[str, bytes] | None = None,
    zip: bool = False,
    replace: bool = False,
) -> Path:
    """Write the export of a run to ``out``, a folder or a ZIP, and return ``out``.

    ``state`` becomes ``state.json``; ``files`` (contract, lock, candidates)
    stand at the root or in folders of their own. It appears complete or not at all; the same run
    and state give the same bytes. ``replace`` lets an earlier export of this
    run give way.

    Raises:
        UsageError: there is no such run, or ``out`` is in the way.
        IntegrityError: the chain or an object is damaged.
        StorageError: the disk failed.
    """
    extra = {STATE: _state_bytes(state or {"run_id": run_id})}
    extra.update(files or {})
    _check_names(extra)
    with storing("export"), open_sink(out, run_id, zipped=zip, replace=replace) as sink:
        _fill(sink, home, run_id, extra, state or {})
    return out


def _fill(
    sink: Sink,
    home: Home,
    run_id: str,
    extra: Mapping[str, bytes],
    state: Mapping[str, Any],  # Any: JSON values
) -> None:
    blobs: dict[str, Blob] = {}
    blobs[README] = sink.add(README, [_TEXT.format(run_id=run_id).encode()])
    for name in sorted(extra):
        blobs[name] = sink.add(name, [extra[name]])
    log, references = EventLog(home), list[Reference]()
    with home.reading():
        head = log.verify(run_id)
        blobs[EVENTS] = sink.add(EVENTS, _lines(log, run_id, references))
    artifacts = place_artifacts(references, extra)
    store = ArtifactStore(home)
    for artifact in sorted(artifacts, key=lambda item: item.path):
        blobs[artifact.path] = _add_artifact(sink, store, artifact)
    _refuse_sealed(Vault(home).sealed_digests(run_id), blobs)
    crate = crate_bytes(run_id, state, _newest(log, run_id, head.count), blobs, artifacts)
    blobs[CRATE] = sink.add(CRATE, [crate])
    manifest = Manifest(run_id, head, blobs, artifacts)
    sink.add(MANIFEST, [manifest.to_bytes()])


def _newest(log: EventLog, run_id: str, count: int) -> str:
    return next(iter(log.read(run_id, after=count - 1))).time


def _lines(log: EventLog, run_id: str, references: list[Reference]) -> Iterator[bytes]:
    for row in log.rows(run_id):
        references.extend(artifacts_of(row[1]))
        yield line_of(row)


def artifacts_of(record: bytes) -> list[Reference]:
    """Return the artifacts that a stored event names in its body."""
    # Most events name none; the search is quicker than parsing them all.
    if b'"artifacts":' not in record:
        return []
    listed = json.loads(record)["body"].get("artifacts")
    return listed if isinstance(listed, list) else []


def _add_artifact(sink: Sink, store: ArtifactStore, artifact: ExportedArtifact) -> Blob:
    blob = sink.add(artifact.path, _chunks(store.path(artifact.sha256)))
    if blob != Blob(artifact.sha256, artifact.size):
        raise IntegrityError(
            f"is not what its digest says: {artifact.sha256[:12]}…, found {blob.sha256[:12]}…",
            where=f"artifact {artifact.name}",
            hint="Find all damage with `harness doctor --fsck`.",
        )
    return blob


def _chunks(path: Path) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(CHUNK))
    with opened(path) as source:
        while count := os.readv(source, [buffer]):
            yield buffer[:count]


def _state_bytes(state: Mapping[str, Any]) -> bytes:  # Any: JSON values
    return canonical_json(dict(state))


def _check_names(extra: Mapping[str, bytes]) -> None:
    reserved = {fold(name) for name in (CRATE, EVENTS, MANIFEST, README, "artifacts", "inputs")}
    for name in extra:
        if not is_safe(name) or fold(name.partition("/")[0]) in reserved:
            raise ValueError(f"a further file of an export cannot be named {name!r}")


def _refuse_sealed(sealed: frozenset[str], blobs: Mapping[str, Blob]) -> None:
    for path, blob in blobs.items():
        if blob.sha256 in sealed:
            raise IntegrityError("is a sealed file and is not exported", where=path)
