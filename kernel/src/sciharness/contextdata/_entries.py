"""The entries of a manifest, one at a time: fields, names, descriptions and array files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from attrs import define

from sciharness.contextdata._faults import Faults, place, printable, several, show
from sciharness.contextdata._folder import Array, Folder
from sciharness.contextdata._json import Flaw
from sciharness.contextdata._npy import Header, NpyFault
from sciharness.contextdata._values import axis_values, first_infinite

RELATION = "relation"
_ROOT = ("variables", "axes")
_VARIABLE = ("file", "description", "axes")
_USUAL = frozenset(_VARIABLE)
_VARIABLE_MAY = frozenset({*_VARIABLE, "kind", "structure"})
_SOURCES = ("values", "file", "size")
_FILE_AXIS = frozenset({"file", "description"})
_AXIS_MAY = frozenset({"description", *_SOURCES})


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


@define
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


def check_root(root: Mapping[str, Any], faults: Faults) -> None:
    """Note missing and unknown fields of the root."""
    _check_fields("", root, _ROOT, (*_ROOT, "num_nodes"), faults)


def read_section(root: Mapping[str, Any], name: str, faults: Faults) -> dict[str, Any] | None:
    """Return the object ``name`` of the root, or note what stands there instead."""
    found = root.get(name)
    if isinstance(found, dict) and (found or name == "axes"):
        return found
    if name in root and not isinstance(found, Flaw):
        expected = "a non-empty object" if name == "variables" else "an object"
        faults.manifest(name, expected, "an empty one" if found == {} else show(found))
    return None


def read_variable(name: str, spec: Any, folder: Folder, faults: Faults) -> Variable | None:
    """Return variable ``name``, or ``None`` if nothing can be told of it."""
    if type(spec) is not dict or not (name.isidentifier() or is_name(name)):
        _refuse_entry("variables", name, spec, faults)
        return None
    if spec.keys() == _USUAL:
        file, description, axes = spec["file"], spec["description"], spec["axes"]
        usual = file == name + ".npy" and type(description) is str and type(axes) is list
        for axis in axes if usual else ():
            usual = usual and type(axis) is str
        if usual:  # nearly every variable of a large directory, so it is quick
            header, array = _start("variables", name, file, folder, faults)
            return Variable(description.strip(), tuple(axes), False, None, header, array)
    _check_fields(place("variables", name), spec, _VARIABLE, _VARIABLE_MAY, faults)
    relation = _relation(name, spec, faults)
    structure = _structure(name, spec, faults)
    description = _description("variables", name, spec, faults)
    axes = _axes(name, spec, faults)
    header, array = _array("variables", name, spec, folder, faults)
    return Variable(description, axes, relation, structure, header, array)


def read_axis(name: str, spec: Any, folder: Folder, faults: Faults) -> Axis | None:
    """Return axis ``name``, or ``None`` if nothing can be told of it."""
    if type(spec) is not dict or not is_name(name):
        _refuse_entry("axes", name, spec, faults)
        return None
    if spec.keys() == _FILE_AXIS and type(spec["description"]) is str:  # quick, for many
        return _file_axis(spec["description"].strip(), name, spec, folder, faults)
    sources = [source for source in _SOURCES if source in spec]
    if len(spec) != 2 or len(sources) != 1 or "description" not in spec:
        _check_fields(place("axes", name), spec, ("description",), _AXIS_MAY, faults)
    description = _description("axes", name, spec, faults)
    if len(sources) != 1:
        found = several(sources) if sources else "none of them"
        faults.manifest(place("axes", name), "exactly one of values, file and size", found)
        return Axis(description)
    if sources[0] == "file":
        return _file_axis(description, name, spec, folder, faults)
    if sources[0] == "size":
        return Axis(description, "size", _size(name, spec["size"], faults))
    return _values_axis(description, name, spec["values"], faults)


def is_name(name: str) -> bool:
    """Whether a variable or an axis may be called ``name``."""
    if name in {".", ".."} or not name.strip():
        return False
    return "/" not in name and "\\" not in name and "\0" not in name


def _refuse_entry(section: str, name: str, spec: Any, faults: Faults) -> None:
    if isinstance(spec, Flaw):
        return
    if not is_name(name):
        expected = "a name that is not blank, '.' or '..' and has no path separator or NUL"
        faults.manifest(place(section, name), expected, repr(printable(name)))
    elif not isinstance(spec, dict):
        faults.manifest(place(section, name), "an object", show(spec))


def _check_fields(
    path: str,
    entry: Mapping[str, Any],
    must: Collection[str],
    may: Collection[str],
    faults: Faults,
) -> None:
    for field in must:
        if field not in entry:
            faults.manifest(path, f"the field {field!r}", "none")
    unknown = [field for field in entry if field not in may and not isinstance(entry[field], Flaw)]
    if unknown:
        allowed = ", ".join(sorted(may))
        faults.manifest(path, f"only the fields {allowed}", several(unknown))


def _description(section: str, name: str, spec: Mapping[str, Any], faults: Faults) -> str:
    text = spec.get("description")
    if isinstance(text, str):
        return text.strip()
    if "description" in spec and not isinstance(text, Flaw):
        faults.manifest(place(section, name, "description"), "text", show(text))
    return ""


def _axes(name: str, spec: Mapping[str, Any], faults: Faults) -> tuple[str, ...] | None:
    axes = spec.get("axes")
    if isinstance(axes, list) and all(isinstance(axis, str) for axis in axes):
        return tuple(axes)
    if "axes" not in spec or isinstance(axes, Flaw):
        return None
    if isinstance(axes, list) and any(isinstance(axis, Flaw) for axis in axes):
        return None
    faults.manifest(place("variables", name, "axes"), "an array of axis names", _inside(axes))
    return None


def _inside(axes: Any) -> str:
    if not isinstance(axes, list):
        return show(axes)
    wrong = next(axis for axis in axes if not isinstance(axis, str))
    return f"{show(wrong)} among them"


def _relation(name: str, spec: Mapping[str, Any], faults: Faults) -> bool | None:
    kind = spec.get("kind")
    if kind is None or kind == RELATION:
        return kind is not None
    if not isinstance(kind, Flaw):
        faults.manifest(place("variables", name, "kind"), f"{RELATION!r} or no kind", show(kind))
    return None


def _structure(name: str, spec: Mapping[str, Any], faults: Faults) -> str | Flaw | None:
    structure = spec.get("structure")
    if structure is None or isinstance(structure, str | Flaw):
        return structure
    flaw = Flaw("the name of a relation", show(structure))
    faults.manifest(place("variables", name, "structure"), flaw.expected, flaw.found)
    return flaw


def _array(
    section: str, name: str, spec: Mapping[str, Any], folder: Folder, faults: Faults
) -> tuple[Header | None, Array | None]:
    """Return header and perhaps array of the entry's file, or note why not."""
    file = name + ".npy"
    if spec.get("file") != file:
        if "file" in spec and not isinstance(spec["file"], Flaw):
            faults.manifest(place(section, name, "file"), repr(printable(file)), show(spec["file"]))
        return None, None
    return _start(section, name, file, folder, faults)


def _start(
    section: str, name: str, file: str, folder: Folder, faults: Faults
) -> tuple[Header | None, Array | None]:
    try:
        return folder.start(file)
    except NpyFault as fault:
        faults.file(file, place(section, name), fault.expected, fault.found, fault.hint)
        return None, None


def _file_axis(
    description: str, name: str, spec: Mapping[str, Any], folder: Folder, faults: Faults
) -> Axis:
    header, array = _array("axes", name, spec, folder, faults)
    if header is None:
        return Axis(description, "file")
    if len(header.shape) != 1:
        found = f"shape {header.shape}"
        faults.file(f"{name}.npy", place("axes", name), "a one-dimensional array", found)
        return Axis(description, "file")
    return Axis(description, "file", header.shape[0], array, header)


def _size(name: str, size: Any, faults: Faults) -> int | None:
    if type(size) is int and size > 0:
        return size
    if not isinstance(size, Flaw):
        faults.manifest(place("axes", name, "size"), "a positive integer", show(size))
    return None


def _values_axis(description: str, name: str, values: Any, faults: Faults) -> Axis:
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
