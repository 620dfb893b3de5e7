"""Axes of a manifest, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define

from sciharness.contextdata._faults import Faults, place, several, show
from sciharness.contextdata._fields import (
    array_of,
    check_fields,
    description_of,
    is_name,
    refuse_entry,
)
from sciharness.contextdata._folder import Array, Folder
from sciharness.contextdata._json import Flaw, Json
from sciharness.contextdata._npy import Header
from sciharness.contextdata._values import axis_values, first_infinite

_SOURCES = ("values", "file", "size")
_FILE_AXIS = frozenset({"file", "description"})
_AXIS_MAY = frozenset({"description", *_SOURCES})


@define  # not frozen, like variables
class Axis:
    """An axis as far as it could be read.

    ``source`` is ``values``, ``file`` or ``size``; it and ``length`` are
    ``None`` where they cannot be told. ``array`` is there if it was made or
    read on the way.
    """

    description: str
    source: str | None = None
    length: int | None = None
    array: Array | None = None
    header: Header | None = None


def read_axis(name: str, spec: Json, folder: Folder, faults: Faults) -> Axis | None:
    """Return axis ``name``, or ``None`` if nothing can be told of it."""
    if type(spec) is not dict or not is_name(name):
        refuse_entry("axes", name, spec, faults)
        return None
    if spec.keys() == _FILE_AXIS and type(spec["description"]) is str:  # quick, for many
        return _file_axis(spec["description"].strip(), name, spec, folder, faults)
    sources = [source for source in _SOURCES if source in spec]
    if len(spec) != 2 or len(sources) != 1 or "description" not in spec:
        check_fields(place("axes", name), spec, ("description",), _AXIS_MAY, faults)
    description = description_of("axes", name, spec, faults)
    if len(sources) != 1:
        found = several(sources) if sources else "none of them"
        faults.manifest(place("axes", name), "exactly one of values, file and size", found)
        return Axis(description)
    if sources[0] == "file":
        return _file_axis(description, name, spec, folder, faults)
    if sources[0] == "size":
        return Axis(description, "size", _size(name, spec["size"], faults))
    return _values_axis(description, name, spec["values"], faults)


def _file_axis(
    description: str, name: str, spec: Mapping[str, Json], folder: Folder, faults: Faults
) -> Axis:
    header, array = array_of("axes", name, spec, folder, faults)
    if header is None:
        return Axis(description, "file")
    if len(header.shape) != 1:
        found = f"shape {header.shape}"
        faults.file(f"{name}.npy", place("axes", name), "a one-dimensional array", found)
        return Axis(description, "file")
    return Axis(description, "file", header.shape[0], array, header)


def _size(name: str, size: Json, faults: Faults) -> int | None:
    if type(size) is int and size > 0:
        return size
    if not isinstance(size, Flaw):
        faults.manifest(place("axes", name, "size"), "a positive integer", show(size))
    return None


def _values_axis(description: str, name: str, values: Json, faults: Faults) -> Axis:
    if isinstance(values, Flaw):
        return Axis(description, "values")
    path = place("axes", name, "values")
    if not isinstance(values, list) or not values:
        found = "an empty one" if values == [] else show(values)
        faults.manifest(path, "a non-empty array of JSON scalars", found)
        return Axis(description, "values")
    kinds = set(map(type, values))
    if list in kinds or dict in kinds:
        found = "an array inside" if list in kinds else "an object inside"
        faults.manifest(path, "a non-empty array of JSON scalars", found)
    beyond = first_infinite(values) if float in kinds else None
    if beyond is not None:
        faults.manifest(f"{path}[{beyond}]", "a number that a float holds", "one too large")
    if beyond is not None or kinds & {list, dict, Flaw}:
        return Axis(description, "values", len(values))
    return Axis(description, "values", len(values), axis_values(values))
