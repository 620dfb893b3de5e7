"""Publishing: packages made from an accepted run, compared with its record, reviewed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from sciharness.adapters import INTERFACE
from sciharness.contract.fields import DELIVERABLES
from sciharness.contract.records import Publication
from sciharness.errors import DeliveryError, IntegrityError
from sciharness.plugin import Input
from sciharness.plugins import Leasable, Plugins
from sciharness.requests import apply_defaults
from sciharness.reviewing import Reviews, ask_reviewers
from sciharness.runtime.adapter_sources import DELIVERABLE, adapter_sources
from sciharness.runtime.comparing import (
    accepted_artifacts,
    compare,
    evaluated_metrics,
)
from sciharness.runtime.documents import Documents, accepted_documents
from sciharness.runtime.records import ArtifactRef, to_plain
from sciharness.runtime.session import NewEvent
from sciharness.runtime.state import RunState
from sciharness.runtime.view import report_view
from sciharness.store.artifacts import ArtifactStore, artifact_id
from sciharness.store.home import Home
from sciharness.workers.pool import Job, JobResult, Workers
from sciharness_catalog.attestation import Attestation
from sciharness_catalog.pins import Pin
from sciharness_catalog.wheels import read_wheel

WHEEL = "generated_plugin"
ATTESTATION = "attestation"


@frozen
class Published:
    """A package of a run: its wheel and statement as artifacts, and what reviewers said."""

    deliverable: str
    wheel: ArtifactRef
    attestation: ArtifactRef
    statement: Attestation
    reviews: Reviews

    def event(self) -> NewEvent:
        """Return the event that binds the package to the run."""
        return (
            "PackagePublished",
            {
                "deliverable": self.deliverable,
                "plugin_id": self.statement.plugin_id,
                "version": self.statement.version,
                "wheel_sha256": self.wheel.sha256,
                "attestation_sha256": self.attestation.sha256,
                "implementation_digest": self.statement.implementation_digest,
                "artifacts": to_plain([self.wheel, self.attestation]),
                "review": self.reviews.to_dict(),
            },
        )


def publishers(plugins: Plugins) -> dict[str, Leasable]:
    """Return the admitted publishers by what they deliver.

    Raises:
        IntegrityError: two of them deliver the same.
    """
    found: dict[str, Leasable] = {}
    for status in plugins.listing():
        for operation in status.roles:
            if operation.kind != "publisher":
                continue
            for deliverable in operation.delivers:
                if deliverable in found:
                    raise IntegrityError(
                        f"{found[deliverable].operation.name} and {operation.name} both make it",
                        where=deliverable,
                        hint="Revoke one of them with `harness plugin revoke`.",
                    )
                found[deliverable] = plugins.role("publisher", operation.name)
    return found


def publish(home: Home, state: RunState) -> list[Published | Documents]:
    """Make everything that the contract of an accepted run asks for.

    Raises:
        HarnessError: a package could not be made, differs from the record, or was refused.
    """
    wanted = state.contract.deliver
    if not wanted:
        return []
    if not state.contract.permissions.publish_plugins:
        raise DeliveryError("permissions.publish_plugins is off", where="deliver")
    plugins = Plugins(home)
    known = {name: _pinned(plugins, text) for name, text in state.publishers.items()}
    scratch = Path(tempfile.mkdtemp(prefix="publish-", dir=home.temporary))
    try:
        with Workers(scratch / "pool", hidden=(home.path,)) as pool:
            return [
                _publish_one(home, state, name, _known(known, name), pool, scratch, place)
                for place, name in enumerate(wanted)
            ]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _pinned(plugins: Plugins, text: str) -> Leasable:
    pin = Pin.parse(text)
    return plugins.role("publisher", pin.capability, pin)


def _known(known: Mapping[str, Leasable], name: str) -> Leasable:
    if name not in known:
        raise DeliveryError(
            "no admitted publisher makes it",
            where=f"deliver.{name}",
            hint="See `harness plugin list`.",
        )
    return known[name]


def _publish_one(
    home: Home,
    state: RunState,
    deliverable: str,
    lease: Leasable,
    pool: Workers,
    scratch: Path,
    place: int,
) -> Published | Documents:
    identity = state.contract.publish.get(deliverable) or _default_identity(state)
    inputs = _inputs(home, state, lease, scratch)
    request = apply_defaults(
        lease.operation.request_schema,
        {"id": identity.id, "version": identity.version or ""},
    )
    job = Job(
        pin=lease.pin,
        operation=lease.operation,
        package=lease.package(),
        request=request,
        inputs=inputs,
        workspace=scratch / deliverable,
        wall_limit=300.0,
        fresh=True,
    )
    result = pool.run(job)
    index = len(state.settled) + 1 + place
    if deliverable not in DELIVERABLES:
        return accepted_documents(home, state, deliverable, lease, request, result, index)
    return _accepted(home, state, deliverable, result, index)


def _default_identity(state: RunState) -> Publication:
    words = "".join(mark if mark.isalnum() else "_" for mark in state.contract.title.lower())
    name = "_".join(part for part in words.split("_") if part.isascii() and part)[:60]
    return Publication(id=f"generated.{name or 'predictor'}".replace("._", "."))


def _inputs(home: Home, state: RunState, lease: Leasable, scratch: Path) -> dict[str, Input]:
    store = ArtifactStore(home)
    record = scratch / "run.json"
    record.write_text(json.dumps(report_view(state), allow_nan=False), encoding="utf-8")
    inputs = {"run": Input("run", record, "run")}
    accepted = (
        adapter_sources(home, state)
        if DELIVERABLE in lease.operation.delivers
        else accepted_artifacts(state)
    )
    for spec in lease.operation.inputs:
        if spec.name == "run":
            continue
        fit = [item for item in accepted if item.type in spec.types]
        if len(fit) == 1:
            inputs[spec.name] = Input(
                spec.name,
                store.path(fit[0].sha256, verified=True),
                fit[0].type,
                meta={"artifacts": [fit[0].id], "file_name": fit[0].name},
            )
        elif not (spec.optional and not fit):
            raise DeliveryError(
                f"{len(fit)} artifacts fit the input {spec.name} of the publisher",
                where=lease.operation.name,
                hint="A package is made from exactly one frozen and evaluated predictor.",
            )
    return inputs


def _accepted(
    home: Home, state: RunState, deliverable: str, result: JobResult, index: int
) -> Published:
    made = {item.type: item for item in result.artifacts}
    if set(made) != {WHEEL, ATTESTATION} or len(result.artifacts) != 2:
        raise DeliveryError(
            "the publisher has to write one wheel and one attestation", where=deliverable
        )
    statement = Attestation.parse(made[ATTESTATION].path.read_bytes(), where=deliverable)
    if deliverable == DELIVERABLE:
        sources = adapter_sources(home, state)
        compare(state, made[WHEEL].path, statement, {}, sources, INTERFACE)
    else:
        evaluated = evaluated_metrics(home, state)
        compare(state, made[WHEEL].path, statement, evaluated)
    facts = {
        "stage": "publish",
        "id": statement.plugin_id,
        "version": statement.version,
        "origin": "generated",
        "implementation_digest": statement.implementation_digest,
    }
    reviews = ask_reviewers(home, read_wheel(made[WHEEL].path).files, facts)
    reviews.check()
    store = ArtifactStore(home)
    stored = {}
    for kind, item in made.items():
        blob = store.ingest(item.path)
        stored[kind] = ArtifactRef(
            id=artifact_id(kind, item.name, blob.sha256, index),
            name=item.name,
            type=kind,
            sha256=blob.sha256,
            size=blob.size,
            action=index,
            step=deliverable,
        )
    return Published(deliverable, stored[WHEEL], stored[ATTESTATION], statement, reviews)


def install_published(home: Home, package: Published) -> None:
    """Install a package of this run below the home, through the same checks as any other.

    Raises:
        HarnessError: a check failed; nothing was installed.
    """
    from sciharness.generated.installing import install  # it reads packages, this module makes them

    scratch = Path(tempfile.mkdtemp(prefix="install-", dir=home.temporary))
    store = ArtifactStore(home)
    try:
        for item in (package.wheel, package.attestation):
            shutil.copyfile(store.path(item.sha256, verified=True), scratch / item.name)
        install(home, scratch / package.wheel.name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
