"""What a distribution says of itself: name, version, requirements, entry points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sciharness_catalog.errors import IntegrityError

EntryPoints = Mapping[str, Mapping[str, str]]


@frozen
class Metadata:
    """The part of a distribution's metadata that an implementation digest covers.

    ``name`` and ``version`` are in canonical form, ``requires`` is sorted and
    holds every requirement, also those of extras; ``entry_points`` maps group
    to name to value.
    """

    name: str
    version: str
    requires: tuple[str, ...]
    entry_points: EntryPoints


def parse_metadata(metadata: bytes, entry_points: bytes | None, *, where: str) -> Metadata:
    """Return what the texts of ``METADATA`` and ``entry_points.txt`` say.

    Raises:
        IntegrityError: a text is not UTF-8, says something twice, or names no
            usable name, version or requirement; ``where`` is told with it.
    """
    headers = _headers(_text(metadata, f"{where}/METADATA"))
    name = _single(headers, "name", where)
    try:
        return Metadata(
            name=canonicalize_name(name, validate=True),
            version=str(Version(_single(headers, "version", where))),
            requires=tuple(
                sorted(canonical_requirement(r) for r in headers.get("requires-dist", ()))
            ),
            entry_points=parse_entry_points(entry_points or b"", where=f"{where}/entry_points.txt"),
        )
    except (InvalidVersion, InvalidRequirement, ValueError) as error:
        raise IntegrityError(str(error), where=f"{where}/METADATA") from error


def canonical_requirement(text: str) -> str:
    """Return one spelling of a requirement, whichever backend wrote it.

    >>> canonical_requirement("PyYAML (<7,>=6) ; extra == 'Foo_Bar'")
    'pyyaml<7,>=6; extra == "foo-bar"'
    """
    requirement = Requirement(text)
    requirement.name = canonicalize_name(requirement.name)
    requirement.extras = {canonicalize_name(extra) for extra in requirement.extras}
    return str(requirement)


def parse_entry_points(text: bytes, *, where: str) -> dict[str, dict[str, str]]:
    r"""Return the entry points of ``entry_points.txt`` by group and name.

    >>> parse_entry_points(b"[g]\na = m:f\n", where="x")
    {'g': {'a': 'm:f'}}
    """
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] | None = None
    for number, raw in enumerate(_text(text, where).splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "[" and line[-1] == "]":
            group = groups.setdefault(line[1:-1].strip(), {})
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if group is None or not equals or not name or not value:
            raise IntegrityError(f"line {number}: expected NAME = VALUE in a group", where=where)
        if name in group:
            raise IntegrityError(f"line {number}: {name!r} is named twice", where=where)
        group[name] = "".join(value.split())
    return {name: group for name, group in groups.items() if group}


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IntegrityError(f"expected UTF-8 text, {error.reason}", where=where) from error


def _headers(text: str) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if not line:
            break
        if line[0] in " \t":  # continuation of a long header, none of those we read
            continue
        key, _, value = line.partition(":")
        headers.setdefault(key.strip().lower(), []).append(value.strip())
    return headers


def _single(headers: Mapping[str, Iterable[str]], key: str, where: str) -> str:
    values = list(headers.get(key, ()))
    if len(values) != 1 or not values[0]:
        raise IntegrityError(
            f"expected one {key.title()} header, found {len(values)}", where=f"{where}/METADATA"
        )
    return values[0]
