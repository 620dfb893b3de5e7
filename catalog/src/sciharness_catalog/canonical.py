"""Canonical JSON: one value, one sequence of bytes."""

from __future__ import annotations

import rfc8785

Json = None | bool | int | float | str | list["Json"] | tuple["Json", ...] | dict[str, "Json"]


def canonical_json(value: Json) -> bytes:
    """Return the RFC 8785 bytes of ``value``, for hashing and for storing what was hashed.

    >>> canonical_json({"b": 1.0, "a": ["x", None]})
    b'{"a":["x",null],"b":1}'

    Raises:
        ValueError: the value holds NaN, an infinity, an integer beyond 2^53,
            a lone surrogate or something that JSON does not know.
    """
    return rfc8785.dumps(value)
