"""ZIP files made byte by byte, so that each flaw stands alone in a sound one."""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sciharness.bundles.zip_scan import ZipScan, scan_zip


def member(name: str | bytes = "solve.py", content: bytes = b"print(1)\n", **fields: Any) -> Any:
    """Return a member to be written; ``local`` holds what its local header says otherwise."""
    raw = name if isinstance(name, bytes) else name.encode()
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = packed.compress(content) + packed.flush()
    known = {
        "name": raw,
        "flags": 0x800,
        "method": 8,
        "crc": zlib.crc32(content),
        "packed": len(deflated),
        "size": len(content),
        "mode": stat.S_IFREG | 0o644,
        "extra": b"",
        "comment": b"",
        "data": deflated,
        "local": {},
        "before": b"",
        "after": b"",
        "offset": None,
    }
    if fields.get("method") == 0:
        known |= {"packed": len(content), "data": content}
    return SimpleNamespace(**{**known, **fields})


def _local(one: Any) -> bytes:
    said = SimpleNamespace(**{**vars(one), **one.local})
    head = struct.pack(
        "<4s5H3I2H",
        b"PK\3\4",
        20,
        said.flags,
        said.method,
        0,
        33,
        said.crc,
        said.packed,
        said.size,
        len(said.name),
        len(said.extra),
    )
    return head + said.name + said.extra + one.data


def archive(
    *members: Any,
    prefix: bytes = b"",
    gap: bytes = b"",
    suffix: bytes = b"",
    comment: bytes = b"",
    **end: int,
) -> bytes:
    """Return a ZIP file of these members; ``end`` changes fields of the end record."""
    body, directory = prefix, b""
    for one in members:
        body += one.before
        offset = len(body) if one.offset is None else one.offset
        if one.offset is None:
            body += _local(one)
        body += one.after
        directory += struct.pack(
            "<4s6H3I5H2I",
            b"PK\1\2",
            0x31E,
            20,
            one.flags,
            one.method,
            0,
            33,
            one.crc,
            one.packed,
            one.size,
            len(one.name),
            len(one.extra),
            len(one.comment),
            0,
            0,
            one.mode << 16,
            offset,
        )
        directory += one.name + one.extra + one.comment
    known = {
        "disk": 0,
        "first": 0,
        "here": len(members),
        "count": len(members),
        "length": len(directory),
        "start": len(body) + len(gap),
        **end,
    }
    record = struct.pack(
        "<4s4H2IH",
        b"PK\5\6",
        known["disk"],
        known["first"],
        known["here"],
        known["count"],
        known["length"],
        known["start"],
        len(comment),
    )
    return body + gap + directory + record + comment + suffix


@pytest.fixture(scope="session")
def zips() -> SimpleNamespace:
    """``member`` and ``archive``, which write any ZIP file, sound or not."""
    return SimpleNamespace(member=member, archive=archive)


@pytest.fixture
def scanned(tmp_path: Path) -> Callable[[bytes], ZipScan]:
    """Write bytes to a file and scan it."""

    def scan(content: bytes) -> ZipScan:
        path = tmp_path / "given.zip"
        path.write_bytes(content)
        file = os.open(path, os.O_RDONLY)
        try:
            return scan_zip(file)
        finally:
            os.close(file)

    return scan
