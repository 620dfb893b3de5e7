"""Variables of a manifest, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define

from sciharness.contextdata._faults import Faults, place, show
from sciharness.contextdata._fields import (
    array_of,
    check_fields,
    description_of,
    is_name,
    refuse_entry,
    start_of,
)
from sciharness.contextdata._folder import Array, Folder
from sciharness.contextdata._json import Flaw, Json
from sciharness.contextdata._npy import Header

RELATION = "relation"
_VARIABLE = ("file", "description", "axes")
_USUAL = frozenset(_VARIABLE)
_VARIABLE_MAY = frozenset({*_VARIABLE, "kind", "structure"})


@define  # freezing would triple what making one costs, and there are thousands
class Variable:
    """A variable as far as it could be read.

    ``axes`` is ``None`` where the manifest does not say them, ``relation``
    where ``kind`` is none of the known ones, ``header`` where there is no
    array. ``array`` is there if it was read on the way. A ``structure`` that
    cannot be told is a :class:`Flaw`.
    """

    description: str
    axes: tuple[str, ...] | None
    relation: bool | None
    structure: str | Flaw | None
    header: Header | None
    array: Array | None


def read_variable(name: str, spec: Json, folder: Folder, faults: Faults) -> Variable | None:
    """Return variable ``name``, or ``None`` if nothing can be told of it."""
    if type(spec) is not dict or not (name.isidentifier() or is_name(name)):
        refuse_entry("variables", name, spec, faults)
        return None
    if spec.keys() == _USUAL:
        file, description, axes = spec["file"], spec["description"], spec["axes"]
        usual = file == name + ".npy" and type(description) is str and type(axes) is list
        for axis in axes if usual else ():
            usual = usual and type(axis) is str
        if usual:  # nearly every variable of a large directory, so it is quick
            header, array = start_of("variables", name, file, folder, faults)
            return Variable(description.strip(), tuple(axes), False, None, header, array)
    check_fields(place("variables", name), spec, _VARIABLE, _VARIABLE_MAY, faults)
    relation = _relation(name, spec, faults)
    structure = _structure(name, spec, faults)
    description = description_of("variables", name, spec, faults)
    axes = _axes(name, spec, faults)
    header, array = array_of("variables", name, spec, folder, faults)
    return Variable(description, axes, relation, structure, header, array)


def _axes(name: str, spec: Mapping[str, Json], faults: Faults) -> tuple[str, ...] | None:
    axes = spec.get("axes")
    if isinstance(axes, list) and all(isinstance(axis, str) for axis in axes):
        return tuple(axes)
    if "axes" not in spec or isinstance(axes, Flaw):
        return None
    if isinstance(axes, list) and any(isinstance(axis, Flaw) for axis in axes):
        return None
    faults.manifest(place("variables", name, "axes"), "an array of axis names", _inside(axes))
    return None


def _inside(axes: Json) -> str:
    if not isinstance(axes, list):
        return show(axes)
    wrong = next(axis for axis in axes if not isinstance(axis, str))
    return f"{show(wrong)} among them"


def _relation(name: str, spec: Mapping[str, Json], faults: Faults) -> bool | None:
    kind = spec.get("kind")
    if kind is None or kind == RELATION:
        return kind is not None
    if not isinstance(kind, Flaw):
        faults.manifest(place("variables", name, "kind"), f"{RELATION!r} or no kind", show(kind))
    return None


def _structure(name: str, spec: Mapping[str, Json], faults: Faults) -> str | Flaw | None:
    structure = spec.get("structure")
    if structure is None or isinstance(structure, str | Flaw):
        return structure
    flaw = Flaw("the name of a relation", show(structure))
    faults.manifest(place("variables", name, "structure"), flaw.expected, flaw.found)
    return flaw
