"""Attestations: in-toto statements that say from which artifacts a package was made.

A statement binds, it does not sign: it protects against change, not against
someone who can also rewrite the catalog.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Self

from attrs import field, frozen

from sciharness_catalog.canonical import canonical_json
from sciharness_catalog.errors import IntegrityError

STATEMENT = "https://in-toto.io/Statement/v1"
PROVENANCE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:sciharness:generated-plugin:v1"
MAX_BYTES = 1024 * 1024

_HEX = re.compile(r"[0-9a-f]{64}\Z")

Json = dict[str, Any]  # Any: JSON values


@frozen
class Source:
    """An artifact that a package was made from: its ID, name, type and SHA-256."""

    id: str
    name: str
    type: str
    sha256: str


@frozen
class Attestation:
    """One statement about one package.

    ``subject`` is the file name of the wheel and ``subject_sha256`` its digest;
    inside the wheel, which cannot hold its own digest, the subject is the
    implementation digest under the name ``impl-v1``. ``files`` maps paths to
    SHA-256, ``parameters`` are what the package was asked to be (plugin ID,
    version, protocol), ``metrics`` the values in the run's state that it goes with.
    """

    subject: str
    subject_sha256: str
    plugin_id: str
    version: str
    operation: str
    protocol: str
    implementation_digest: str
    files: Mapping[str, str]
    sources: tuple[Source, ...]
    builder: str
    contract_sha256: str
    metrics: Mapping[str, float] = field(factory=dict)

    def to_bytes(self) -> bytes:
        """Return the statement as its RFC 8785 bytes, without any time."""
        return canonical_json(self.to_dict())

    @property
    def sha256(self) -> str:
        """The digest by which the statement is known."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_dict(self) -> Json:
        """Return the statement as JSON values: in-toto Statement v1, SLSA provenance v1."""
        return {
            "_type": STATEMENT,
            "subject": [{"name": self.subject, "digest": {"sha256": self.subject_sha256}}],
            "predicateType": PROVENANCE,
            "predicate": {
                "buildDefinition": {
                    "buildType": BUILD_TYPE,
                    "externalParameters": {
                        "pluginId": self.plugin_id,
                        "version": self.version,
                        "operation": self.operation,
                        "protocol": self.protocol,
                        "contractSha256": self.contract_sha256,
                    },
                    "internalParameters": {
                        "implementationDigest": self.implementation_digest,
                        "files": dict(self.files),
                        "metrics": dict(self.metrics),
                    },
                    "resolvedDependencies": [
                        {
                            "name": source.name,
                            "uri": f"artifact:{source.id}",
                            "mediaType": source.type,
                            "digest": {"sha256": source.sha256},
                        }
                        for source in sorted(self.sources, key=lambda item: (item.name, item.id))
                    ],
                },
                "runDetails": {"builder": {"id": self.builder}},
            },
        }

    @classmethod
    def parse(cls, content: bytes, *, where: str = "attestation") -> Self:
        """Return the statement in ``content``, which has to be its very RFC 8785 bytes.

        Raises:
            IntegrityError: it is too large, no statement of this kind, or spelled otherwise.
        """
        if len(content) > MAX_BYTES:
            raise IntegrityError(f"larger than {MAX_BYTES} bytes", where=where)
        try:
            found = cls._from_dict(json.loads(content))
            same = found.to_bytes() == content
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            same = False
        if not same:
            raise IntegrityError(
                "is no statement of a generated plugin in canonical form",
                where=where,
                hint="Take the file that was published beside the wheel.",
            )
        return found

    @classmethod
    def _from_dict(cls, value: Json) -> Self:
        build = value["predicate"]["buildDefinition"]
        outside, inside = build["externalParameters"], build["internalParameters"]
        subject = value["subject"][0]
        return cls(
            subject=_text(subject["name"]),
            subject_sha256=_digest(subject["digest"]["sha256"]),
            plugin_id=_text(outside["pluginId"]),
            version=_text(outside["version"]),
            operation=_text(outside["operation"]),
            protocol=_text(outside["protocol"]),
            contract_sha256=_digest(outside["contractSha256"]),
            implementation_digest=_digest(inside["implementationDigest"]),
            files={_text(name): _digest(one) for name, one in inside["files"].items()},
            metrics={_text(name): float(one) for name, one in inside["metrics"].items()},
            sources=tuple(_source(item) for item in build["resolvedDependencies"]),
            builder=_text(value["predicate"]["runDetails"]["builder"]["id"]),
        )


def differences(found: Attestation, expected: Attestation) -> list[str]:
    """Return what two statements say differently, one text per item."""
    one, other = _flat(found.to_dict()), _flat(expected.to_dict())
    return [
        f"{name}: expected {other.get(name, 'nothing')}, found {one.get(name, 'nothing')}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def _flat(value: Any, path: str = "") -> dict[str, str]:  # Any: JSON values
    if isinstance(value, dict):
        return {
            k: v for name, item in value.items() for k, v in _flat(item, f"{path}.{name}").items()
        }
    if isinstance(value, list):
        return {
            k: v
            for place, item in enumerate(value)
            for k, v in _flat(item, f"{path}[{place}]").items()
        }
    return {path.lstrip("."): json.dumps(value)}


def _source(value: Json) -> Source:
    uri = _text(value["uri"])
    if not uri.startswith("artifact:"):
        raise ValueError(uri)
    return Source(
        id=uri.removeprefix("artifact:"),
        name=_text(value["name"]),
        type=_text(value["mediaType"]),
        sha256=_digest(value["digest"]["sha256"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text is expected")
    return value


def _digest(value: object) -> str:
    if not isinstance(value, str) or not _HEX.match(value):
        raise ValueError("a SHA-256 in lower-case hex is expected")
    return value
