"""Canonical JSON: one value, one sequence of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

_SAFE = 2**53 - 1


def canonical_json(value: Json) -> bytes:
    """Return the RFC 8785 bytes of ``value``, for hashing and for storing what was hashed.

    A float of 1e19 is written like an integer and read back as one; such an
    integer is written the same way again.

    >>> canonical_json({"b": 1.0, "a": ["x", None]})
    b'{"a":["x",null],"b":1}'
    >>> canonical_json(1e19), canonical_json(10**19)
    (b'10000000000000000000', b'10000000000000000000')

    Raises:
        ValueError: the value holds NaN, an infinity, an integer beyond 2^53
            that is not how a float is written, a lone surrogate or something
            that JSON does not know.
    """
    plain: Any = value  # Any: rfc8785 wants dict, list and tuple, and says so of anything else
    try:
        return rfc8785.dumps(plain)
    except rfc8785.IntegerDomainError:
        return rfc8785.dumps(_with_floats(plain))


def _with_floats(value: Any) -> Any:  # Any: JSON values
    """Return the value with every large integer that spells a float as that float."""
    if isinstance(value, dict):
        return {key: _with_floats(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_floats(inner) for inner in value]
    if isinstance(value, int) and _SAFE < abs(value) < 10**21:
        number = float(value)
        return number if rfc8785.dumps(number) == str(value).encode() else value
    return value
