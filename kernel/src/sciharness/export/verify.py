"""Verifying an export anywhere: exact files, digests, hash chain, artifacts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import asdict, define, field, frozen

from sciharness.errors import IntegrityError
from sciharness.export._sources import Source, open_source
from sciharness.export.layout import fold, is_safe
from sciharness.export.manifest import (
    EVENTS,
    MANIFEST,
    MAX_MANIFEST,
    STATE,
    ExportedArtifact,
    Manifest,
)
from sciharness.problems import Problem
from sciharness.store._files import Blob
from sciharness.store.chain import MAX_RECORD, ChainError, Head, Row, row_of, verify_rows
from sciharness_catalog.attestation import MAX_BYTES

_LONGEST_LINE = MAX_RECORD + 256
_MAX_STATE = 64 * 1024 * 1024
_MAX_WHEEL = 512 * 1024 * 1024
_WHEEL = "generated_plugin"
_BESIDE = ".attestation.json"
_SHOWN = 50


@frozen
class ExportReport:
    """What a verified export is.

    ``head`` is the hash of its last event, ``manifest`` the digest of its
    manifest: compare them with what the author of the run names.
    """

    run_id: str
    status: str
    files: int
    bytes: int
    artifacts: int
    events: int
    head: str
    manifest: str

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return asdict(self)


def verify_export(path: Path) -> ExportReport:
    """Verify the export at ``path``, a folder or a ZIP, and say what it is.

    No home is needed and nothing is written or unpacked.

    Raises:
        DataError: there is nothing at ``path``.
        IntegrityError: something is missing, added or changed; ``problems``
            lists all findings.
    """
    with open_source(path) as source:
        content = _manifest_bytes(source)
        try:
            manifest = Manifest.from_bytes(content)
        except ValueError as error:
            raise _refusal([_problem(MANIFEST, str(error))]) from error
        check = _Check(source, manifest)
        check.run()
    if check.problems:
        raise _refusal(check.problems)
    return ExportReport(
        run_id=manifest.run_id,
        status=check.events.status,
        files=len(manifest.files) + 1,
        bytes=sum(blob.size for blob in manifest.files.values()) + len(content),
        artifacts=len(manifest.artifacts),
        events=manifest.events.count,
        head=manifest.events.hash,
        manifest=sha256(content).hexdigest(),
    )


@define
class _Events:
    """What the events say, gathered while their chain is recomputed."""

    named: dict[str, dict[str, Any]] = field(factory=dict)  # Any: JSON values
    status: str = ""

    def note(self, record: bytes) -> None:
        value = json.loads(record)
        self.status = str(value.get("projection", {}).get("status", self.status))
        listed = value["body"].get("artifacts")
        for entry in listed if isinstance(listed, list) else []:
            self.named[entry["id"]] = entry


@define
class _Check:
    source: Source
    manifest: Manifest
    problems: list[Problem] = field(factory=list)
    events: _Events = field(factory=_Events)

    def run(self) -> None:
        listed, found = set(self.manifest.files), self.source.names() - {MANIFEST}
        self._names(listed)
        for name in sorted(listed - found):
            self._add(name, "nothing", "a file of the manifest")
        for name in sorted(found - listed):
            self._add(name, "a file that the manifest does not list")
        for name in sorted(listed & found):
            self._digest(name, self.manifest.files[name])
        self._chain(EVENTS in found)
        self._artifacts()
        self._packages(found)
        self._state(STATE in found)

    def _add(self, file: str, found: str, expected: str = "", line: int | None = None) -> None:
        self.problems.append(_problem(file, found, expected, line))

    def _names(self, names: Iterable[str]) -> None:
        seen: dict[str, str] = {}
        for name in names:
            if not is_safe(name):
                self._add(repr(name), "a path that is not plainly beneath the export")
            if (twin := seen.setdefault(fold(name), name)) != name:
                self._add(name, f"the same name as {twin} where case does not count")

    def _digest(self, name: str, expected: Blob) -> None:
        try:
            found = _hash(self.source.read(name))
        except (ValueError, OSError) as error:
            self._add(name, f"unreadable: {error}")
            return
        if found != expected:
            self._add(name, _said(found), _said(expected))

    def _chain(self, present: bool) -> None:
        if not present:
            return
        try:
            count, head = verify_rows(self.manifest.run_id, self._rows())
        except ChainError as error:
            self._add(EVENTS, f"event {error.seq} {error.reason}", line=error.seq)
            return
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self._add(EVENTS, f"unreadable: {error}")
            return
        found, stated = Head(count, head.hex()), self.manifest.events
        if found != stated:
            self._add(EVENTS, _chain_end(found), _chain_end(stated))

    def _rows(self) -> Iterator[Row]:
        for number, line in enumerate(_lines(self.source.read(EVENTS)), start=1):
            try:
                row = row_of(line)
                yield row
                # Only reached when the hash of this event has been found right.
                self.events.note(row[1])
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise ValueError(f"line {number} {error}") from error

    def _artifacts(self) -> None:
        placed = {artifact.id: artifact for artifact in self.manifest.artifacts}
        for id in self.events.named.keys() - placed.keys():
            self._add(MANIFEST, f"no artifact {id[:12]}", "every artifact that an event names")
        for artifact in self.manifest.artifacts:
            self._artifact(artifact, self.events.named.get(artifact.id))

    def _artifact(self, artifact: ExportedArtifact, named: Mapping[str, Any] | None) -> None:
        if named is None:
            self._add(artifact.path, "an artifact that no event names")
            return
        for name in ("name", "type", "sha256", "size"):
            found, expected = getattr(artifact, name), named.get(name)
            if found != expected:
                self._add(artifact.path, f"{name} {found}", f"{expected}, as the event says")
        if self.manifest.files.get(artifact.path) != Blob(artifact.sha256, artifact.size):
            self._add(artifact.path, "another file", "the bytes of the artifact")

    def _packages(self, present: Iterable[str]) -> None:
        """Compare each published wheel with its attestation, item by item."""
        for artifact in self.manifest.artifacts:
            if artifact.type != _WHEEL or artifact.path not in present:
                continue
            beside = f"{artifact.path}{_BESIDE}"
            if beside not in present:
                self._add(artifact.path, "no attestation", f"{artifact.name}{_BESIDE} beside it")
                continue
            self._package(artifact, beside)

    def _package(self, artifact: ExportedArtifact, beside: str) -> None:
        from sciharness.generated.packages import parse_generated  # few exports hold a package

        try:
            parse_generated(
                artifact.name,
                _bounded(self.source.read(artifact.path), _MAX_WHEEL),
                _bounded(self.source.read(beside), MAX_BYTES),
            )
        except (IntegrityError, ValueError, OSError) as error:
            self._add(artifact.path, str(error), "a wheel that fits its attestation")

    def _state(self, present: bool) -> None:
        if not present:
            self._add(STATE, "nothing", "the state of the run")
            return
        try:
            state = json.loads(_bounded(self.source.read(STATE), _MAX_STATE))
            stated = [state.get(name) for name in ("run_id", "status")]
        except (ValueError, AttributeError, RecursionError, OSError) as error:
            self._add(STATE, f"unreadable: {error}")
            return
        told = [self.manifest.run_id, self.events.status]
        for name, found, expected in zip(("run_id", "status"), stated, told, strict=True):
            if found is not None and expected and found != expected:
                self._add(STATE, f"{name} {found}", f"{expected}, as the events say")


def _manifest_bytes(source: Source) -> bytes:
    if MANIFEST not in source.names():
        raise _refusal([_problem(MANIFEST, "nothing", "the manifest of an export")])
    try:
        return _bounded(source.read(MANIFEST), MAX_MANIFEST)
    except (ValueError, OSError) as error:
        raise _refusal([_problem(MANIFEST, f"unreadable: {error}")]) from error


def _bounded(chunks: Iterable[bytes], limit: int) -> bytes:
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > limit:
            raise ValueError(f"is larger than {limit} bytes")
    return bytes(content)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
        if len(rest) > _LONGEST_LINE:
            raise ValueError("a line is too long for an event")
    if rest:
        yield rest


def _hash(chunks: Iterable[bytes]) -> Blob:
    digest, size = sha256(), 0
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
    return Blob(digest.hexdigest(), size)


def _said(blob: Blob) -> str:
    return f"{blob.size} bytes, SHA-256 {blob.sha256[:16]}…"


def _chain_end(head: Head) -> str:
    return f"{head.count} events ending with {head.hash[:16]}…"


def _problem(file: str, found: str, expected: str = "", line: int | None = None) -> Problem:
    return Problem("integrity", file=file, line=line, found=found, expected=expected)


def _refusal(problems: list[Problem]) -> IntegrityError:
    shown = "; ".join(str(problem) for problem in problems[:3])
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return IntegrityError(
        f"does not verify: {shown}{more}",
        where="export",
        hint="Get the export again from where it came from.",
        problems=problems[:_SHOWN],
    )
