"""What the kernel itself brings: pinned by the kernel's own digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from sciharness.descriptors import Operation
from sciharness.errors import IntegrityError
from sciharness.plugins.records import PluginStatus
from sciharness_catalog.digest import digest_of_hashes
from sciharness_catalog.distributions import find_distribution
from sciharness_catalog.pins import Pin

PLUGIN_ID = "runtime"
PARTS: Mapping[str, str] = MappingProxyType({"reasoner": "recipe", "executor": "local"})

_SUMMARIES = {
    "recipe": "Reasoner: the planned steps, one after the other.",
    "local": "Executor: child processes on this machine.",
}


def builtin_pins() -> dict[str, str]:
    """Return the pins of reasoner and executor that the kernel brings."""
    version, digest = _kernel()
    return {
        part: str(Pin(PLUGIN_ID, version, operation, digest)) for part, operation in PARTS.items()
    }


def builtin_plugins() -> tuple[PluginStatus, ...]:
    """Return the kernel's own parts as they stand in ``plugin list``."""
    version, digest = _kernel()
    return (
        PluginStatus(
            id=PLUGIN_ID,
            version=version,
            distribution="sciharness",
            origin="builtin",
            state="admitted",
            digest=digest,
            trusted_metrics=False,
            operations=tuple(_operation(name, text) for name, text in _SUMMARIES.items()),
        ),
    )


def _operation(name: str, summary: str) -> Operation:
    return Operation(
        plugin_id=PLUGIN_ID,
        operation=name,
        kind="builtin",
        summary=summary,
        group="",
        request_schema={"type": "object", "properties": {}},
    )


def _kernel() -> tuple[str, str]:
    """Return version and impl-v1 digest of the kernel that runs now."""
    found = find_distribution("sciharness")
    if found is None:
        raise IntegrityError(
            "has no metadata here", where="sciharness", hint="Install it with pip."
        )
    package = Path(__file__).resolve().parent.parent
    files = {path.relative_to(package.parent).as_posix(): _hashed(path) for path in _files(package)}
    return found.version, digest_of_hashes(files, found.metadata)


def _files(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
            yield from _files(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _hashed(path: Path) -> tuple[str, int]:
    content = path.read_bytes()
    return hashlib.sha256(content).hexdigest(), len(content)
