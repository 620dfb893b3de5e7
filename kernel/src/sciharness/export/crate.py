"""RO-Crate metadata of an export: what each file is, in words that archives read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from sciharness.export.manifest import ExportedArtifact
from sciharness.store._files import Blob

CRATE = "ro-crate-metadata.json"
_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
_PROFILE = "https://w3id.org/ro/crate/1.1"
_MEDIA = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".whl": "application/zip",
    ".yaml": "application/yaml",
}

_UNKNOWN = "application/octet-stream"

Entity = dict[str, Any]  # Any: JSON values


def crate_bytes(
    run_id: str,
    state: Mapping[str, Any],  # Any: JSON values
    created: str,
    blobs: Mapping[str, Blob],
    artifacts: Iterable[ExportedArtifact],
) -> bytes:
    """Return the metadata file of a crate over every file in ``blobs``.

    ``created`` is the time of the last event: the crate is as old as its record.
    """
    named = {artifact.path: artifact for artifact in artifacts}
    files = [_file(path, blob, named.get(path)) for path, blob in sorted(blobs.items())]
    graph: list[Entity] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _PROFILE},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": str(state.get("title", run_id)),
            "description": f"Record of the run {run_id}: {state.get('status', 'unknown')}",
            "identifier": run_id,
            "datePublished": created,
            "license": "The licence of the inputs applies; see the contract.",
            "hasPart": [{"@id": entity["@id"]} for entity in files],
            "mentions": {"@id": "#run"},
        },
        _action(run_id, created, named.values()),
        *files,
    ]
    value = {"@context": _CONTEXT, "@graph": graph}
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _file(path: str, blob: Blob, artifact: ExportedArtifact | None) -> Entity:
    entity: Entity = {
        "@id": path,
        "@type": "File",
        "name": artifact.name if artifact is not None else path,
        "contentSize": str(blob.size),
        "sha256": blob.sha256,
        "encodingFormat": _MEDIA.get(PurePosixPath(path).suffix.lower(), _UNKNOWN),
    }
    if artifact is not None:
        entity["additionalType"] = artifact.type
        entity["identifier"] = artifact.id
    return entity


def _action(run_id: str, created: str, artifacts: Iterable[ExportedArtifact]) -> Entity:
    listed = sorted(artifacts, key=lambda item: item.path)
    inputs = [item.path for item in listed if item.path.startswith("inputs/")]
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"run {run_id}",
        "endTime": created,
        "object": [{"@id": path} for path in inputs],
        "result": [{"@id": item.path} for item in listed if item.path not in inputs],
    }
