"""Saved states: checkpoints, and results that a later track goes on from, bit for bit."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from sciharness.errors import DataError
from sciharness_xsuite.requests import MOST_PARTICLES
from sciharness_xsuite.tracking.record import Floats
from sciharness_xsuite.tracking.state import BYTES_PER_PARTICLE, State, filled_state

SCHEMA = "tracking-state-v1"
_MEMBERS = ("floats.npy", "integers.npy", "start.npy", "about.npy")


@frozen
class Saved:
    """A state with the turns made, the start coordinates, and what it belongs to."""

    state: State
    start: Floats
    turns: int
    about: Mapping[str, Any]  # Any: JSON values


def identity(lattice_sha256: str, maps: str, versions: Mapping[str, str]) -> dict[str, Any]:
    """Return what has to be equal for a state to be gone on from."""
    return {"lattice_sha256": lattice_sha256, "maps": maps, **versions}


def save(path: Path, state: State, start: Floats, turns: int, about: Mapping[str, Any]) -> None:
    """Write a state so that a kill at any time leaves the old file or the new one."""
    beside = path.with_name(f"{path.name}.part")
    text = json.dumps({"schema": SCHEMA, "turns": turns, **about}, sort_keys=True)
    with beside.open("wb") as stream:
        np.savez(
            stream,
            floats=state.floats,
            integers=state.integers,
            start=start,
            about=np.frombuffer(text.encode(), dtype=np.uint8),
        )
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)


def load(path: Path) -> Saved:
    """Return a saved state.

    Raises:
        DataError: the file is no saved state, or a damaged one.
    """
    try:
        _check_members(path)
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(bytes(arrays["about"]).decode())
            start = arrays["start"]
            state = filled_state({name: arrays[name] for name in ("floats", "integers")})
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise _refused(path, str(error) or type(error).__name__) from error
    if not isinstance(about, dict) or about.pop("schema", None) != SCHEMA:
        raise _refused(path, "it has another schema")
    turns = about.pop("turns", None)
    if not isinstance(turns, int) or start.shape != (state.count, 6):
        raise _refused(path, "its parts do not fit together")
    return Saved(state, start, turns, about)


def check_identity(saved: Saved, wanted: Mapping[str, Any], where: str) -> None:
    """Refuse a state of another lattice, other maps or another version.

    Raises:
        DataError: naming what differs.
    """
    for name, value in wanted.items():
        found = saved.about.get(name)
        if found != value:
            raise DataError(
                f"{name} differs: the earlier track has {str(found)[:16]}, this one "
                f"{str(value)[:16]}",
                where=where,
                hint="Only the same lattice with the same settings can be gone on from.",
            )


def _check_members(path: Path) -> None:
    """Nothing is unpacked before its size is known: members lie uncompressed in the file."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if sorted(one.filename for one in members) != sorted(_MEMBERS):
            raise ValueError("it holds other members")
        packed = any(one.compress_type != zipfile.ZIP_STORED for one in members)
        size = sum(one.file_size for one in members)
        if packed or size > MOST_PARTICLES * (BYTES_PER_PARTICLE + 48) + 2**20:
            raise ValueError("its members are compressed or too large")
    if size > path.stat().st_size:
        raise ValueError("its members are larger than the file")


def _refused(path: Path, why: str) -> DataError:
    return DataError(
        f"is no saved state of beam.xsuite.track: {why[:200]}",
        where=path.name,
        hint="Give the state.npz that an earlier track wrote.",
    )
