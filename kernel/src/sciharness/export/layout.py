"""Where things stand in an export: readable names that fit every file system."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from sciharness.export.crate import CRATE
from sciharness.export.manifest import EVENTS, MANIFEST, README, STATE, ExportedArtifact

REPORT = "scientific_report"

_UNSAFE = frozenset('<>:"|?*\\/')
# Names that Windows keeps for devices, whatever their extension.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))]
)
_LONGEST = 120

Reference = Mapping[str, Any]  # Any: JSON values of an event's artifact entry


def place_artifacts(
    references: Iterable[Reference], taken: Iterable[str] = ()
) -> tuple[ExportedArtifact, ...]:
    """Return every artifact with its path, in order and once per ID.

    Inputs stand in ``inputs/NAME/``, results in ``artifacts/STEP/``; the
    newest report of each name stands at the root, and its plots beside it,
    where it looks for them. ``taken`` are root names in use.
    """
    unique = {reference["id"]: reference for reference in references}
    reports = [item for item in unique.values() if item["type"] == REPORT]
    newest = {item["name"]: item["id"] for item in reports}
    writers = {item.get("action", -1) for item in reports if newest[item["name"]] == item["id"]}
    used = {fold(name) for name in (*taken, CRATE, EVENTS, MANIFEST, README, STATE)}

    def placed(item: Reference) -> ExportedArtifact:
        is_newest = item["type"] == REPORT and newest[item["name"]] == item["id"]
        is_beside = item["type"] != REPORT and item.get("action", -1) in writers - {-1}
        folder = "" if is_newest or is_beside else _folder(item)
        path = _unused(folder + readable(item["name"]), used)
        fields = {name: item[name] for name in ("id", "name", "type", "sha256", "size")}
        return ExportedArtifact(**fields, path=path)

    return tuple(placed(item) for item in unique.values())


def readable(name: str) -> str:
    """Return a file name close to ``name`` that every common file system takes.

    >>> readable("a/b: period?.csv"), readable("nul.txt"), readable("..")
    ('a_b_ period_.csv', '_nul.txt', '_')
    """
    text = unicodedata.normalize("NFC", name)
    text = "".join("_" if mark in _UNSAFE or not mark.isprintable() else mark for mark in text)
    text = text.strip(" ").rstrip(".")
    stem, dot, extension = text.rpartition(".")
    while len(text.encode()) > _LONGEST:
        stem, text = (stem[:-1], f"{stem[:-1]}{dot}{extension}") if stem else ("", text[:-1])
    if text.split(".")[0].casefold() in _DEVICES:
        text = f"_{text}"
    return text or "_"


def is_safe(path: str) -> bool:
    """Whether ``path`` is relative, beneath its root and written plainly."""
    parts = path.split("/")
    return (
        all(part not in {"", ".", ".."} for part in parts)
        and "\\" not in path
        and path.isprintable()
        and len(path.encode("utf-8", "surrogatepass")) < 1024
    )


def fold(path: str) -> str:
    """Return ``path`` as file systems compare it that know no case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _folder(reference: Reference) -> str:
    action = reference.get("action", -1)
    step = readable(str(reference.get("step") or (f"action-{action:03d}" if action >= 0 else "")))
    top = "artifacts" if action >= 0 or "action" not in reference else "inputs"
    return f"{top}/{step}/" if step != "_" else f"{top}/"


def _unused(path: str, used: set[str]) -> str:
    pure, number, candidate = PurePosixPath(path), 1, path
    while fold(candidate) in used:
        number += 1
        candidate = str(pure.with_name(f"{pure.stem}-{number}{pure.suffix}"))
    used.add(fold(candidate))
    return candidate
