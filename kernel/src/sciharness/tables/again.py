"""The rows of a scanned table a second time, and proof that they are the same."""

from __future__ import annotations

from collections.abc import Iterator

from sciharness.tables.blocks import BLOCK_BYTES, changed_while_read, skip_header
from sciharness.tables.scan import Scan
from sciharness.tables.source import Digested, Source


def rows_again(source: Source, scan: Scan) -> Iterator[tuple[int, int, bytes]]:
    """Yield first row, end row and bytes of one stretch of rows after another.

    What the scan kept in memory is not read again. Otherwise the whole text is
    compared with the scan's digest after the last stretch.

    Raises:
        DataError: the text is not what was scanned.
    """
    if scan.kept_text is None:
        yield from _read_again(source, scan)
        return
    first = 0
    for rows, data in scan.kept_text:
        yield first, first + rows, data
        first += rows


def _read_again(source: Source, scan: Scan) -> Iterator[tuple[int, int, bytes]]:
    import numpy as np

    with source.stream() as stream:
        digested = Digested(stream, source.name)
        skip_header(digested, len(scan.header), source.name)
        first, starts = 0, scan.starts
        while first < len(starts) - 1:
            stop = int(np.searchsorted(starts, starts[first] + BLOCK_BYTES, side="right")) - 1
            stop = max(stop, first + 1)
            yield first, stop, _read(digested, int(starts[stop] - starts[first]), source.name)
            first = stop
        while digested.read(BLOCK_BYTES):
            pass
    if (digested.sha256, digested.size) != (scan.sha256, scan.size):
        raise changed_while_read(source.name)


def _read(stream: Digested, size: int, name: str) -> bytes:
    pieces = []
    while size > 0:
        piece = stream.read(size)
        if not piece:
            raise changed_while_read(name)
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
