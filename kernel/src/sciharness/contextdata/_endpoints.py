"""The search for endpoints of a relation that are no nodes: one pass, no copies."""

from __future__ import annotations

from io import FileIO

import numpy as np

from sciharness.contextdata._faults import Faults, place
from sciharness.contextdata._folder import Array, fill
from sciharness.contextdata._npy import Header

_CHUNK = 256 * 1024  # bytes that stay in the processor's cache between reading and comparing


def stray_endpoint(array: Array, num_nodes: int | None) -> tuple[int, int] | None:
    """Return place (in storage order) and value of the first endpoint outside ``[0, num_nodes)``.

    ``None`` if all are inside. Without ``num_nodes`` only negative ones are outside.
    """
    flat = array.ravel("K")
    limit = _limit(flat.dtype, num_nodes)
    # Seen as unsigned, negative endpoints are large: one comparison finds both kinds.
    unsigned = flat.view(_unsigned(flat.dtype))
    if limit is None or not flat.size or int(unsigned.max()) < limit:
        return None
    position = int(np.argmax(unsigned >= limit))
    return position, int(flat[position])


def stray_endpoint_in(
    stream: FileIO, header: Header, num_nodes: int | None
) -> tuple[int, int] | None:
    """Do the same for an array in a file; ``stream`` is at the array's first byte.

    Raises:
        NpyFault: the file ends early.
    """
    if _limit(header.dtype, num_nodes) is None:
        return None
    buffer = np.empty(min(_CHUNK, header.nbytes), np.uint8)
    done = 0
    while done < header.nbytes:
        wanted = min(len(buffer), header.nbytes - done)
        fill(stream, buffer[:wanted])
        stray = stray_endpoint(buffer[:wanted].view(header.dtype), num_nodes)
        if stray is not None:
            return stray[0] + done // header.dtype.itemsize, stray[1]
        done += wanted
    return None


def note_stray(
    name: str,
    header: Header,
    stray: tuple[int, int] | None,
    num_nodes: int | None,
    faults: Faults,
) -> None:
    """Note an endpoint that is no node, as one of the two searches gave it."""
    if stray is None:
        return
    position, endpoint = stray
    rows, columns = header.shape
    place_of = divmod(position, columns)
    if header.order == "F":
        column, row = divmod(position, rows)
        place_of = row, column
    expected = f"endpoints in [0, {'num_nodes' if num_nodes is None else num_nodes})"
    found = f"{endpoint} at [{place_of[0]}, {place_of[1]}]"
    faults.file(f"{name}.npy", place("variables", name), expected, found)


def _unsigned(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    return np.dtype(f"{dtype.byteorder}u{dtype.itemsize}")


def _limit(dtype: np.dtype[np.generic], num_nodes: int | None) -> int | None:
    """Return the least unsigned value outside, ``None`` if the dtype cannot hold one."""
    bits = 8 * int(dtype.itemsize)
    if dtype.kind == "i":
        most: int = 2 ** (bits - 1)
        return most if num_nodes is None else min(most, num_nodes)
    return num_nodes if num_nodes is not None and num_nodes < 2**bits else None
