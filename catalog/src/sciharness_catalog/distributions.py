"""Installed distributions and the plugins they claim, from metadata alone: nothing is imported."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen
from packaging.utils import canonicalize_name

from sciharness_catalog.errors import IntegrityError
from sciharness_catalog.metadata import Metadata, parse_entry_points, parse_metadata
from sciharness_catalog.paths import is_payload, top_name
from sciharness_catalog.pins import PLUGIN_ID
from sciharness_catalog.record import parse_record

GROUP = "sciharness.plugins"


@frozen
class Distribution:
    """An installed distribution as its ``.dist-info`` folder describes it.

    ``root`` is the folder its packages lie in, ``record`` maps each path of
    ``RECORD`` to the SHA-256 (hex) noted there; ``packages`` are the top names
    of its import packages (``name`` or ``name.py``).
    """

    metadata: Metadata
    root: Path
    info: Path
    record: Mapping[str, str | None] = field(repr=False)
    packages: tuple[str, ...]
    editable: bool

    @property
    def name(self) -> str:
        """The canonical distribution name."""
        return self.metadata.name

    @property
    def version(self) -> str:
        """The canonical version."""
        return self.metadata.version


@frozen
class InstalledPlugin:
    """A plugin ID that an installed distribution claims.

    ``entry_point`` is the module (or ``module:object``) that holds the hooks.
    ``reason`` says why it can never be leased as it stands, ``None`` if
    metadata alone shows no such reason; ``claimants`` names every distribution
    that claims the same ID when there are several.
    """

    plugin_id: str
    distribution: str
    version: str
    entry_point: str
    editable: bool
    packages: tuple[str, ...]
    root: Path
    reason: str | None = None
    claimants: tuple[str, ...] = ()


def search_path() -> tuple[Path, ...]:
    """Return the folders to look for distributions in: the absolute part of ``sys.path``."""
    return tuple(Path(entry) for entry in dict.fromkeys(sys.path) if os.path.isabs(entry))


def find_plugins(path: Sequence[Path] | None = None) -> tuple[InstalledPlugin, ...]:
    """Return every claimed plugin, sorted by ID and distribution.

    Only distributions with entry points in our group are read beyond their
    folder name. A broken one is listed with its ``reason`` and hides no other.
    Of one distribution in two folders the first on the path counts, as for
    imports.
    """
    found = [plugin for info in index(path).values() for plugin in _plugins_of(info)]
    found.sort(key=lambda plugin: (plugin.plugin_id, plugin.distribution))
    claims: dict[str, list[str]] = {}
    for plugin in found:
        claims.setdefault(plugin.plugin_id, []).append(plugin.distribution)
    return tuple(_with_claimants(plugin, claims[plugin.plugin_id]) for plugin in found)


def find_distribution(name: str, path: Sequence[Path] | None = None) -> Distribution | None:
    """Return the installed distribution of that name, ``None`` if there is none.

    Raises:
        IntegrityError: its metadata cannot be read, or it is there twice.
    """
    info = index(path).get(canonicalize_name(name))
    return None if info is None else read_distribution(info)


def index(path: Sequence[Path] | None = None) -> dict[str, Path]:
    """Return the ``.dist-info`` folder of every distribution by canonical name, unread."""
    found: dict[str, Path] = {}
    for root in search_path() if path is None else path:
        for name, info in _infos(root):
            found.setdefault(name, info)
    return found


def read_distribution(info: Path) -> Distribution:
    """Return what a ``.dist-info`` folder says.

    Raises:
        IntegrityError: a file is missing or unreadable, the folder is named for
            another distribution, or a second folder of that name lies beside it.
    """
    where = info.name
    metadata = parse_metadata(
        _read(info / "METADATA"), _read_if_there(info / "entry_points.txt"), where=where
    )
    twins = [other for name, other in _infos(info.parent) if name == metadata.name]
    if twins != [info]:
        names = ", ".join(sorted({*(twin.name for twin in twins), info.name}))
        raise IntegrityError(f"expected one folder for {metadata.name}, found {names}", where=where)
    record = parse_record(_read(info / "RECORD"), where=f"{where}/RECORD")
    packages = tuple(sorted({top_name(path) for path in record if is_payload(path)}))
    return Distribution(
        metadata, info.parent, info, record, packages, _is_editable(info, record, packages)
    )


def _infos(root: Path) -> Iterator[tuple[str, Path]]:
    try:
        names = sorted(name for name in os.listdir(root) if name.endswith(".dist-info"))
    except OSError:
        return
    for name in names:
        yield canonicalize_name(name.partition("-")[0]), root / name


def _plugins_of(info: Path) -> Iterable[InstalledPlugin]:
    try:
        text = _read_if_there(info / "entry_points.txt")
        if text is None or GROUP.encode() not in text:
            return
        points = parse_entry_points(text, where=f"{info.name}/entry_points.txt").get(GROUP, {})
    except IntegrityError as error:
        yield _broken(info, canonicalize_name(info.name.partition("-")[0]), "", error)
        return
    for plugin_id, value in points.items():
        try:
            yield _plugin(read_distribution(info), plugin_id, value)
        except IntegrityError as error:
            yield _broken(info, plugin_id, value, error)


def _plugin(found: Distribution, plugin_id: str, value: str) -> InstalledPlugin:
    reason = None
    if re.fullmatch(PLUGIN_ID, plugin_id) is None:
        reason = (
            f"{plugin_id!r} is not a plugin ID: lower-case words joined by underscores and dots"
        )
    return InstalledPlugin(
        plugin_id,
        found.name,
        found.version,
        value,
        found.editable,
        found.packages,
        found.root,
        reason,
    )


def _broken(info: Path, plugin_id: str, value: str, error: IntegrityError) -> InstalledPlugin:
    name, _, rest = info.name.removesuffix(".dist-info").partition("-")
    return InstalledPlugin(
        plugin_id, canonicalize_name(name), rest, value, False, (), info.parent, str(error)
    )


def _with_claimants(plugin: InstalledPlugin, names: Sequence[str]) -> InstalledPlugin:
    if len(names) == 1:
        return plugin
    said = f"claimed by {' and '.join(names)}; remove all but one"
    return evolve(plugin, reason=plugin.reason or said, claimants=tuple(names))


def _is_editable(info: Path, record: Iterable[str], packages: Sequence[str]) -> bool:
    """Return whether pip notes an editable install, or a path hook stands for the code."""
    noted = _read_if_there(info / "direct_url.json")
    if noted is not None and _says_editable(noted):
        return True
    return not packages and any(path.endswith(".pth") for path in record)


def _says_editable(noted: bytes) -> bool:
    try:
        folder = json.loads(noted).get("dir_info", {})
        return bool(folder.get("editable", False))
    except (ValueError, AttributeError):
        return True  # unreadable: what could not be checked has failed


def _read(path: Path) -> bytes:
    data = _read_if_there(path)
    if data is None:
        raise IntegrityError("is missing", where=f"{path.parent.name}/{path.name}")
    return data


def _read_if_there(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IntegrityError(
            f"cannot be read: {error.strerror}", where=f"{path.parent.name}/{path.name}"
        ) from error
