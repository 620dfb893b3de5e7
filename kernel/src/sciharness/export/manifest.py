"""``MANIFEST.json`` of an export: every file with its digest, every artifact with its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import asdict, field, frozen

from sciharness.store._files import Blob
from sciharness.store.chain import Head
from sciharness_catalog.canonical import canonical_json

MANIFEST = "MANIFEST.json"
EVENTS = "events.jsonl"
STATE = "state.json"
README = "README.txt"
SCHEMA = "export-v1"
MAX_MANIFEST = 64 * 1024 * 1024


@frozen
class ExportedArtifact:
    """An artifact of the run and the file of the export that holds its bytes."""

    id: str
    name: str
    type: str
    sha256: str
    size: int
    path: str


@frozen
class Manifest:
    """What an export holds; ``files`` lists all but the manifest itself."""

    run_id: str
    events: Head
    files: Mapping[str, Blob] = field(factory=dict)
    artifacts: tuple[ExportedArtifact, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the canonical JSON that stands in the export."""
        return canonical_json(
            {
                "schema": SCHEMA,
                "run_id": self.run_id,
                "events": asdict(self.events),
                "files": {path: asdict(blob) for path, blob in self.files.items()},
                "artifacts": [asdict(artifact) for artifact in self.artifacts],
            }
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Return the manifest that ``content`` is.

        Raises:
            ValueError: the bytes are not exactly those of a manifest.
        """
        try:
            value = json.loads(content)
            manifest = _structure(cls, value)
            same = value.get("schema") == SCHEMA and manifest.to_bytes() == content
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("is no manifest of an export") from error
        if not same:
            raise ValueError(f"is not written as a manifest of schema {SCHEMA} is")
        return manifest


def _structure(cls: type[Manifest], value: Any) -> Manifest:  # Any: JSON values
    return cls(
        run_id=_text(value["run_id"]),
        events=Head(_count(value["events"]["count"]), _text(value["events"]["hash"])),
        files={_text(path): _blob(entry) for path, entry in value["files"].items()},
        artifacts=tuple(_artifact(entry) for entry in value["artifacts"]),
    )


def _artifact(value: Any) -> ExportedArtifact:  # Any: JSON values
    return ExportedArtifact(
        id=_text(value["id"]),
        name=_text(value["name"]),
        type=_text(value["type"]),
        sha256=_text(value["sha256"]),
        size=_count(value["size"]),
        path=_text(value["path"]),
    )


def _blob(value: Any) -> Blob:  # Any: JSON values
    return Blob(_text(value["sha256"]), _count(value["size"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("expected a count")
    return value
