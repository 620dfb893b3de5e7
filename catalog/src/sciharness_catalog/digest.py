"""The implementation digest impl-v1: the same for a wheel by any backend and its installed tree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sciharness_catalog.canonical import canonical_json
from sciharness_catalog.metadata import Metadata

SCHEME = b"harness-impl-v1\n"


def implementation_digest(files: Mapping[str, bytes], metadata: Metadata) -> str:
    """Return the impl-v1 digest (64 hex digits) of import packages and their metadata.

    ``files`` maps each path relative to the packages' parent, with ``/``, to
    its bytes. What a build or an installer adds (``RECORD``, ``WHEEL``,
    bytecode, scripts) is no part of it.
    """
    hashed = {path: (hashlib.sha256(data).hexdigest(), len(data)) for path, data in files.items()}
    return digest_of_hashes(hashed, metadata)


def digest_of_hashes(files: Mapping[str, tuple[str, int]], metadata: Metadata) -> str:
    """Return the impl-v1 digest from the SHA-256 (hex) and size of each file."""
    total = hashlib.sha256(SCHEME)
    for path in sorted(files, key=lambda path: path.encode()):
        sha256, size = files[path]
        total.update(f"{sha256} {size} ".encode() + canonical_json(path) + b"\n")
    total.update(
        canonical_json(
            {
                "entry_points": {g: dict(names) for g, names in metadata.entry_points.items()},
                "name": metadata.name,
                "requires": list(metadata.requires),
                "version": metadata.version,
            }
        )
    )
    return total.hexdigest()
