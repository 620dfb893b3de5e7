"""One file: what it is by name and content, and its profile."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from attrs import evolve

from sciharness.profiles._json_files import profile_json
from sciharness.profiles._lattices import is_lattice, profile_lattice
from sciharness.profiles._reading import Window
from sciharness.profiles._tables import profile_table
from sciharness.profiles._text import shown
from sciharness.profiles.headers import read_header, runs_here
from sciharness.profiles.records import Profile
from sciharness.profiles.source import profile_python

MOST_INFLATED = 64 * 2**20

_PARQUET = "a Parquet table is read in runs where the extra `sciharness[parquet]` is there"
_TABLES = {".csv": "csv", ".tsv": "tsv"}
_KNOWN = (
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xca\xfe\xba\xbe", "a Java class"),
    (b"\x00asm", "WebAssembly"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x80", "possibly a pickle, which is never loaded"),
)


def profile_file(name: str, data: bytes) -> Profile:
    """Return the profile of a file's bytes; what cannot be read is ``text`` or ``opaque``."""
    for reader in (_native, _array, _inflated, _by_name):
        found = reader(name, data)
        if found is not None:
            return found
    return _plain(name, data)


def _native(name: str, data: bytes) -> Profile | None:
    header = read_header(Window(lambda at, count: data[at : at + count], len(data)))
    if header is None or (header.refused and _text_of(data) is not None):
        return None  # a text may start with MZ
    facts = {**header.to_dict(), "runs_here": runs_here(header)}
    warnings = (f"refused as a program: {header.refused}",) if header.refused else ()
    return Profile("executable", roles=("other",), facts=facts, warnings=warnings)


def _array(name: str, data: bytes) -> Profile | None:
    if not data.startswith(b"\x93NUMPY"):
        return None
    from sciharness.contextdata._npy import MOST, Headers, NpyFault

    try:
        header = Headers().parse(data[:MOST])
    except NpyFault as fault:
        said = f"expected {fault.expected}, found {fault.found}"
        return Profile("npy", roles=("other",), warnings=(shown(f"not readable: {said}"),))
    facts = {
        "dtype": shown(header.dtype_text),
        "shape": list(header.shape),
        "order": header.order,
    }
    warnings = []
    if header.end > len(data):
        warnings.append(f"cut off: {len(data)} of {header.end} bytes")
    elif header.end < len(data):
        warnings.append(f"{len(data) - header.end} bytes after the array")
    return Profile("npy", roles=("other",), facts=facts, warnings=tuple(warnings))


def _inflated(name: str, data: bytes) -> Profile | None:
    """A lattice may come as .json.gz; its inflated bytes are bounded."""
    if not (data.startswith(b"\x1f\x8b") and name.lower().endswith(".json.gz")):
        return None
    inflate = zlib.decompressobj(31)
    try:
        text = inflate.decompress(data, MOST_INFLATED)
    except zlib.error:
        return Profile("opaque", roles=("other",), warnings=("broken gzip data",))
    if not inflate.eof or inflate.unused_data:
        said = "more than one stream, cut off, or too large when inflated"
        return Profile("opaque", roles=("other",), warnings=(f"gzip data: {said}",))
    found = profile_json(text)
    return evolve(found, facts={**found.facts, "inflated_bytes": len(text)})


def _by_name(name: str, data: bytes) -> Profile | None:
    lower = name.lower()
    for suffix, kind in _TABLES.items():
        if lower.endswith(suffix):
            return profile_table(kind, data)
    readers: dict[str, Callable[[bytes], Profile]] = {".json": profile_json, ".py": profile_python}
    for suffix, reader in readers.items():
        if lower.endswith(suffix):
            return reader(data)
    text = _text_of(data)
    if text is not None and is_lattice(name, text[:65536]):
        return profile_lattice(name, text)
    return None


def _plain(name: str, data: bytes) -> Profile:
    text = _text_of(data)
    if text is None:
        known = next((said for magic, said in _KNOWN if data.startswith(magic)), None)
        seen = {"looks_like": known} if known else {}
        warnings = (_PARQUET,) if known == "a Parquet table" else ()
        return Profile("opaque", roles=_roles_of_opaque(known), facts=seen, warnings=warnings)
    facts: dict[str, object] = {
        "lines": text.count("\n") + bool(text and text[-1] != "\n"),
        "encoding": "utf-8",
    }
    if text.startswith("#!"):
        facts["interpreter"] = shown(text[2:].splitlines()[0].strip()) if text[2:].strip() else ""
    return Profile("text", roles=("other",), facts=facts)


def _roles_of_opaque(known: str | None) -> tuple[str, ...]:
    return ("labelled_table", "table", "other") if known == "a Parquet table" else ("other",)


def _text_of(data: bytes) -> str | None:
    """Return a text in UTF-8 without control characters, ``None`` for anything else."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if any(mark in text for mark in _CONTROLS) else text


_CONTROLS = tuple(chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\v\x1b")
