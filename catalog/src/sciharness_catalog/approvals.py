"""First-party approvals: which digests of our own distributions may load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness_catalog.errors import IntegrityError


@frozen
class Approval:
    """One distribution of ours that may load, with the plugin IDs it may claim.

    ``trusted_metrics`` lets its evaluators report trusted metrics,
    ``trusted_labels`` lets it make the labels of a final data set.
    """

    distribution: str
    version: str
    digest: str
    trusted_metrics: bool = False
    trusted_labels: bool = False
    plugins: tuple[str, ...] = ()


def approvals(folder: Path | None = None) -> Mapping[str, Approval]:
    """Return the approvals that came with the catalog, by distribution name.

    Raises:
        IntegrityError: a file is not an approval, or not named for its distribution.
    """
    folder = folder or Path(__file__).parent / "approvals"
    found = (_read(path) for path in sorted(folder.glob("*.json")))
    return {approval.distribution: approval for approval in found}


def distribution_of(plugin_id: str, known: Mapping[str, Approval]) -> str | None:
    """Return the distribution of ours that provides a plugin ID, ``None`` if none does."""
    for approval in known.values():
        if plugin_id in approval.plugins:
            return approval.distribution
    return None


def approval_text(approval: Approval) -> str:
    """Return an approval as it stands in its file."""
    fields = {
        "distribution": approval.distribution,
        "version": approval.version,
        "digest": approval.digest,
        "trusted_metrics": approval.trusted_metrics,
        "trusted_labels": approval.trusted_labels,
        "plugins": list(approval.plugins),
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _read(path: Path) -> Approval:
    try:
        approval = _approval(json.loads(path.read_bytes()))
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"not an approval: {error!r}", where=f"approvals/{path.name}"
        ) from error
    if path.name != f"{approval.distribution}.json":
        raise IntegrityError(
            f"approves {approval.distribution!r}, not what its name says",
            where=f"approvals/{path.name}",
        )
    return approval


def _approval(fields: Any) -> Approval:  # Any: parsed JSON
    approval = Approval(**{**fields, "plugins": tuple(fields["plugins"])})
    texts = (approval.distribution, approval.version, approval.digest, *approval.plugins)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("expected texts for distribution, version, digest and plugins")
    if not all(type(flag) is bool for flag in (approval.trusted_metrics, approval.trusted_labels)):
        raise TypeError("expected true or false for the trust fields")
    return approval
