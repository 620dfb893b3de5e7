"""The reserve: a file that is given up on a full disk, so that a last event fits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sciharness.store._files import fresh_file, write_all

RESERVE_BYTES = 1024 * 1024


def make_reserve(reserve: Path, staging: Path) -> None:
    """Write the reserve where it is missing and there is room for it many times over."""
    if reserve.exists():
        return
    with suppress(OSError):
        room = os.statvfs(staging)
        if room.f_bavail * room.f_frsize < 16 * RESERVE_BYTES:
            return
        with fresh_file(staging) as (sink, fresh):
            # Random bytes: a file system that compresses would keep no room for zeros.
            write_all(sink, os.urandom(RESERVE_BYTES))
            os.fsync(sink)
            os.replace(fresh, reserve)


def free_reserve(reserve: Path) -> bool:
    """Give the reserve up and say whether it was there."""
    try:
        reserve.unlink()
    except FileNotFoundError:
        return False
    return True
