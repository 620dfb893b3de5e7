"""The subset of JSON Schema that the kernel checks requests by."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from typing import Any

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_PARTS = ("items", "additionalProperties", "propertyNames")
_KEYWORDS: Mapping[str, type | tuple[type, ...]] = types.MappingProxyType(
    {
        **dict.fromkeys(_COUNTS, int),
        **dict.fromkeys(_LIMITS, (int, float)),
        **dict.fromkeys(_PARTS, (dict, bool)),
        **dict.fromkeys(("anyOf", "enum", "prefixItems", "required"), list),
        **dict.fromkeys(("$schema", "description", "pattern", "type"), str),
        "default": object,
        "propertyNames": dict,
        "properties": dict,
        "uniqueItems": bool,
    }
)


def schema_fault(schema: Any, depth: int = 32) -> str:  # Any: JSON
    """Return why a schema is none that the kernel can check by, ``""`` if it is one.

    A plugin could register anything; the subset is what ``request_schema`` writes.
    """
    if not isinstance(schema, dict) or depth == 0:
        return "is no mapping, or nested too deeply"
    unknown = sorted(set(schema) - set(_KEYWORDS))
    if unknown:
        return f"uses {unknown[0]!r}"
    for name, value in schema.items():
        if not isinstance(value, _KEYWORDS[name]) or (name in _COUNTS and isinstance(value, bool)):
            return f"has {value!r} as {name!r}"
    if schema.get("type", "null") not in _TYPES:
        return f"has the type {schema['type']!r}"
    known = schema.get("properties", {})
    if not all(isinstance(name, str) and name in known for name in schema.get("required", ())):
        return "requires what it does not describe"
    if "enum" not in schema.get("propertyNames", {"enum": []}):
        return "names keys by something else than a list"
    try:
        re.compile(schema.get("pattern", ""))
    except re.error as error:
        return f"has a pattern that is none: {error}"
    parts = [*schema.get("anyOf", ()), *schema.get("prefixItems", ())]
    parts += schema.get("properties", {}).values()
    parts += [schema[name] for name in _PARTS if isinstance(schema.get(name), dict)]
    return next(filter(None, (schema_fault(part, depth - 1) for part in parts)), "")
