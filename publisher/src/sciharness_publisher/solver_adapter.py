"""The publisher ``runtime.solver_adapter``: a solver behind its adapter becomes a package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from sciharness import Context, InputSpec, Outcome, Publisher, hookimpl
from sciharness_publisher.request import PublishRequest

Json = dict[str, Any]  # Any: JSON values

# input name -> file name in the package; there is no fourth source
PARTS = {
    "bundle": "solver.tar",
    "adapter": "adapter.py",
    "validation": "adapter_validation.json",
}


def publish(request: PublishRequest, context: Context) -> Outcome:
    """Write a wheel that solves as the solver does, and its attestation.

    Raises:
        DeliveryError: ID or version cannot be those of a package.
        IntegrityError: status, interface or digests of the sources do not agree.
    """
    # Here and below: not needed to describe.
    from sciharness.adapters import INTERFACE, STATEMENTS, check_interface, read_validation
    from sciharness_publisher.generated_adapter import (
        OPERATION,
        adapter_payload,
        adapter_wheel,
    )
    from sciharness_publisher.publishing import (
        Statements,
        checked_identity,
        source_of,
        write_package,
    )

    parts = {name: context.inputs[name] for name in PARTS}
    files = {PARTS[name]: part.path.read_bytes() for name, part in parts.items()}
    record = read_validation(files[PARTS["validation"]], PARTS["validation"])
    check_interface(files[PARTS["adapter"]], PARTS["adapter"])
    _check_digests(files, record)
    run = json.loads(context.inputs["run"].path.read_text("utf-8"))
    number = checked_identity(request.id, request.version, files[PARTS["adapter"]])
    # A source is known in the package by the name that its bytes have there.
    sources = tuple(evolve(source_of(part), name=PARTS[name]) for name, part in parts.items())
    said = Statements(request.id, number, sources, run, OPERATION, INTERFACE)
    bare = adapter_payload(request.id, number, files, record)
    name = write_package(
        context, said, bare, lambda inside: adapter_wheel(request.id, number, files, inside, record)
    )
    return Outcome(notes=(f"{request.id} {number}: {name}", *STATEMENTS))


def _check_digests(files: Mapping[str, bytes], record: Mapping[str, Any]) -> None:
    from sciharness.errors import IntegrityError

    for part, key in (("bundle", "solver_bundle_sha256"), ("adapter", "adapter_source_sha256")):
        found = hashlib.sha256(files[PARTS[part]]).hexdigest()
        if found != record[key]:
            raise IntegrityError(
                f"{key}: the record says {record[key][:12]}…, the source is {found[:12]}…",
                where=PARTS[part],
            )


@hookimpl
def harness_publishers() -> Sequence[Publisher]:
    """Return the publisher of solver adapters."""
    return (
        Publisher(
            operation="publish",
            run=publish,
            request=PublishRequest,
            summary="Make an installable package of a solver and its adapter, with an attestation.",
            delivers=("solver_adapter",),
            inputs=(
                InputSpec("bundle", ("solver_bundle",)),
                InputSpec("adapter", ("source.python",)),
                InputSpec("validation", ("adapter_validation",)),
                InputSpec("run"),
            ),
        ),
    )
