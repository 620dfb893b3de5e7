"""Verified reading: the bytes of an installed plugin, each file seen and hashed once."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen
from packaging.utils import canonicalize_name

from sciharness_catalog.digest import digest_of_hashes
from sciharness_catalog.distributions import Distribution, InstalledPlugin, index, read_distribution
from sciharness_catalog.errors import EditableError, IntegrityError, TwoClaimantsError
from sciharness_catalog.metadata import Metadata
from sciharness_catalog.paths import CACHE, MAX_BYTES, NATIVE_SUFFIXES, check_file_set, is_payload


@frozen
class VerifiedPackage:
    """The bytes that may be loaded, and the digest computed over exactly these bytes.

    ``files`` maps paths relative to ``root`` (the packages' parent) to bytes.
    ``plugin_id`` and ``entry_point`` are empty for a distribution that is only
    loaded beside a plugin. ``changed`` names files whose bytes are not those
    that ``RECORD`` notes: a hint for people, the digest is what counts.
    """

    plugin_id: str
    distribution: str
    version: str
    digest: str
    files: Mapping[str, bytes] = field(repr=False)
    root: Path
    entry_point: str = ""
    packages: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def read_verified(plugin: InstalledPlugin) -> VerifiedPackage:
    """Return a plugin's files, after the walk found exactly the files it installed.

    Bytecode in ``__pycache__`` is neither read nor returned. Metadata is read
    again, so that nothing rests on an earlier listing.

    Raises:
        EditableError: the install is editable.
        TwoClaimantsError: another distribution claims the plugin ID.
        IntegrityError: naming the file that is a link, missing, not listed,
            bytecode, a path hook or a shadow of another module.
    """
    where = f"{plugin.plugin_id} {plugin.version}"
    if plugin.claimants:
        raise TwoClaimantsError(plugin.reason or "", where=where)
    if plugin.reason is not None:
        raise IntegrityError(plugin.reason, where=where)
    return read_package(_info(plugin.distribution, plugin.root, where), plugin.plugin_id)


def read_package(info: Path, plugin_id: str = "") -> VerifiedPackage:
    """Return the files of the distribution with this ``.dist-info`` folder.

    Raises:
        As :func:`read_verified`.
    """
    found = read_distribution(info)
    where = f"{plugin_id or found.name} {found.version}"
    if found.editable:
        raise EditableError(
            "is an editable install, nothing vouches for its bytes",
            where=where,
            hint="Install it built: pip install without --editable.",
        )
    files = _read_files(found, where)
    hashes = {path: (hashlib.sha256(data).hexdigest(), len(data)) for path, data in files.items()}
    return VerifiedPackage(
        plugin_id,
        found.name,
        found.version,
        digest_of_hashes(hashes, found.metadata),
        files,
        found.root,
        _entry_point(found.metadata, plugin_id, where),
        found.packages,
        found.metadata.requires,
        tuple(path for path in sorted(files) if found.record[path] not in (None, hashes[path][0])),
    )


def digest_of_tree(root: Path, distribution: str) -> str:
    """Return the impl-v1 digest of a distribution installed in ``root``.

    Raises:
        As :func:`read_verified`.
    """
    return read_package(_info(distribution, root, distribution)).digest


def _info(distribution: str, root: Path, where: str) -> Path:
    info = index([root]).get(canonicalize_name(distribution))
    if info is None:
        raise IntegrityError(f"{distribution} is no longer installed", where=where)
    return info


def _entry_point(metadata: Metadata, plugin_id: str, where: str) -> str:
    if not plugin_id:
        return ""
    from sciharness_catalog.distributions import GROUP

    value = metadata.entry_points.get(GROUP, {}).get(plugin_id)
    if value is None:
        raise IntegrityError(f"{metadata.name} no longer claims {plugin_id}", where=where)
    return value


def _read_files(found: Distribution, where: str) -> dict[str, bytes]:
    listed = {path for path in found.record if is_payload(path)}
    check_file_set(
        [*listed, *(path for path in found.record if path.endswith(".pth"))], where=where
    )
    if not listed:
        raise IntegrityError("RECORD lists no import package", where=where)
    folders = {path[:cut] for path in listed for cut in range(len(path)) if path[cut] == "/"}
    files: dict[str, bytes] = {}
    budget = MAX_BYTES
    for top in found.packages:
        _refuse_shadow(found.root, top, where)
        for path in _walk(found.root, top, folders, listed, where):
            files[path] = _read_file(found.root / path, path, budget, where)
            budget -= len(files[path])
    missing = sorted(listed - files.keys())
    if missing:
        raise IntegrityError(f"{missing[0]!r} is listed in RECORD but missing", where=where)
    return files


def _refuse_shadow(root: Path, top: str, where: str) -> None:
    stem = top.partition(".")[0]
    others = [stem, *(stem + suffix for suffix in (".py", ".pyc", *NATIVE_SUFFIXES))]
    for other in others:
        if other != top and os.path.lexists(root / other):
            raise IntegrityError(f"{other!r} shadows {top!r}", where=where)


def _walk(root: Path, path: str, folders: set[str], listed: set[str], where: str) -> Iterator[str]:
    """Yield the regular files at and below ``path`` that are listed; refuse all else."""
    try:
        mode = os.lstat(root / path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        if path not in folders:
            raise IntegrityError(f"folder {path!r} is not listed in RECORD", where=where)
        for name in sorted(os.listdir(root / path)):
            if name == CACHE:
                _check_cache(root, f"{path}/{name}", where)
            else:
                yield from _walk(root, f"{path}/{name}", folders, listed, where)
    elif not stat.S_ISREG(mode):
        raise IntegrityError(f"{path!r} is a link or a special file", where=where)
    elif path not in listed:
        raise IntegrityError(f"{path!r} is not listed in RECORD", where=where)
    else:
        yield path


def _check_cache(root: Path, folder: str, where: str) -> None:
    """Refuse a bytecode cache that holds anything but regular ``.pyc`` files."""
    if not stat.S_ISDIR(os.lstat(root / folder).st_mode):
        raise IntegrityError(f"{folder!r} is not a folder", where=where)
    for entry in os.scandir(root / folder):
        if not entry.name.endswith(".pyc") or not entry.is_file(follow_symlinks=False):
            raise IntegrityError(f"{folder}/{entry.name} is no bytecode file", where=where)


def _read_file(path: Path, name: str, budget: int, where: str) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
        with open(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise IntegrityError(f"{name!r} is a link or a special file", where=where)
            data = stream.read(budget + 1)
    except OSError as error:
        raise IntegrityError(f"{name!r} cannot be read: {error.strerror}", where=where) from error
    if len(data) > budget:
        raise IntegrityError(f"more than {MAX_BYTES} bytes", where=where)
    return data
