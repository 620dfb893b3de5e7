"""The page of an export about its packages: what they are, who looked, how they are used.

The report is written before anything is published; this page says the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sciharness.adapters import STATEMENTS

PAGE = "packages.md"

ADAPTER = "solver_adapter"

Body = Mapping[str, Any]  # Any: JSON values of an event

_WORDS = """\
Digests and attestation say from which artifacts of the run a package came. They
are no code signing and no verdict of safety.
"""


def package_page(packages: Sequence[Body]) -> str:
    """Return the page about the published packages of a run, in Markdown."""
    return "\n".join(["# Packages of this run\n", _WORDS, *map(_package, packages)])


def _package(body: Body) -> str:
    review = body["review"]
    performed = str(review["independent_binary_review_performed"]).lower()
    names = {one["sha256"]: one["name"] for one in body["artifacts"]}
    lines = [
        f"## {body['plugin_id']} {body['version']}\n",
        f"- made for: `{body['deliverable']}`",
        f"- file: `{names.get(body['wheel_sha256'], '')}`",
        f"- SHA-256: `{body['wheel_sha256']}`",
        f"- attestation: `{body['attestation_sha256']}`",
        f"- implementation digest: `{body['implementation_digest']}`",
        f"- independent_binary_review_performed: {performed}",
        f"- review: {_reviewed(review)}",
        *(f"- {text}" for text in (STATEMENTS if body["deliverable"] == ADAPTER else ())),
        "",
    ]
    return "\n".join(lines)


def _reviewed(review: Body) -> str:
    said = [
        f"{one['reviewer']} has {'accepted' if one.get('accepted') else 'refused'} it"
        for one in review.get("reviews", [])
        if one.get("performed")
    ]
    return "; ".join(said) or f"{review['policy']}, nobody has looked into the package"
