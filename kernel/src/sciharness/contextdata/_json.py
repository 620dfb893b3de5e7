"""Strict reading of a manifest: UTF-8 without BOM, no duplicate keys, finite numbers."""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Any, TypeAlias

from attrs import frozen

from sciharness.contextdata._faults import MANIFEST, Faults, printable, show

Json: TypeAlias = Any  # Any: whatever a JSON text holds

LARGEST = 256 * 1024**2  # bytes of a manifest; long axes belong in NPY files
_DIGITS = 4300  # Python's own default limit for turning text into an integer
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "a UTF-8 byte order mark"),
    (b"\xff\xfe", "UTF-16 or UTF-32"),
    (b"\xfe\xff", "UTF-16"),
    (b"\0\0\xfe\xff", "UTF-32"),
)


@frozen
class Flaw:
    """Stands in a parsed manifest where the text gives no usable value."""

    expected: str
    found: str


def read_manifest(folder: int, faults: Faults) -> dict[str, Json] | None:
    """Return the root object of the manifest in the open directory ``folder``.

    ``None`` if there is none that can be judged further; ``faults`` then says
    why.
    """
    raw = read_bytes(folder, faults)
    text = None if raw is None else decode(raw, faults)
    return None if text is None else parse_manifest(text, faults)


def parse_manifest(text: str, faults: Faults) -> dict[str, Json] | None:
    """Return the root object of a manifest's text, or ``None`` with the reason in ``faults``.

    Values that JSON does not allow, or allows twice, are noted as faults and
    replaced by :class:`Flaw`, so that the rest can still be checked.
    """
    try:
        root, flawed = parse(text)
    except json.JSONDecodeError as error:
        faults.manifest("", "JSON", error.msg, line=error.lineno, column=error.colno)
        return None
    except RecursionError:
        faults.manifest("", "JSON of a few levels", "nesting too deep to read")
        return None
    if flawed or ("\\u" in text and _ESCAPED_HALF.search(text)):
        root = _noted(root, faults)
    if isinstance(root, dict):
        return root
    if not isinstance(root, Flaw):
        faults.manifest("", "a JSON object as root", show(root))
    return None


def read_bytes(folder: int, faults: Faults) -> bytes | None:
    """Return the bytes of the manifest in the open directory ``folder``, or note why not."""
    try:
        descriptor = os.open(MANIFEST, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        faults.manifest(
            "", "a manifest in the directory", "none", "The guide shows how to write one."
        )
        return None
    except OSError as error:
        faults.manifest("", "a readable file", str(error.strerror))
        return None
    try:
        return _read_regular(descriptor, faults)
    except (OSError, MemoryError) as error:
        faults.manifest("", "a readable file", str(error) or "not enough memory")
        return None
    finally:
        os.close(descriptor)


def _read_regular(descriptor: int, faults: Faults) -> bytes | None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        faults.manifest("", "a regular file", "something else")
        return None
    if status.st_size > LARGEST:
        hint = "Store long axes as NPY files."
        faults.manifest("", f"at most {LARGEST} bytes", f"{status.st_size} bytes", hint)
        return None
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(status.st_size)


def decode(raw: bytes, faults: Faults) -> str | None:
    """Return the text of a manifest, or note which encoding it has instead of UTF-8."""
    for mark, name in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            hint = "Save it as UTF-8 without BOM."
            faults.manifest("", "UTF-8 without byte order mark", name, hint)
            return None
    if b"\0" in raw[:4]:
        faults.manifest("", "UTF-8", "UTF-16 or UTF-32 without byte order mark")
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{raw[error.start]:02x} at offset {error.start} ({error.reason})"
        faults.manifest("", "UTF-8", found)
        return None


def parse(text: str) -> tuple[Json, bool]:
    """Return the JSON value of ``text`` and whether it holds a :class:`Flaw`.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        RecursionError: it is nested deeper than the parser goes.
    """
    try:
        root = json.loads(text, parse_constant=_not_finite)
    except json.JSONDecodeError:
        raise
    except ValueError:  # NaN, or an integer with more digits than Python converts
        return _parse_with_flaws(text)
    count = _count_keys(root)
    if count == text.count(":") or count == _most_keys(text):
        return root, False
    return _parse_with_flaws(text)


def _not_finite(name: str) -> None:
    raise ValueError(name)


def _most_keys(text: str) -> int:
    """Return how many keys JSON ``text`` has at most: a colon follows a quote or white space."""
    return sum(text.count(before + ":") for before in '" \t\n\r')


def _count_keys(root: Json) -> int:
    """Return how many keys a manifest has at least, in the objects where it should have some."""
    if not isinstance(root, dict):
        return 0
    count = len(root)
    for entries in root.values():
        if isinstance(entries, dict):
            count += len(entries)
            count += sum([len(entry) for entry in entries.values() if type(entry) is dict])
    return count


def _parse_with_flaws(text: str) -> tuple[Json, bool]:
    """Do the same with a look at each key and number, which takes longer."""
    flawed = False

    def entries(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal flawed
        entry = dict(pairs)
        if len(entry) != len(pairs):
            flawed = True
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    entry[key] = Flaw("each key once", "the key several times")
                seen.add(key)
        return entry

    def constant(name: str) -> Flaw:
        nonlocal flawed
        flawed = True
        return Flaw("a finite number", name)

    def integer(digits: str) -> int | Flaw:
        nonlocal flawed
        if len(digits) <= _DIGITS:
            return int(digits)
        flawed = True
        return Flaw(f"an integer of at most {_DIGITS} digits", f"{len(digits)} digits")

    root = json.loads(text, object_pairs_hook=entries, parse_constant=constant, parse_int=integer)
    return root, flawed


_HALF = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_NO_TEXT = Flaw("text that UTF-8 can hold", "half a surrogate pair")


def _noted(root: Json, faults: Faults) -> Json:
    """Return ``root`` after every flaw in it was noted with its path.

    Text with half a surrogate pair, which no UTF-8 file can hold, is a flaw too.
    """
    holder = {"": root}
    waiting: list[tuple[str, Json, Json, Json]] = [("", holder, "", root)]
    while waiting:
        path, parent, key, value = waiting.pop()
        if isinstance(value, str) and _HALF.search(value):
            value = parent[key] = _NO_TEXT
        if isinstance(value, Flaw):
            faults.manifest(path, value.expected, value.found)
        else:
            waiting.extend(reversed(_inside(path, value)))
    return holder[""]


def _inside(path: str, value: Json) -> list[tuple[str, Json, Json, Json]]:
    """Return (path, container, key, item) for the items of an array or object."""
    if isinstance(value, list):
        return [(f"{path}[{index}]", value, index, item) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return []
    for name in [name for name in value if _HALF.search(name)]:
        del value[name]
        value[ascii(name)] = _NO_TEXT
    dot = f"{path}." if path else ""
    return [(dot + printable(name), value, name, item) for name, item in value.items()]
