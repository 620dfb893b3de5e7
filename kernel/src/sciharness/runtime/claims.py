"""Claims: a scientific claim names evidence that this run has produced."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sciharness.errors import IntegrityError
from sciharness.problems import Problem
from sciharness.runtime.records import ArtifactRef

CLAIM = "scientific_claim"
SUPPORTING = frozenset({"evidence", "verification_result"})


def claim_problems(
    artifacts: Iterable[ArtifactRef], path_of: Callable[[ArtifactRef], Path]
) -> list[Problem]:
    """Return what is wrong with the claims among ``artifacts``.

    A claim is a JSON object whose ``evidence`` lists the IDs of at least one
    artifact of type evidence or verification_result of the same run.
    """
    known = {item.id: item for item in artifacts}
    problems = []
    for claim in known.values():
        if claim.type == CLAIM:
            problems += _problems_of(claim, path_of(claim), known)
    return problems


def _problems_of(claim: ArtifactRef, path: Path, known: Mapping[str, ArtifactRef]) -> list[Problem]:
    where = f"{claim.step}.{claim.name}"
    try:
        named = json.loads(path.read_text("utf-8"))["evidence"]
    except (ValueError, KeyError, TypeError):
        named = None
    if not isinstance(named, list) or not named:
        expected = "a list `evidence` of artifact IDs"
        return [Problem("integrity", where, path="evidence", found="none", expected=expected)]
    return [
        Problem(
            "integrity",
            where,
            path=f"evidence[{place}]",
            found=f"{str(name)[:64]}, which is no evidence of this run",
            expected="the ID of an artifact of type evidence or verification_result",
        )
        for place, name in enumerate(named)
        if not isinstance(name, str) or name not in known or known[name].type not in SUPPORTING
    ]


def check_claims(artifacts: Iterable[ArtifactRef], path_of: Callable[[ArtifactRef], Path]) -> int:
    """Check all claims and return how many there are.

    Raises:
        IntegrityError: a claim stands on nothing; ``problems`` say which.
    """
    listed = list(artifacts)
    problems = claim_problems(listed, path_of)
    if problems:
        raise IntegrityError(
            "a scientific claim names evidence that the run does not have",
            where=problems[0].file,
            problems=problems,
        )
    return sum(1 for item in listed if item.type == CLAIM)
