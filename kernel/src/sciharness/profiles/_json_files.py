"""JSON documents: the shape of a value, and whether it is an Xsuite line; no value is shown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any

from sciharness.profiles._text import shown
from sciharness.profiles.records import MOST_NAMES, Profile

MOST_DEPTH = 200
MOST_DIGITS = 4000
_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SAMPLED = 100
# Exponents of three digits, and digits in such number that they could be infinite.
_EXTREME = re.compile(rb"[eE]\+?[0-9]{3}|(?<![0-9])[0-9]{300}")


class JsonFault(Exception):
    """The text is no JSON document that may be read."""


def read_strict(data: bytes) -> Any:  # Any: JSON values
    """Return the value of a JSON document in UTF-8.

    Raises:
        JsonFault: it is none: no UTF-8, NaN or infinite numbers, a key twice, too deep.
    """
    # Calls for each number cost most of the time, and few documents have numbers to look at.
    extreme = _EXTREME.search(data) is not None
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_members,
            parse_constant=_refuse_constant,
            parse_int=_integer if extreme else None,
            parse_float=_number if extreme else None,
        )
    except UnicodeDecodeError as error:
        raise JsonFault(f"no UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise JsonFault("nested too deeply") from error
    except ValueError as error:
        raise JsonFault(shown(str(error))) from error


def profile_json(data: bytes) -> Profile:
    """Return the profile of a JSON file, a lattice where it is an Xsuite line."""
    try:
        value = read_strict(data)
    except JsonFault as fault:
        return Profile("json", roles=("other",), warnings=(f"no JSON document: {fault}",))
    line = _line_in(value)
    if line is not None:
        return Profile("lattice", roles=("lattice", "other"), facts=_line_facts(line))
    return Profile("json", roles=("guesses", "other"), facts=_shape(value))


def _shape(value: Any) -> dict[str, Any]:  # Any: JSON values
    facts: dict[str, Any] = {"type": _type(value), "depth": _depth(value)}
    if isinstance(value, dict):
        facts |= {"key_count": len(value), "keys": _keys(value)}
    elif isinstance(value, list):
        facts |= {"length": len(value), "item_types": sorted({_type(item) for item in value})}
        sample = [item for item in value[:_SAMPLED] if isinstance(item, dict)]
        if sample:
            facts["item_keys"] = _keys({key: item[key] for item in sample for key in item})
    return facts


def _keys(value: Mapping[str, Any]) -> list[dict[str, Any]]:  # Any: JSON values
    return [
        {"name": shown(key), "type": _type(item)}
        | ({"length": len(item)} if isinstance(item, dict | list) else {})
        for key, item in islice(value.items(), MOST_NAMES)
    ]


def _type(value: Any) -> str:  # Any: JSON values
    names = {dict: "object", list: "array", str: "text", bool: "bool", int: "integer"}
    return names.get(type(value), "null" if value is None else "number")


def _depth(value: Any) -> int:  # Any: JSON values
    depth, level = 0, [value]
    while level and depth < MOST_DEPTH:
        depth += 1
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
    return depth


def _line_in(value: Any) -> dict[str, Any] | None:  # Any: JSON values
    """Return the line of ``Line.to_dict`` at the top or under ``line``."""
    for place in (value, value.get("line") if isinstance(value, dict) else None):
        if isinstance(place, dict) and isinstance(place.get("elements"), dict | list):
            names = place.get("element_names")
            if isinstance(names, list) or place.get("__class__") == "Line":
                return place
    return None


def _line_facts(line: dict[str, Any]) -> dict[str, Any]:  # Any: JSON values
    elements = line["elements"]
    listed = elements.values() if isinstance(elements, dict) else elements
    kinds: Counter[str] = Counter()
    for element in listed:
        name = element.get("__class__") if isinstance(element, dict) else None
        known = isinstance(name, str) and _CLASS.fullmatch(name)
        kinds[str(name) if known else "(no class)"] += 1
    names = line.get("element_names")
    return {
        "format": "xsuite",
        "executable": True,
        "elements": len(elements),
        "length": len(names) if isinstance(names, list) else None,
        "element_types": dict(kinds.most_common(50)),
        "has_particle": isinstance(line.get("particle_ref"), dict),
    }


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: JSON values
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large")
    return value
