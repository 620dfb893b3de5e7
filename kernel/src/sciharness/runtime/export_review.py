"""Reviews of what leaves with an export: packages and documents that a run has published."""

from __future__ import annotations

from sciharness.reviewing import Reviews, ask_reviewers
from sciharness.runtime.state import RunState
from sciharness.store.artifacts import ArtifactStore
from sciharness.store.home import Home


def review_export(home: Home, state: RunState) -> tuple[Reviews, ...]:
    """Ask every admitted reviewer about what a run has published, before it is exported.

    A reviewer that was admitted after the run is asked here for the first time.

    Raises:
        ReviewRefusedError: one of them refused, or could not be asked.
    """
    store = ArtifactStore(home)
    found = []
    for made in (*state.packages, *state.documents):
        deliverable = made["deliverable"]
        published = [item for item in state.artifacts if item.step == deliverable]
        facts = {
            "stage": "export",
            "id": made.get("plugin_id", deliverable),
            "version": made.get("version", ""),
            "origin": "generated",
            "deliverable": deliverable,
        }
        files = {item.name: store.path(item.sha256) for item in published}
        reviews = ask_reviewers(home, files, facts)
        reviews.check()
        found.append(reviews)
    return tuple(found)
