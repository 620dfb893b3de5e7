"""What variables and axes of a manifest have in common: names, fields, descriptions, files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sciharness.contextdata._faults import Faults, place, printable, several, show
from sciharness.contextdata._folder import Array, Folder
from sciharness.contextdata._json import Flaw, Json
from sciharness.contextdata._npy import Header, NpyFault

_ROOT = ("variables", "axes")


def check_root(root: Mapping[str, Json], faults: Faults) -> None:
    """Note missing and unknown fields of the root."""
    check_fields("", root, _ROOT, (*_ROOT, "num_nodes"), faults)


def read_section(root: Mapping[str, Json], name: str, faults: Faults) -> dict[str, Json] | None:
    """Return the object ``name`` of the root, or note what stands there instead."""
    found = root.get(name)
    if isinstance(found, dict) and (found or name == "axes"):
        return found
    if name in root and not isinstance(found, Flaw):
        expected = "a non-empty object" if name == "variables" else "an object"
        faults.manifest(name, expected, "an empty one" if found == {} else show(found))
    return None


def is_name(name: str) -> bool:
    """Whether a variable or an axis may be called ``name``."""
    if name in {".", ".."} or not name.strip():
        return False
    return "/" not in name and "\\" not in name and "\0" not in name


def refuse_entry(section: str, name: str, spec: Json, faults: Faults) -> None:
    """Note why an entry is none; a :class:`Flaw` was noted already."""
    if isinstance(spec, Flaw):
        return
    if not is_name(name):
        expected = "a name that is not blank, '.' or '..' and has no path separator or NUL"
        faults.manifest(place(section, name), expected, repr(printable(name)))
    elif not isinstance(spec, dict):
        faults.manifest(place(section, name), "an object", show(spec))


def check_fields(
    path: str,
    entry: Mapping[str, Json],
    must: Collection[str],
    may: Collection[str],
    faults: Faults,
) -> None:
    """Note missing and unknown fields of the object at ``path``."""
    for field in must:
        if field not in entry:
            faults.manifest(path, f"the field {field!r}", "none")
    unknown = [field for field in entry if field not in may and not isinstance(entry[field], Flaw)]
    if unknown:
        allowed = ", ".join(sorted(may))
        faults.manifest(path, f"only the fields {allowed}", several(unknown))


def description_of(section: str, name: str, spec: Mapping[str, Json], faults: Faults) -> str:
    """Return the description without white space around it, or note that it is no text."""
    text = spec.get("description")
    if isinstance(text, str):
        return text.strip()
    if "description" in spec and not isinstance(text, Flaw):
        faults.manifest(place(section, name, "description"), "text", show(text))
    return ""


def array_of(
    section: str, name: str, spec: Mapping[str, Json], folder: Folder, faults: Faults
) -> tuple[Header | None, Array | None]:
    """Return header and perhaps array of the entry's file, or note why not."""
    file = name + ".npy"
    if spec.get("file") != file:
        if "file" in spec and not isinstance(spec["file"], Flaw):
            faults.manifest(place(section, name, "file"), repr(printable(file)), show(spec["file"]))
        return None, None
    return start_of(section, name, file, folder, faults)


def start_of(
    section: str, name: str, file: str, folder: Folder, faults: Faults
) -> tuple[Header | None, Array | None]:
    """Return header and perhaps array of an array file, or note why not."""
    try:
        return folder.start(file)
    except NpyFault as fault:
        faults.file(file, place(section, name), fault.expected, fault.found, fault.hint)
        return None, None
