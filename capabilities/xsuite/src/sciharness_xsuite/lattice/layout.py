"""Where in a JSON document the line is: at the top, under ``line``, as old or new lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from sciharness.errors import DataError

_HINT = "Expected is the JSON of Line.to_dict, at the top or under a top-level field `line`."
_KNOWN_DROPPED = {
    "_var_manager": "deferred expressions; element values in the file are numbers already",
    "_var_management_data": "variables of deferred expressions",
    "composer": "the builder's record",
    "_extra_config": "settings of the session that wrote the file",
    "env_particles": "named particles of the environment",
    "metadata": "metadata",
    "_element_names_before_slicing": "names before slicing",
    "mode": "",
    "aperture": "the aperture model (limits that are elements are kept)",
    "aperture_environment": "the aperture model (limits that are elements are kept)",
}
_KEPT = ("__class__", "xtrack_version", "elements", "element_names", "particle_ref", "config")
_ENVIRONMENT = ("lines", "env", "_environment", "multiline", "bb_config")


@frozen
class Layout:
    """The parts of a line as they stand in a file, not yet checked."""

    elements: Mapping[str, Any]  # Any: JSON values, here and below
    element_names: Sequence[str]
    particle: Any
    config: Any
    xtrack_version: str
    notes: tuple[str, ...]


def layout_of(document: Any, name: str) -> Layout:  # Any: JSON values
    """Return the parts of the one line that a document holds.

    Raises:
        DataError: it holds no line, or several of them.
    """
    if not isinstance(document, dict):
        raise DataError(f"holds a {type(document).__name__}, no line", where=name, hint=_HINT)
    line, wrapper = document, {}
    if "elements" not in document and isinstance(document.get("line"), dict):
        line = document["line"]
        wrapper = {key: value for key, value in document.items() if key != "line"}
    _refuse_several(document, line, name)
    if "elements" not in line:
        keys = ", ".join(sorted(line)[:8]) or "nothing"
        raise DataError(f"holds no field `elements`, only {keys}", where=name, hint=_HINT)
    notes = [_note(key, line[key]) for key in line if key not in _KEPT]
    particle = line.get("particle_ref")
    outside = wrapper.pop("particle", wrapper.pop("particle_ref", None))
    if particle is None and outside is not None:
        particle = outside
        notes.append("took the reference particle that stands beside the line")
    notes += [f"dropped field {key!r} beside the line" for key in wrapper]
    elements, names = _elements(line, name)
    version = line.get("xtrack_version", "")
    return Layout(
        elements,
        names,
        _referred(particle, line),
        line.get("config"),
        version if isinstance(version, str) else "",
        tuple(note for note in notes if note),
    )


def _refuse_several(document: dict[str, Any], line: dict[str, Any], name: str) -> None:
    kind = line.get("__class__", "Line")
    several = line.get("lines", document.get("lines"))
    if kind != "Line" or several is not None or any(key in document for key in _ENVIRONMENT):
        names = f" with the lines {', '.join(map(str, several))}" if several else ""
        what = kind if kind != "Line" else "Environment"
        raise DataError(
            f"holds an {str(what)[:40]}{names}, expected one line",
            where=name,
            hint="Write one line: env['NAME'].to_json('ring.json').",
        )


def _elements(line: dict[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    elements, names = line["elements"], line.get("element_names")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise DataError("element_names has to be a list of texts", where=name, hint=_HINT)
    if isinstance(elements, list):
        if len(elements) != len(names):
            raise DataError(
                f"holds {len(elements)} elements but {len(names)} element_names", where=name
            )
        elements, names = _named(elements, names)
    if not isinstance(elements, dict):
        raise DataError("elements has to be an object or a list", where=name, hint=_HINT)
    absent = sorted({one for one in names if one not in elements})
    if absent:
        raise DataError(
            f"element_names names {absent[0][:60]!r}, which is not among the elements"
            + (f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""),
            where=name,
        )
    return elements, names


def _named(elements: list[Any], names: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Give repeated names of the oldest layout a number where their elements differ."""
    made: dict[str, Any] = {}
    uses: Counter[str] = Counter()
    order = []
    for name, element in zip(names, elements, strict=True):
        key = name
        while key in made and made[key] != element:
            uses[name] += 1
            key = f"{name}::{uses[name]}"
        made[key] = element
        order.append(key)
    return made, order


def _referred(particle: Any, line: dict[str, Any]) -> Any:  # Any: JSON values
    """A reference particle may be a name among the particles of the environment."""
    if isinstance(particle, str) and isinstance(line.get("env_particles"), dict):
        return line["env_particles"].get(particle, particle)
    return particle


def _note(key: str, value: Any) -> str:  # Any: a JSON value
    if not value:
        return ""
    why = _KNOWN_DROPPED.get(key, "not a field of a line")
    count = f" ({len(value):,})" if isinstance(value, list | dict) else ""
    return f"dropped {key[:60]}{count}: {why}" if why else ""
