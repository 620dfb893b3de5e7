"""NPY headers, read within fixed bounds and compared with what the file holds."""

from __future__ import annotations

import ast
import math
import re
import warnings
from typing import Any, Literal

import numpy as np
from attrs import frozen

MOST = 12 + 10_000  # bytes of preamble and header; numpy.load itself takes no longer header
_MAGIC = b"\x93NUMPY"
_KEYS = {"descr", "fortran_order", "shape"}
_DIMENSIONS = 64 if int(np.__version__.split(".")[0]) >= 2 else 32
_LARGEST = 2**63 - 1
_NUMBER = rb"(?:0|[1-9]\d{0,18})"
_USUAL = re.compile(
    rb"\{'descr': '([<>|][biufcSU]\d{1,9})', 'fortran_order': (False|True), "
    rb"'shape': \(((?:%s,|%s(?:, %s)+)?)\), \} *\n" % (_NUMBER, _NUMBER, _NUMBER)
)

# What numpy raises for hostile descriptions.
_DTYPE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


class NpyFault(Exception):
    """A file is no NPY array that may be read; the fields go into a problem."""

    def __init__(self, expected: str, found: str, hint: str = "") -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found
        self.hint = hint


@frozen
class Header:
    """What an NPY file says of its array: ``raw`` precedes it, ``end`` is where it ends."""

    raw: bytes
    dtype: np.dtype[Any]  # Any: whatever the file holds
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    nbytes: int
    dtype_text: str
    end: int


class Headers:
    """Parses headers and remembers them: files of one directory mostly share a few."""

    def __init__(self) -> None:
        self._known: dict[bytes, Header] = {}

    def parse(self, start: bytes) -> Header:
        """Return the header at the beginning of ``start``.

        ``start`` are the first :data:`MOST` bytes of a file, or all of it.

        Raises:
            NpyFault: it is none, or describes an array that is not allowed.
        """
        raw = start[: _offset(start)]
        header = self._known.get(raw)
        if header is None:
            header = self._known[raw] = _parse(raw)
        return header


def _offset(start: bytes) -> int:
    """Return where the array begins, from a preamble with a whole header behind it."""
    if not start.startswith(_MAGIC):
        raise NpyFault("an NPY file", _kind(start))
    version = tuple(start[6:8])
    if version not in {(1, 0), (2, 0), (3, 0)}:
        raise NpyFault("NPY version 1.0, 2.0 or 3.0", ".".join(map(str, version)) or "no version")
    width = 2 if version == (1, 0) else 4
    if len(start) < 8 + width:
        raise NpyFault("a whole NPY header", f"a file of {len(start)} bytes", "It is truncated.")
    offset = 8 + width + int.from_bytes(start[8 : 8 + width], "little")
    if offset > MOST:
        raise NpyFault(f"an NPY header of at most {MOST} bytes", f"{offset} bytes claimed")
    if len(start) < offset:
        found = f"{len(start)} of {offset} bytes"
        raise NpyFault("a whole NPY header", found, "The file is truncated.")
    return offset


def _kind(start: bytes) -> str:
    if not start:
        return "an empty file"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "a ZIP archive, as of numpy.savez"
    if start.startswith(b"\x80") and start[1:2] <= b"\x05":
        return "a pickle"
    return f"bytes that begin with {start[:6]!r}"


def _parse(raw: bytes) -> Header:
    text = raw[10:] if raw[6] == 1 else raw[12:]
    usual = _USUAL.fullmatch(text)
    if usual:
        descr: Any = usual[1].decode()  # Any: text here, anything from a literal below
        order: Any = usual[2] == b"True"
        shape: Any = tuple(int(length) for length in usual[3].split(b",") if length)
    else:
        descr, order, shape = _fields(text.decode("utf-8" if raw[6] == 3 else "latin1", "replace"))
    dtype = _dtype(descr)
    nbytes = _size(shape, dtype)
    if not isinstance(order, bool):
        raise NpyFault("fortran_order True or False", _short(order))
    letter: Literal["C", "F"] = "F" if order else "C"
    return Header(raw, dtype, shape, letter, nbytes, str(dtype), len(raw) + nbytes)


def _fields(text: str) -> tuple[Any, Any, Any]:
    """Return descr, fortran_order and shape of a header that numpy did not write as usual."""
    try:
        fields = _literal(text)
    except NpyFault:
        fields = _literal(re.sub(r"(?<=\d)L\b", "", text))  # lengths as Python 2 wrote them
    if not isinstance(fields, dict) or fields.keys() != _KEYS:
        raise NpyFault("a header with descr, fortran_order and shape", _short(text))
    return fields["descr"], fields["fortran_order"], fields["shape"]


def _literal(text: str) -> Any:  # Any: whatever the header says
    try:
        with warnings.catch_warnings(action="ignore"):  # of odd escapes in hostile text
            return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise NpyFault("an NPY header that is a Python dict", _short(text)) from None


def _dtype(descr: Any) -> np.dtype[Any]:  # Any: whatever the header says
    try:
        with warnings.catch_warnings(action="ignore"):  # of old spellings
            dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(descr)
    except _DTYPE_ERRORS:
        raise NpyFault("a dtype", _short(descr)) from None
    if dtype.hasobject:
        hint = "Text goes into a Unicode or fixed-length string dtype."
        raise NpyFault("a dtype without Python objects", "object dtype", hint)
    if dtype.itemsize <= 0:  # old numpy lets huge sizes overflow
        raise NpyFault("a dtype whose items have bytes", _short(descr))
    if dtype.subdtype is not None:
        raise NpyFault("a dtype without dimensions of its own", _short(descr))
    return dtype


def _size(shape: Any, dtype: np.dtype[Any]) -> int:  # Any: whatever the header says
    """Return the bytes of the array, or refuse a shape that no array can have."""
    if not isinstance(shape, tuple) or any(type(length) is not int for length in shape):
        raise NpyFault("a shape of integers", _short(shape))
    if any(length < 0 for length in shape):
        raise NpyFault("a shape without negative lengths", _short(shape))
    if len(shape) > _DIMENSIONS:
        raise NpyFault(f"at most {_DIMENSIONS} dimensions", str(len(shape)))
    # numpy counts empty dimensions as one here, and so refuses (0, 2**62, 2**62)
    most = math.prod(max(length, 1) for length in shape) * dtype.itemsize
    if most > _LARGEST:
        raise NpyFault("a shape that an array can have", _short(shape))
    return math.prod(shape) * dtype.itemsize


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits; deep nesting
        return "a value too large to show"
    return ascii(text.strip())[1:-1][:80]
