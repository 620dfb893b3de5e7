"""The ``RECORD`` of a wheel or an installed distribution: a list of files, not a proof."""

from __future__ import annotations

import base64
import binascii
import csv
from collections.abc import Mapping

from sciharness_catalog.errors import IntegrityError


def parse_record(text: bytes, *, where: str) -> Mapping[str, str | None]:
    """Return the SHA-256 (hex) that ``RECORD`` notes for each path, ``None`` where it has none.

    Raises:
        IntegrityError: the text is not UTF-8 CSV, or names a path twice.
    """
    try:
        rows = list(csv.reader(text.decode("utf-8").splitlines(), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise IntegrityError(f"expected UTF-8 CSV, {error}", where=where) from error
    listed: dict[str, str | None] = {}
    for row in rows:
        if not row:
            continue
        path = row[0]
        if path in listed:
            raise IntegrityError(f"{path!r} is named twice", where=where)
        listed[path] = _sha256(row[1]) if len(row) > 1 else None
    return listed


def _sha256(noted: str) -> str | None:
    name, _, value = noted.partition("=")
    if name != "sha256":
        return None
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except (binascii.Error, ValueError):
        return None
