"""From a file to JSON values: bounded in size, depth and number of values, strict in form."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from sciharness.errors import DataError

MOST_BYTES = 200 * 1024 * 1024
MOST_BRACKETS = 4_000_000
MOST_COMMAS = 20_000_000
MOST_DEPTH = 64

_GZIP = b"\x1f\x8b"
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class NotFinite(float):
    """A number that JSON has no token for, kept until it is known where it stands."""


@frozen
class Source:
    """The bytes of a lattice file after unpacking, and the digest of the file itself."""

    name: str
    content: bytes
    sha256: str


def read_source(path: Path) -> Source:
    """Return the bytes of a file or of the single lattice in a folder; gzip is unpacked.

    Raises:
        DataError: there is no such file, it is too large, or the gzip data is damaged.
    """
    path = _single(path)
    try:
        with path.open("rb") as stream:
            packed = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path.name) from error
    _bounded(packed, path.name)
    digest = hashlib.sha256(packed).hexdigest()
    content = _unpacked(packed, path.name) if packed.startswith(_GZIP) else packed
    return Source(path.name, content, digest)


def json_values(source: Source) -> Any:  # Any: JSON values
    """Return the values of a JSON document; keys are unique, numbers are within range.

    Raises:
        DataError: it is no JSON, or it is deeper or has more values than any lattice.
    """
    content = source.content
    if content.count(b"{") + content.count(b"[") > MOST_BRACKETS or (
        content.count(b",") > MOST_COMMAS
    ):
        raise DataError(
            f"holds more values than any lattice: at most {MOST_BRACKETS:,} lists and "
            f"{MOST_COMMAS:,} separators are read",
            where=source.name,
        )
    try:
        values = json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=_once,
            parse_constant=NotFinite,
            parse_float=_number,
        )
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not UTF-8 text: byte {error.start}", where=source.name, hint=_EXPECTED
        ) from error
    except json.JSONDecodeError as error:
        raise DataError(
            f"line {error.lineno}, column {error.colno}: {error.msg}",
            where=source.name,
            hint=_EXPECTED,
        ) from error
    except RecursionError as error:
        raise DataError(_TOO_DEEP, where=source.name) from error
    except ValueError as error:
        raise DataError(str(error), where=source.name, hint=_EXPECTED) from error
    if _depth(values) > MOST_DEPTH:
        raise DataError(_TOO_DEEP, where=source.name)
    return values


_EXPECTED = "Expected is the JSON of Line.to_dict, as line.to_json('ring.json') writes it."
_TOO_DEEP = f"is nested more than {MOST_DEPTH} levels deep"


def _single(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    if len(found) == 1 and found[0].is_file():
        return found[0]
    names = ", ".join(one.name for one in found[:5]) or "nothing"
    raise DataError(f"is a folder with {names}, expected one lattice file", where=path.name)


def _unpacked(packed: bytes, name: str) -> bytes:
    import io

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"gzip data is damaged: {error}", where=name) from error
    _bounded(content, name)
    return content


def _bounded(content: bytes, name: str) -> None:
    if len(content) > MOST_BYTES:
        raise DataError(f"is larger than {MOST_BYTES // 2**20} MiB", where=name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in made if names.count(name) > 1)
        raise ValueError(f"the key {twin!r} stands twice in one object")
    return made


def _number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else NotFinite(number)


def _depth(values: Any) -> int:  # Any: JSON values
    depth, level = 0, [values]
    while level:
        depth += 1
        level = [inner for value in level for inner in _inside(value)]
    return depth


def _inside(value: Any) -> Iterator[Any]:  # Any: JSON values
    if isinstance(value, dict):
        yield from (one for one in value.values() if isinstance(one, dict | list))
    elif isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict | list))
