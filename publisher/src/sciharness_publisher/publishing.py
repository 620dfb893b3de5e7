"""Publish a predictor: accepted artifacts become a wheel and the statement beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

from packaging.version import InvalidVersion, Version

from sciharness.errors import DeliveryError
from sciharness.plugin import Context, Input, Outcome
from sciharness_catalog.attestation import Attestation, Source
from sciharness_catalog.digest import implementation_digest
from sciharness_catalog.metadata import Metadata, canonical_requirement
from sciharness_publisher import __version__
from sciharness_publisher.generated import Json, is_plugin_id
from sciharness_publisher.generated_predictor import (
    OPERATION,
    PROTOCOL,
    predictor_payload,
    predictor_wheel,
)
from sciharness_publisher.wheels import WheelPlan, build_wheel, wheel_members

BUILDER = f"urn:sciharness:publisher:{__version__}"
PAYLOAD = "payload"
# input name -> file name in the package; the evaluation is a source, not a part
PARTS = {
    "model": "model.json",
    "inference": "inference.py",
    "card": "model_card.json",
    "example": "minimal_example.py",
    "guide": "usage_guide.md",
}
FALL_BACK = {"solver": "solver.tar"}  # the solver of a hybrid, beside its model


def publish(plugin_id: str, version: str, context: Context) -> Outcome:
    """Write the wheel and its attestation as artifacts.

    Raises:
        DeliveryError: ID or version cannot be those of a package.
    """
    names = {**PARTS, **FALL_BACK}
    parts = {name: context.inputs[name] for name in names if name in context.inputs}
    files = {names[name]: part.path.read_bytes() for name, part in parts.items()}
    card = json.loads(files["model_card.json"])
    run = json.loads(context.inputs["run"].path.read_text("utf-8"))
    number = checked_identity(plugin_id, version, files["model.json"])
    sources = [source_of(part) for part in (*parts.values(), context.inputs["evaluation"])]
    said = Statements(plugin_id, number, tuple(sources), run)
    bare = predictor_payload(plugin_id, number, files, card)
    name = write_package(
        context, said, bare, lambda inside: predictor_wheel(plugin_id, number, files, inside, card)
    )
    return Outcome(notes=(f"{plugin_id} {number}: {name}",))


def write_package(
    context: Context,
    said: Statements,
    bare: Mapping[str, bytes],
    plan: Callable[[bytes], WheelPlan],
) -> str:
    """Write a wheel and its attestation as artifacts; return the wheel's file name.

    ``bare`` are the package's files but for the statement inside, ``plan``
    gives the wheel with that statement's bytes.
    """
    empty = plan(b"")
    inside = said.of(PAYLOAD, _digest(empty, bare), _digest(empty, bare), bare)
    whole = plan(inside.to_bytes())
    wheel = build_wheel(whole)
    beside = said.of(
        whole.file_name,
        hashlib.sha256(wheel).hexdigest(),
        _digest(whole, whole.files),
        wheel_members(whole),
    )
    context.output(whole.file_name, "generated_plugin").write_bytes(wheel)
    name = f"{whole.file_name}.attestation.json"
    context.output(name, "attestation").write_bytes(beside.to_bytes())
    return whole.file_name


def checked_identity(plugin_id: str, version: str, model: bytes) -> str:
    """Return the version of a package, by default one that follows from the bytes ``model``.

    Raises:
        DeliveryError: ID or version cannot be those of a package.
    """
    if not is_plugin_id(plugin_id):
        raise DeliveryError(
            f"{plugin_id!r} is no plugin ID",
            where="publish.id",
            hint="Use lower-case words of letters, digits and underscores joined by dots.",
        )
    try:
        return str(Version(version or f"0.0.0+{hashlib.sha256(model).hexdigest()[:12]}"))
    except InvalidVersion as fault:
        raise DeliveryError(
            f"{version!r} is no version", where="publish.version", hint="Write one such as 0.1.0."
        ) from fault


def source_of(part: Input) -> Source:
    """Return an artifact that was given to a publisher as a source of its package."""
    ids = part.meta.get("artifacts", [])
    return Source(
        id=str(ids[0]) if ids else "none",
        name=str(part.meta.get("file_name", part.path.name)),
        type=part.type,
        sha256=hashlib.sha256(part.path.read_bytes()).hexdigest(),
    )


class Statements:
    """What both statements of a package have in common."""

    def __init__(
        self,
        plugin_id: str,
        version: str,
        sources: tuple[Source, ...],
        run: Json,
        operation: str = OPERATION,
        protocol: str = PROTOCOL,
    ) -> None:
        self._plugin_id, self._version, self._sources = plugin_id, version, sources
        self._operation, self._protocol = operation, protocol
        self._contract = str(run["contract_digest"])
        self._metrics = {
            item["name"]: float(item["value"])
            for item in run["metrics"]
            if item["source"] == "trusted"
        }

    def of(
        self, subject: str, sha256: str, implementation: str, files: Mapping[str, bytes]
    ) -> Attestation:
        """Return the statement about ``subject``."""
        return Attestation(
            subject=subject,
            subject_sha256=sha256,
            plugin_id=self._plugin_id,
            version=self._version,
            operation=self._operation,
            protocol=self._protocol,
            implementation_digest=implementation,
            files={name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
            sources=self._sources,
            builder=BUILDER,
            contract_sha256=self._contract,
            metrics=self._metrics,
        )


def _digest(plan: WheelPlan, files: Mapping[str, bytes]) -> str:
    metadata = Metadata(
        name=plan.name,
        version=plan.version,
        requires=tuple(sorted(canonical_requirement(text) for text in plan.requires)),
        entry_points=plan.entry_points,
    )
    return implementation_digest(files, metadata)
