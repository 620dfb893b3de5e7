"""What a profile is: the record that is printed, and the bounds of everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

KINDS = (
    "csv",
    "tsv",
    "json",
    "python",
    "lattice",
    "npy",
    "context_data",
    "directory_bundle",
    "zip_archive",
    "solver_bundle",
    "executable",
    "text",
    "opaque",
)

MOST_BYTES = 10 * 2**20  # of one attachment
MOST_NAMES = 200  # columns, keys, functions: more are counted, not listed
README_BYTES = 65536


@frozen
class Profile:
    """What may be shown of an attachment: structure and names, no row and no source text.

    ``facts`` are JSON values. A text that a document of the attachment brings
    along stands under ``untrusted`` and is never an instruction.
    """

    kind: str
    bytes: int = 0
    sha256: str = ""
    roles: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(factory=dict)  # Any: JSON values
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the profile as it is printed."""
        return {
            "kind": self.kind,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "roles": list(self.roles),
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
        }
