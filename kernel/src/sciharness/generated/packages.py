"""A generated package and its statements, checked against each other byte by byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.contract.artifact_types import PREDICTOR_FILES
from sciharness.errors import DataError, IntegrityError
from sciharness.runtime.inference import SOLVER_ARCHIVE
from sciharness_catalog.attestation import Attestation
from sciharness_catalog.digest import implementation_digest
from sciharness_catalog.wheels import Wheel, parse_wheel

GROUP = "sciharness.plugins"
STATEMENT = "attestation.json"
PAYLOAD = "payload"
_LONGEST_ID = 100
_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


@frozen
class GeneratedPackage:
    """A wheel as it was read once, with the statement beside it."""

    file_name: str
    content: bytes
    wheel: Wheel
    statement: Attestation
    beside: bytes

    @property
    def package(self) -> str:
        """The name of its import package."""
        return str(self.wheel.metadata.entry_points[GROUP][self.statement.plugin_id])

    def predictor(self) -> dict[str, bytes]:
        """Return the predictor's files by name."""
        return predictor_files(self.wheel.files, self.package)


def predictor_files(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """Return the predictor's three files among those of an import package.

    A hybrid brings a fourth: the archive of the solver it falls back to.

    Raises:
        IntegrityError: one is missing.
    """
    found = {}
    for name in PREDICTOR_FILES:
        data = files.get(f"{package}/{name}")
        if data is None:
            raise IntegrityError(f"{package}/{name} is missing", where=package)
        found[name] = data
    solver = files.get(f"{package}/{SOLVER_ARCHIVE}")
    return found if solver is None else {**found, SOLVER_ARCHIVE: solver}


def read_generated(wheel: Path, attestation: Path | None = None) -> GeneratedPackage:
    """Return a generated wheel after every item of its statements was compared with it.

    The statement lies beside the wheel unless ``attestation`` names it.

    Raises:
        DataError: a file is missing.
        IntegrityError: naming each item that differs.
    """
    beside = attestation or wheel.with_name(f"{wheel.name}.attestation.json")
    for path in (wheel, beside):
        if not path.is_file():
            raise DataError(
                "there is no such file",
                where=str(path),
                hint="A published wheel comes with its attestation; name it with --attestation.",
            )
    return parse_generated(wheel.name, wheel.read_bytes(), beside.read_bytes())


def parse_generated(file_name: str, content: bytes, beside: bytes) -> GeneratedPackage:
    """Return a package of bytes that were read, after every item was compared.

    Raises:
        IntegrityError: naming each item that differs.
    """
    statement = Attestation.parse(beside, where=f"{file_name}.attestation.json")
    wheel = parse_wheel(content, where=file_name)
    found = GeneratedPackage(file_name, content, wheel, statement, beside)
    _compare(found)
    return found


def _compare(found: GeneratedPackage) -> None:
    said, wheel = found.statement, found.wheel
    if len(said.plugin_id) > _LONGEST_ID or not _ID.fullmatch(said.plugin_id):
        raise IntegrityError(f"{said.plugin_id[:80]!r} is no plugin ID", where=found.file_name)
    held: dict[str, object] = {
        "subject": found.file_name,
        "wheel digest": hashlib.sha256(found.content).hexdigest(),
        "implementation digest": wheel.digest,
        "version": wheel.metadata.version,
        "plugin ID": sorted(wheel.metadata.entry_points.get(GROUP, {})),
    }
    stated: dict[str, object] = {
        "subject": said.subject,
        "wheel digest": said.subject_sha256,
        "implementation digest": said.implementation_digest,
        "version": said.version,
        "plugin ID": [said.plugin_id],
    }
    held.update(
        {f"file {name}": hashlib.sha256(data).hexdigest() for name, data in wheel.members.items()}
    )
    stated.update({f"file {name}": digest for name, digest in said.files.items()})
    for source in said.sources:
        part = wheel.files.get(f"{said.plugin_id.replace('.', '_')}/{source.name}")
        if part is not None:  # the evaluation is a source and no part
            held[f"source {source.name}"] = _sha256(part)
            stated[f"source {source.name}"] = source.sha256
    differing = [item for item in sorted({*held, *stated}) if held.get(item) != stated.get(item)]
    if differing:
        raise _differs(found.file_name, differing)
    _check_paths(found)
    _compare_inside(found)


def _check_paths(found: GeneratedPackage) -> None:
    """Refuse members elsewhere than in the one import package that the ID stands for."""
    package = found.statement.plugin_id.replace(".", "_")
    if found.package != package:
        raise IntegrityError(
            f"expected the import package {package}, found {found.package}", where=found.file_name
        )
    info = f"{found.wheel.metadata.name.replace('-', '_')}-{found.wheel.metadata.version}.dist-info"
    for path in found.wheel.members:
        if path.partition("/")[0] not in (package, info):
            raise IntegrityError(f"{path!r} is outside the package", where=found.file_name)


def _compare_inside(found: GeneratedPackage) -> None:
    path = f"{found.package}/{STATEMENT}"
    content = found.wheel.files.get(path)
    if content is None:
        raise IntegrityError(f"{path} is missing", where=found.file_name)
    inside = Attestation.parse(content, where=path)
    bare = {name: data for name, data in found.wheel.files.items() if name != path}
    digest = implementation_digest(bare, found.wheel.metadata)
    pairs = {
        "payload digest": (inside.subject_sha256, digest),
        "sources": (inside.sources, found.statement.sources),
        "contract": (inside.contract_sha256, found.statement.contract_sha256),
        "metrics": (dict(inside.metrics), dict(found.statement.metrics)),
        "plugin ID": (inside.plugin_id, found.statement.plugin_id),
        "version": (inside.version, found.statement.version),
        "subject": (inside.subject, PAYLOAD),
        "operation": (inside.operation, found.statement.operation),
        "protocol": (inside.protocol, found.statement.protocol),
        "builder": (inside.builder, found.statement.builder),
        "implementation digest": (inside.implementation_digest, digest),
        "files": (dict(inside.files), {name: _sha256(data) for name, data in bare.items()}),
    }
    differing = [name for name, (one, other) in pairs.items() if one != other]
    if differing:
        raise _differs(f"{found.file_name}/{path}", differing)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _differs(where: str, items: list[str]) -> IntegrityError:
    return IntegrityError(
        f"package and attestation differ: {', '.join(items)}",
        where=where,
        hint="Take wheel and attestation from the same export.",
    )


def card_of(files: Mapping[str, bytes], where: str) -> dict[str, Any]:  # Any: JSON values
    """Return the model card among a predictor's files.

    Raises:
        DataError: it is no model card of file-predictor-v1.
    """
    try:
        card = json.loads(files["model_card.json"])
        card["task"], card["target"]["name"], [column["name"] for column in card["columns"]]
    except (ValueError, KeyError, TypeError) as fault:
        raise DataError(
            "is no model card of file-predictor-v1",
            where=f"{where}/model_card.json",
            hint="It needs task, target.name and columns[].name.",
        ) from fault
    return dict(card)
