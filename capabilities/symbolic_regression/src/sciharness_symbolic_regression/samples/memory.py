"""Memory that is free goes back to the system, where the C library knows how."""

from __future__ import annotations

import sys
from typing import Any

LARGE = 1 << 20  # bytes of a block that is worth a call of the system
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # numbers of malloc.h


def give_back_memory() -> None:
    """Hand memory that is free back to the system."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def give_back_at_once() -> None:
    """From now on hand every large block back to the system as soon as it is free.

    Reading a table makes glibc keep blocks of up to 32 MB, and children inherit that.
    """
    tune = _of_glibc("mallopt")
    if tune is not None:
        tune(MMAP_THRESHOLD, LARGE)
        tune(TRIM_THRESHOLD, LARGE)


def _of_glibc(name: str) -> Any:  # Any: a function of the C library, or None
    if sys.platform != "linux":
        return None
    import ctypes  # only where a large table has been read

    return getattr(ctypes.CDLL(None), name, None)
