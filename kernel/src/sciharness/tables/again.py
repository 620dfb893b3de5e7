"""The rows of a scanned table a second time, and proof that they are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sciharness.tables.blocks import BLOCK_BYTES, changed_while_read, skip_header
from sciharness.tables.scan import Scan
from sciharness.tables.source import Digested, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def rows_again(source: Source, scan: Scan) -> Iterator[tuple[int, int, bytes]]:
    """Yield first row, end row and bytes of one stretch of rows after another.

    Reading again costs less than memory for the whole text. After the last
    stretch everything that was read is compared with the scan's digest.

    Raises:
        DataError: the text is not what was scanned.
    """
    with source.stream() as stream:
        digested = Digested(stream, source.name)
        skip_header(digested, len(scan.header), source.name)
        for first, stop in _batches(scan.starts):
            size = int(scan.starts[stop] - scan.starts[first])
            yield first, stop, _read(digested, size, source.name)
        while digested.read(BLOCK_BYTES):
            pass
    if (digested.sha256, digested.size) != (scan.sha256, scan.size):
        raise changed_while_read(source.name)


def _batches(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about ``BLOCK_BYTES``."""
    import numpy as np

    first, rows = 0, len(starts) - 1
    while first < rows:
        stop = int(np.searchsorted(starts, starts[first] + BLOCK_BYTES, side="right")) - 1
        yield first, max(stop, first + 1)
        first = max(stop, first + 1)


def _read(stream: Digested, size: int, name: str) -> bytes:
    pieces = []
    while size > 0:
        piece = stream.read(size)
        if not piece:
            raise changed_while_read(name)
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
