"""JSON Schema 2020-12 of a request class: types, defaults, bounds, choices, help."""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from sciharness.errors import PluginError

Schema = dict[str, Any]  # Any: JSON Schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"

# Every operation knows these, declared in its class or not.
COMMON: Mapping[str, Schema] = types.MappingProxyType(
    {
        "seed": {"type": "integer", "description": "seed of everything random"},
        "workers": {"type": "integer", "minimum": 1, "description": "threads it may use"},
        "time_limit": {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}],
            "description": "seconds after which it stops at its best so far",
        },
    }
)

_PLAIN: Mapping[object, Schema] = types.MappingProxyType(
    {
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
        str: {"type": "string"},
        type(None): {"type": "null"},
        None: {"type": "null"},
        Any: {},
    }
)
_SEQUENCES = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Set)
_MAPPINGS = (dict, collections.abc.Mapping)
_BOUNDS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


def request_schema(request: type) -> Schema:
    """Return the schema of an attrs class as an object that allows no further key.

    Help stands in field metadata (``field(metadata={"help": "..."})``). A
    validator written by the plugin itself has no place in a schema; it speaks
    when the request is built.

    Raises:
        PluginError: no attrs class, or a field's type or default has no JSON form.
    """
    if not attrs.has(request):
        raise PluginError(f"the request {request.__name__!r} is no attrs class")
    return {"$schema": DRAFT, **class_schema(request, ())}


def class_schema(request: type, outer: tuple[type, ...]) -> Schema:
    """Return the schema of a class; ``outer`` are those it stands in."""
    if request in outer:
        raise PluginError(f"the request {request.__name__!r} contains itself")
    properties: Schema = {}
    required = []
    for item, hint in request_fields(request):
        properties[item.alias] = _field_schema(request, item, hint, (*outer, request))
        if item.default is attrs.NOTHING:
            required.append(item.alias)
    found: Schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return found


def request_fields(request: type) -> list[tuple[Any, Any]]:  # Any: attrs fields and types
    """Return the settable fields of an attrs class with their resolved types."""
    try:
        hints = typing.get_type_hints(request)
    except Exception as error:
        raise PluginError(f"the types of {request.__name__!r} do not resolve: {error}") from error
    return [(item, hints.get(item.name, Any)) for item in attrs.fields(request) if item.init]


def type_schema(hint: Any, outer: tuple[type, ...] = ()) -> Schema:  # Any: a type form
    """Return the schema of one type annotation."""
    hint = unwrapped(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [type_schema(argument, outer) for argument in arguments]}
    if origin in _SEQUENCES:
        return _sequence_schema(origin, arguments, outer)
    if origin in _MAPPINGS:
        return _mapping_schema(arguments, outer)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and attrs.has(hint):
        return class_schema(hint, outer)
    raise PluginError(f"the type {hint!r} has no JSON form")


def unwrapped(hint: Any) -> Any:  # Any: a type form
    """Return a type without ``Annotated`` and ``NewType`` around it."""
    while True:
        if typing.get_origin(hint) is typing.Annotated:
            hint = typing.get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        else:
            return hint


def to_json(value: Any) -> Any:  # Any: a default of any type, a JSON value
    """Return a default value as JSON has it.

    Raises:
        TypeError: it has no JSON form.
    """
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if attrs.has(type(value)):
        items = attrs.fields(type(value))
        return {item.alias: to_json(getattr(value, item.name)) for item in items}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    raise TypeError(f"{value!r} has no JSON form")


def _field_schema(request: type, item: Any, hint: Any, outer: tuple[type, ...]) -> Schema:
    # Any: an attrs field and a type form
    where = f"{request.__name__}.{item.name}"
    try:
        found = type_schema(hint, outer)
        for validator in _flattened(item.validator):
            _constrain(found, validator)
        if item.metadata.get("help"):
            found["description"] = str(item.metadata["help"])
        if item.default is not attrs.NOTHING:
            _add_default(found, item.default)
    except (TypeError, PluginError) as error:
        raise PluginError(str(error), where=where) from error
    return found


def _add_default(found: Schema, default: Any) -> None:  # Any: a default of any type
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
        if default.takes_self:
            return  # depends on other fields: known only when the request is built
        default = default.factory()
    found["default"] = to_json(default)


def _sequence_schema(origin: Any, arguments: tuple[Any, ...], outer: tuple[type, ...]) -> Schema:
    # Any: type forms
    found: Schema = {"type": "array"}
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        found["prefixItems"] = [type_schema(argument, outer) for argument in arguments]
        found["items"] = False
        found["minItems"] = found["maxItems"] = len(arguments)
    elif arguments:
        found["items"] = type_schema(arguments[0], outer)
    if origin in (set, frozenset, collections.abc.Set):
        found["uniqueItems"] = True
    return found


def _mapping_schema(arguments: tuple[Any, ...], outer: tuple[type, ...]) -> Schema:
    # Any: type forms
    found: Schema = {"type": "object"}
    if arguments:
        names = type_schema(arguments[0], outer)
        if "enum" in names:
            found["propertyNames"] = names
        elif names.get("type") != "string":
            raise PluginError("keys of a mapping have to be text")
        found["additionalProperties"] = type_schema(arguments[1], outer)
    return found


def _flattened(validator: Any) -> Iterable[Any]:  # Any: attrs publishes no validator types
    if validator is None:
        return
    inner = getattr(validator, "_validators", None)
    if inner is not None and type(validator).__name__ == "_AndValidator":
        for one in inner:
            yield from _flattened(one)
    elif type(validator).__name__ == "_OptionalValidator":
        yield from _flattened(validator.validator)
    else:
        yield validator


def _constrain(found: Schema, validator: Any) -> None:  # Any: an attrs validator
    """Add what an attrs validator says to the parts of a schema that it can apply to."""
    for branch in found.get("anyOf", ()):
        _constrain(branch, validator)
    kind, name = found.get("type"), type(validator).__name__
    if name == "_NumberValidator" and kind in ("integer", "number"):
        found[_BOUNDS[validator.compare_op]] = to_json(validator.bound)
    elif name == "_MinLengthValidator":
        _constrain_length(found, "min", validator.min_length)
    elif name == "_MaxLengthValidator":
        _constrain_length(found, "max", validator.max_length)
    elif name == "_InValidator" and "anyOf" not in found and kind != "null":
        found["enum"] = [to_json(option) for option in validator.options]
    elif name == "_MatchesReValidator" and kind == "string":
        found["pattern"] = _pattern(validator)
    elif name in ("_DeepIterable", "_DeepMapping"):
        _constrain_inside(found, validator)


def _constrain_inside(found: Schema, validator: Any) -> None:  # Any: an attrs validator
    if found.get("type") == "array" and hasattr(validator, "member_validator"):
        outside, inside = validator.iterable_validator, validator.member_validator
        parts = [found.get("items"), *found.get("prefixItems", ())]
    elif found.get("type") == "object" and hasattr(validator, "value_validator"):
        outside, inside = validator.mapping_validator, validator.value_validator
        parts = [found.get("additionalProperties")]
    else:
        return
    for one in _flattened(outside):
        _constrain(found, one)
    for one in _flattened(inside):
        for part in parts:
            if isinstance(part, dict):
                _constrain(part, one)


def _constrain_length(found: Schema, side: str, amount: int) -> None:
    suffixes = {"string": "Length", "array": "Items", "object": "Properties"}
    suffix = suffixes.get(found.get("type", ""))
    if suffix is not None:
        found[side + suffix] = amount


def _pattern(validator: Any) -> str:  # Any: an attrs validator
    text: str = validator.pattern.pattern
    how = getattr(validator.match_func, "__name__", "fullmatch")
    if how == "search":
        return text
    return f"^(?:{text})" if how == "match" else f"^(?:{text})$"
