"""Documents: what publishers make that is no installable package, such as a printed model card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from sciharness.errors import DeliveryError
from sciharness.plugins import Leasable
from sciharness.reviewing import Reviews, ask_reviewers
from sciharness.runtime.records import ArtifactRef, to_plain
from sciharness.runtime.session import NewEvent
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore, artifact_id
from sciharness.store.home import Home
from sciharness.workers.pool import JobResult

# Only the publishers that are checked against the record of the run may make these.
PACKAGE_TYPES = frozenset({"generated_plugin", "attestation"})


@frozen
class Documents:
    """The files that one publisher made of a run, and what reviewers said."""

    deliverable: str
    publisher: str
    artifacts: tuple[ArtifactRef, ...]
    reviews: Reviews

    def event(self) -> NewEvent:
        """Return the event that binds the files to the run."""
        return (
            "DocumentsPublished",
            {
                "deliverable": self.deliverable,
                "publisher": self.publisher,
                "artifacts": to_plain(self.artifacts),
                "review": self.reviews.to_dict(),
            },
        )


def accepted_documents(
    home: Home,
    state: RunState,
    deliverable: str,
    publisher: Leasable,
    request: Mapping[str, Any],  # Any: JSON values
    result: JobResult,
    index: int,
) -> Documents:
    """Have what a publisher made reviewed, and take it into the store.

    Raises:
        DeliveryError: it made nothing, or what only packages may be.
        IntegrityError: a reviewer refused it.
    """
    made = sorted(result.artifacts, key=lambda item: item.name)
    if not made or PACKAGE_TYPES.intersection(item.type for item in made):
        raise DeliveryError(
            "the publisher has to write files, and neither a wheel nor an attestation",
            where=deliverable,
        )
    facts = {
        "stage": "publish",
        "id": str(request["id"]),
        "version": str(request["version"]),
        "origin": "generated",
        "deliverable": deliverable,
    }
    reviews = ask_reviewers(home, {item.name: item.path for item in made}, facts)
    reviews.check()
    store = ArtifactStore(home)
    blobs = {item.name: store.ingest(item.path) for item in made}
    artifacts = tuple(
        ArtifactRef(
            id=artifact_id(item.type, item.name, blobs[item.name].sha256, index),
            name=item.name,
            type=item.type,
            sha256=blobs[item.name].sha256,
            size=blobs[item.name].size,
            action=index,
            step=deliverable,
        )
        for item in made
    )
    return Documents(deliverable, str(publisher.pin), artifacts, reviews)
