"""Building a request: checked JSON values become an instance of the plugin's class."""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from sciharness.errors import RequestError
from sciharness.problems import Problem
from sciharness.requests.check import check_request, fits, split_common
from sciharness.requests.schema import request_fields, request_schema, type_schema, unwrapped

Request = TypeVar("Request")


def build_request(
    request: type[Request],
    values: Mapping[str, Any],  # Any: JSON values
) -> Request:
    """Return an instance of an attrs class made from JSON values, all defaults filled in.

    Nothing is coerced but an integer to a float and a list to the declared
    sequence; common fields that the class does not declare are left out.

    Raises:
        RequestError: with every problem; also what validators of the class say.
        PluginError: the class has no schema.
    """
    schema = request_schema(request)
    problems = check_request(schema, values)
    if problems:
        raise RequestError(
            "; ".join(str(problem) for problem in problems), where="request", problems=problems
        )
    own, _ = split_common(schema, values)
    try:
        made: Request = _built(request, own)
    except (TypeError, ValueError) as error:
        raise RequestError(
            str(error), where="request", problems=[Problem("request", found=str(error))]
        ) from error
    return made


def _built(hint: Any, value: Any) -> Any:  # Any: a type form, a JSON value
    hint = unwrapped(hint)
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _built(next(a for a in arguments if fits(type_schema(a), value)), value)
    if hint is float:
        return float(value)
    if isinstance(value, list | tuple):
        return _built_sequence(origin, arguments, value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if isinstance(hint, type) and attrs.has(hint):
        hints = {item.alias: inner for item, inner in request_fields(hint)}
        return hint(**{name: _built(hints[name], item) for name, item in value.items()})
    if isinstance(value, Mapping) and arguments:
        return {_built(arguments[0], k): _built(arguments[1], v) for k, v in value.items()}
    return value


def _built_sequence(origin: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    # Any: type forms and JSON values
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(_built(hint, item) for hint, item in zip(arguments, value, strict=True))
    made = [_built(arguments[0], item) for item in value] if arguments else list(value)
    if origin in (tuple, collections.abc.Sequence):
        return tuple(made)
    if origin in (frozenset, collections.abc.Set):
        return frozenset(made)
    return set(made) if origin is set else made
