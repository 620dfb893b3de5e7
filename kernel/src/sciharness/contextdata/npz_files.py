"""NPZ archives to context.data and back, array files byte for byte."""

from __future__ import annotations

import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from sciharness.contextdata._faults import MANIFEST
from sciharness.contextdata._folder import Folder
from sciharness.contextdata._json import Json
from sciharness.contextdata._npy import Header, NpyFault
from sciharness.contextdata._survey import require_sound
from sciharness.contextdata._tables import Loss, fits_a_file, parse_carried, refuse
from sciharness.contextdata._write import new_directory, new_file, write_manifest
from sciharness.contextdata.report import inspect_context_data
from sciharness.errors import DataError

_CHUNK = 1024 * 1024
_HINT = "Name them: axes={'theta': ['time', 'node'], ...}."
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same directory gives the same archive


def from_npz(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    axes: Mapping[str, Sequence[str]] | None = None,
    axis: str = "row",
    descriptions: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """Write the arrays of an NPZ archive as the new directory ``out`` and return its report.

    An archive of :func:`to_npz` carries its manifest. For any other, ``axes``
    maps each array to the names of its axes; an array called like an axis
    holds that axis' entries. Without ``axes``, arrays of one dimension and
    one length become variables along ``axis``.

    Raises:
        DataError: it is no such archive; the axes of an array cannot be told;
            an array is not allowed (all are named); ``out`` is there already.
        ContextManifestError: manifest and arrays do not fit each other.
    """
    source, out = Path(source), Path(out)
    try:
        with zipfile.ZipFile(source) as archive:
            members = _members(archive, source, out)
            with new_directory(out) as folder:
                for name, member in members.items():
                    with archive.open(member) as data, (folder / name).open("wb") as file:
                        shutil.copyfileobj(data, file, _CHUNK)
                if MANIFEST in members:
                    _refuse_strays(folder, members, source)
                else:
                    plan = _Plan(_headers(folder, members, source), source, axes, axis)
                    write_manifest(folder, plan.manifest(descriptions or {}))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise DataError(f"cannot be read as NPZ: {error}", where=str(source)) from None
    return inspect_context_data(out)


def to_npz(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write a directory as the new NPZ archive ``out`` and return its path.

    ``numpy.load`` reads the arrays; the manifest is the member
    ``manifest.json``. Files that it does not name stay out.

    Raises:
        ContextManifestError: the directory is not sound.
        DataError: ``out`` is there already.
    """
    out = Path(out)
    folder, found = require_sound(path)
    names = [name for name, axis in found.axes.items() if axis and axis.source == "file"]
    names += found.variables
    with new_file(out) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for file in (MANIFEST, *(f"{name}.npy" for name in names)):
            member = zipfile.ZipInfo(file, _EPOCH)
            with (
                (folder / file).open("rb") as data,
                archive.open(member, "w", force_zip64=True) as written,
            ):
                shutil.copyfileobj(data, written, _CHUNK)
    return out


def _members(archive: zipfile.ZipFile, source: Path, out: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive that holds nothing but arrays and a manifest."""
    members = {member.filename: member for member in archive.infolist()}
    losses = {
        name: Loss("an array or a manifest of a plain name", "another member")
        for name in members
        if name != MANIFEST and not (name.endswith(".npy") and fits_a_file(name[:-4]))
    }
    if len(members) < len(archive.infolist()):
        losses["members"] = Loss("each name once", "one name several times")
    refuse(source, losses)
    claimed = sum(member.file_size for member in members.values())
    if claimed > shutil.disk_usage(out.absolute().parent).free:
        raise DataError(f"unpacks to {claimed} bytes, more than are free", where=str(source))
    return members


def _refuse_strays(folder: Path, members: Mapping[str, object], source: Path) -> None:
    found = parse_carried((folder / MANIFEST).read_bytes(), source)
    entries = [found.get("axes"), found.get("variables")]
    named = {f"{name}.npy" for entry in entries if isinstance(entry, dict) for name in entry}
    strays = members.keys() - named - {MANIFEST}
    refuse(source, {name: Loss("only arrays of its manifest", "another") for name in strays})


def _headers(folder: Path, members: Mapping[str, object], source: Path) -> dict[str, Header]:
    headers: dict[str, Header] = {}
    losses: dict[str, Loss] = {}
    with Folder(folder) as opened:
        for file in members:
            try:
                headers[file[:-4]], _ = opened.start(file)
            except NpyFault as fault:
                losses[file[:-4]] = Loss(fault.expected, fault.found, fault.hint)
    refuse(source, losses)
    return headers


class _Plan:
    """Which arrays of a plain archive are variables, along which axes, and what the axes are."""

    def __init__(
        self,
        headers: Mapping[str, Header],
        source: Path,
        axes: Mapping[str, Sequence[str]] | None,
        axis: str,
    ) -> None:
        self._headers = headers
        self._source = source
        self._along = self._on_one(axis) if axes is None else self._as_told(axes)

    def _on_one(self, axis: str) -> dict[str, list[str]]:
        """Put all arrays on one axis; refuse those that do not go there."""
        shapes = {header.shape for header in self._headers.values()}
        losses = {
            name: Loss("one dimension and one length, or axes", f"shape {header.shape}", _HINT)
            for name, header in self._headers.items()
            if len(shapes) > 1 or len(header.shape) != 1
        }
        if axis in self._headers:
            losses[axis] = Loss("an axis named like no array", "an array", "Give axis a name.")
        refuse(self._source, losses)
        return {name: [axis] for name in self._headers}

    def _as_told(self, axes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        used = {axis for names in axes.values() for axis in names}
        losses = {name: Loss("an array", "none") for name in axes if name not in self._headers}
        for name, header in self._headers.items():
            if name not in axes and name not in used:
                losses[name] = Loss("its axes in axes", f"none for shape {header.shape}", _HINT)
            elif name in axes and len(axes[name]) != len(header.shape):
                found = f"{len(axes[name])} for shape {header.shape}"
                losses[name] = Loss("as many axes as dimensions", found)
        refuse(self._source, losses)
        return {name: list(names) for name, names in axes.items()}

    def manifest(self, descriptions: Mapping[str, str]) -> dict[str, Json]:
        """Return the manifest; faults that remain show when the directory is checked."""
        sources: dict[str, dict[str, Json]] = {}
        for name, axes in self._along.items():
            for axis, length in zip(axes, self._headers[name].shape, strict=True):
                is_file = axis in self._headers and axis not in self._along
                sources[axis] = {"file": f"{axis}.npy"} if is_file else {"size": length}
        return {
            "variables": {
                name: {
                    "file": f"{name}.npy",
                    "description": descriptions.get(name, ""),
                    "axes": axes,
                }
                for name, axes in self._along.items()
            },
            "axes": {
                axis: entry | {"description": descriptions.get(axis, "")}
                for axis, entry in sources.items()
            },
        }
