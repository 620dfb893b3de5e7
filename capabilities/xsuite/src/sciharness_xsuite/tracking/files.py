"""Files of particles: CSV, NPY and context.data; columns are coordinates by name."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sciharness.errors import DataError
from sciharness_xsuite.requests import MOST_PARTICLES
from sciharness_xsuite.settings import COORDINATES
from sciharness_xsuite.tracking.record import Floats

_MOST_BYTES = 4 * 2**30
_NAMED = ("particle_id", "sample_id")
_SCALES = {"": 1.0, "m": 1.0, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "1": 1.0}
_SCALES |= {"rad": 1.0, "mrad": 1e-3, "urad": 1e-6, "µrad": 1e-6}
_HEADER = re.compile(r"\s*(\w+)\s*(?:\[\s*([^\]]*?)\s*\])?\s*")
_HINT = (
    "Columns are x [m], px, y [m], py, zeta [m], delta; those that are missing are 0. "
    "particle_id and sample_id may stand beside them."
)


def read_particles(path: Path) -> Floats:
    """Return the coordinates in a file, float64 of shape (n, 6).

    Raises:
        DataError: the file is no table of coordinates, or a value is not finite.
    """
    if path.is_dir():
        made = _from_variables(_context_data(path), path.name)
    elif path.stat().st_size > _MOST_BYTES:
        raise DataError("is larger than 4 GiB", where=path.name)
    elif path.suffix.lower() == ".npy":
        made = _from_array(path)
    else:
        made = _from_csv(path)
    if not len(made) or len(made) > MOST_PARTICLES:
        raise DataError(
            f"holds {len(made):,} particles, expected 1 to {MOST_PARTICLES:,}", where=path.name
        )
    bad = np.argwhere(~np.isfinite(made))
    if len(bad):
        row, place = (int(one) for one in bad[0])
        raise DataError(f"{COORDINATES[place]} of particle {row} is not finite", where=path.name)
    return made


def _context_data(path: Path) -> Mapping[str, Any]:  # Any: arrays of any kind
    from sciharness.contextdata import load_context_data

    loaded = load_context_data(path)
    axes = {axis for axes in loaded["variable_axes"].values() for axis in axes}
    return {name: values for name, values in loaded["data"].items() if name not in axes}


def _from_array(path: Path) -> Floats:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"is no NPY file of numbers: {error}", where=path.name) from error
    if array.dtype.names:
        return _from_variables({name: array[name] for name in array.dtype.names}, path.name)
    if array.ndim != 2 or array.shape[1] != 6 or array.dtype.kind not in "fiu":
        raise DataError(
            f"holds an array of shape {array.shape} and type {array.dtype}, expected numbers "
            "of shape (particles, 6): x, px, y, py, zeta, delta",
            where=path.name,
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def _from_variables(variables: Mapping[str, Any], name: str) -> Floats:  # Any: arrays
    columns = {}
    for key, values in variables.items():
        if key in _NAMED:
            continue
        place, scale = _coordinate(key, name)
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "fiu":
            raise DataError(f"{key} is no list of numbers", where=name, hint=_HINT)
        columns[place] = array * scale
    return _stacked(columns, name)


def _from_csv(path: Path) -> Floats:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", where=path.name, hint=_HINT) from error
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text), delimiter=mark)
    header = next(rows, [])
    places = [None if name.strip() in _NAMED else _coordinate(name, path.name) for name in header]
    values: list[list[float]] = []
    for line, row in enumerate(rows, start=2):
        if row:
            values.append(_numbers(row, places, line, path.name))
    table = np.asarray(values, dtype=np.float64)
    kept = [place for place in places if place is not None]
    return _stacked(
        {place: table[:, at] * scale for at, (place, scale) in enumerate(kept)} if values else {},
        path.name,
    )


def _numbers(
    row: list[str], places: list[tuple[int, float] | None], line: int, name: str
) -> list[float]:
    if len(row) != len(places):
        raise DataError(f"line {line} has {len(row)} cells, the header {len(places)}", where=name)
    found = []
    for cell, place in zip(row, places, strict=True):
        if place is None:
            continue
        try:
            found.append(float(cell))
        except ValueError as error:
            raise DataError(
                f"line {line}: expected a number, got {cell[:40]!r}", where=name
            ) from error
    return found


def _coordinate(header: str, name: str) -> tuple[int, float]:
    found = _HEADER.fullmatch(header)
    if not found or found[1] not in COORDINATES:
        raise DataError(f"column {header[:40]!r} is no coordinate", where=name, hint=_HINT)
    unit = found[2] or ""
    if unit not in _SCALES:
        known = ", ".join(one for one in _SCALES if one)
        raise DataError(f"unit {unit[:20]!r} of {found[1]} is not known: {known}", where=name)
    return COORDINATES.index(found[1]), _SCALES[unit]


def _stacked(columns: Mapping[int, Any], name: str) -> Floats:  # Any: arrays
    if not columns:
        raise DataError("holds no particles", where=name, hint=_HINT)
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"columns have different lengths: {sorted(lengths)}", where=name)
    made = np.zeros((lengths.pop(), 6))
    for place, column in columns.items():
        made[:, place] = column
    return made
