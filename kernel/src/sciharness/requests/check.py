"""Checking values against a request schema, and filling in its defaults.

The kernel knows a request only by its schema; it never imports the class. The
subset of JSON Schema is the one that :mod:`sciharness.requests.schema` writes.
"""

from __future__ import annotations

import difflib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sciharness.problems import Problem
from sciharness.requests.schema import COMMON

_KINDS = {
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a finite number",
    "string": "a text",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_BOUNDS: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("minimum", ">=", operator.ge),
    ("exclusiveMinimum", ">", operator.gt),
    ("maximum", "<=", operator.le),
    ("exclusiveMaximum", "<", operator.lt),
)
_SHOWN = 60


def check_request(
    schema: Mapping[str, Any], values: Mapping[str, Any]
) -> list[Problem]:  # Any: JSON Schema and JSON values
    """Return everything that is wrong with a request, with paths such as ``ranges.x[0]``.

    ``seed``, ``workers`` and ``time_limit`` may always be given.
    """
    return list(_check(_with_common(schema), values, ""))


def apply_defaults(
    schema: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:  # Any: JSON Schema and JSON values
    """Return a checked request with every default of its schema filled in, nested ones too."""
    filled: dict[str, Any] = _filled(schema, values)
    return filled


def split_common(
    schema: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:  # Any: JSON Schema and JSON values
    """Return the values that the request class takes, and those of the common fields.

    A common field that the class declares as well is in both.
    """
    declared = schema.get("properties", {})
    own = {name: value for name, value in values.items() if name in declared or name not in COMMON}
    return own, {name: values[name] for name in COMMON if name in values}


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint naming the known name that is closest, or all of them if none is."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(sorted(known))}." if known else "It takes none."


def fits(schema: Mapping[str, Any], value: Any) -> bool:  # Any: JSON Schema, JSON value
    """Return whether a value has nothing wrong with it."""
    return next(_check(schema, value, ""), None) is None


def _with_common(schema: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON Schema
    return {**schema, "properties": {**COMMON, **schema.get("properties", {})}}


def _check(schema: Any, value: Any, path: str) -> Iterator[Problem]:  # Any: JSON
    if "anyOf" in schema:
        yield from _check_choice(schema["anyOf"], value, path)
        return
    if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
        yield _unlisted(schema["enum"], value, path)
        return
    kind = schema.get("type")
    if kind is not None and not _is(kind, value):
        yield _problem(path, value, _KINDS[kind])
        return
    if kind in ("integer", "number"):
        yield from _check_bounds(schema, value, path)
    elif kind == "string":
        yield from _check_length(schema, len(value), path, "Length", "characters")
        if "pattern" in schema and re.search(schema["pattern"], value) is None:
            yield _problem(path, value, f"a text that matches {schema['pattern']}")
    elif kind == "array":
        yield from _check_items(schema, value, path)
    elif kind == "object":
        yield from _check_members(schema, value, path)
    elif kind is None and not _is_json(value):
        yield _problem(path, value, "a JSON value")


def _check_choice(options: Sequence[Any], value: Any, path: str) -> Iterator[Problem]:  # Any: JSON
    if any(fits(option, value) for option in options):
        return
    typed = [option for option in options if "type" in option and _is(option["type"], value)]
    if len(typed) == 1:
        yield from _check(typed[0], value, path)
        return
    yield _problem(path, value, " or ".join(dict.fromkeys(_said(option) for option in options)))


def _check_bounds(schema: Mapping[str, Any], value: float, path: str) -> Iterator[Problem]:
    for key, sign, holds in _BOUNDS:
        if key in schema and not holds(value, schema[key]):
            yield _problem(path, value, f"{sign} {schema[key]}")


def _check_length(
    schema: Mapping[str, Any], length: int, path: str, suffix: str, what: str
) -> Iterator[Problem]:
    least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    if least is not None and length < least:
        yield Problem("request", path=path, found=f"{length}", expected=f"at least {least} {what}")
    if most is not None and length > most:
        yield Problem("request", path=path, found=f"{length}", expected=f"at most {most} {what}")


def _check_items(schema: Mapping[str, Any], value: Sequence[Any], path: str) -> Iterator[Problem]:
    yield from _check_length(schema, len(value), path, "Items", "items")
    first = schema.get("prefixItems", ())
    for index, item in enumerate(value):
        part = first[index] if index < len(first) else schema.get("items", {})
        if part is not False:  # one too many, said by maxItems
            yield from _check(part, item, f"{path}[{index}]")
    if schema.get("uniqueItems") and _has_twins(value):
        yield _problem(path, value, "each item once")


def _check_members(
    schema: Mapping[str, Any], value: Any, path: str
) -> Iterator[Problem]:  # Any: JSON
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    yield from _check_length(schema, len(value), path, "Properties", "entries")
    for name, item in value.items():
        place = f"{path}.{name}" if path else str(name)
        if not isinstance(name, str):
            yield Problem("request", path=place, found=repr(name), expected="a text as key")
        elif name in known:
            yield from _check(known[name], item, place)
        elif others is False:
            hint = nearest(name, list(known))
            yield Problem("request", path=place, found="no such field", hint=hint)
        else:
            if "propertyNames" in schema and not fits(schema["propertyNames"], name):
                yield _unlisted(schema["propertyNames"]["enum"], name, place)
            yield from _check(others, item, place)
    for name in schema.get("required", ()):
        if name not in value:
            place = f"{path}.{name}" if path else name
            yield Problem("request", path=place, found="nothing", expected=_said(known[name]))


def _is(kind: str, value: object) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        if isinstance(value, float):
            return math.isfinite(value)
        return isinstance(value, int) and not isinstance(value, bool)
    wanted = {
        "boolean": bool,
        "string": str,
        "array": (list, tuple),
        "object": Mapping,
        "null": type(None),
    }
    return isinstance(value, wanted[kind])  # type: ignore[arg-type]


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _same(found: object, wanted: object) -> bool:
    """Compare as JSON does: ``true`` is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return found == wanted


def _has_twins(values: Sequence[object]) -> bool:
    return any(_same(one, two) for i, one in enumerate(values) for two in values[:i])


def _unlisted(options: Sequence[object], value: object, path: str) -> Problem:
    names = [str(option) for option in options]
    hint = ""
    if isinstance(value, str) and (close := difflib.get_close_matches(value, names, n=1)):
        hint = f"Did you mean {close[0]!r}?"
    return Problem(
        "request", path=path, found=_shown(value), expected=f"one of {', '.join(names)}", hint=hint
    )


def _problem(path: str, value: object, expected: str) -> Problem:
    return Problem("request", path=path, found=_shown(value), expected=expected)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _said(schema: Mapping[str, Any]) -> str:  # Any: JSON Schema
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_said(option) for option in schema["anyOf"]))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    return _KINDS.get(schema.get("type", ""), "a value")


def _filled(schema: Any, value: Any) -> Any:  # Any: JSON
    if "anyOf" in schema:
        fitting = (option for option in schema["anyOf"] if fits(option, value))
        option = next(fitting, None)
        return value if option is None else _filled(option, value)
    if schema.get("type") == "object" and isinstance(value, Mapping):
        return _filled_members(schema, value)
    if schema.get("type") == "array" and isinstance(value, list | tuple):
        first, rest = schema.get("prefixItems", ()), schema.get("items", {}) or {}
        return [_filled(first[i] if i < len(first) else rest, v) for i, v in enumerate(value)]
    return value


def _filled_members(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {}) or {}
    filled = {
        name: _filled(part, value[name]) if name in value else part["default"]
        for name, part in known.items()
        if name in value or "default" in part
    }
    return {
        **filled,
        **{name: _filled(others, item) for name, item in value.items() if name not in known},
    }
