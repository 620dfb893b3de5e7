"""Private maps of array files, as many as a process can bear."""

from __future__ import annotations

import mmap
import resource
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciharness.contextdata._npy import Header

_SMALL = 16_384  # bytes; where there are too many files to map, these are not worth it


class Maps:
    """Maps the arrays of a directory with ``files`` files.

    Before Python 3.13 each map holds a file descriptor, so that at most half
    of those that the process may open are taken.
    """

    def __init__(self, files: int) -> None:
        self._left = _most_maps()
        self._few = files <= self._left

    def map(self, descriptor: int, header: Header) -> NDArray[Any] | None:
        """Return the array in the open file ``descriptor``, or ``None`` if it is to be read.

        The array is a :class:`numpy.memmap` in mode ``c``: it can be written,
        what is written stays in memory. Empty arrays are not mapped.
        """
        if not header.nbytes or not self._left or (header.nbytes < _SMALL and not self._few):
            return None
        # Any: mmap of older versions does not know the option.
        options: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) else {}
        try:
            buffer = mmap.mmap(descriptor, header.end, access=mmap.ACCESS_COPY, **options)
        except OSError:
            return None
        self._left -= 1
        # What numpy.memmap itself does, without its second look at the file.
        array: np.memmap[Any, Any] = np.ndarray.__new__(
            np.memmap, header.shape, header.dtype, buffer, len(header.raw), order=header.order
        )
        array.mode = "c"
        array.offset = len(header.raw)
        return array


def _most_maps() -> int:
    if sys.version_info >= (3, 13):
        return 32_768  # half of what Linux allows by default
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft // 2 if soft != resource.RLIM_INFINITY else 32_768
