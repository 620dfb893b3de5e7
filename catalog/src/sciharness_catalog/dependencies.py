"""What a distribution needs: recorded by name and version, not verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sciharness_catalog.distributions import index
from sciharness_catalog.errors import IntegrityError


def dependency_versions(distribution: str, *, path: Sequence[Path] | None = None) -> dict[str, str]:
    """Return name and version of every installed distribution that one needs, directly or not."""
    from importlib_metadata import Distribution  # 40 ms that listing plugins does not need

    folders = index(path)
    names = sorted(closure(distribution, folders))
    return {name: Distribution.at(folders[name]).version for name in names}


def closure(distribution: str, folders: Mapping[str, Path]) -> set[str]:
    """Return the names in ``folders`` that a distribution requires, directly or not.

    Markers are judged for this environment. What is required but not installed
    is left out: importing it will tell.

    Raises:
        IntegrityError: a requirement of one of them cannot be read.
    """
    start: str = canonicalize_name(distribution)
    seen: set[tuple[str, str]] = set()
    waiting = [(start, "")]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen or name not in folders:
            continue
        seen.add((name, extra))
        waiting += _required(folders[name], extra)
    return {name for name, _ in seen} - {start}


def _required(info: Path, extra: str) -> Iterator[tuple[str, str]]:
    from importlib_metadata import Distribution

    for text in Distribution.at(info).requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise IntegrityError(f"cannot read requirement: {error}", where=info.name) from error
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for wanted in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), canonicalize_name(wanted)
