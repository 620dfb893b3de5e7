"""Arrays that grow at their end, in few large pieces of memory.

Numpy asks for huge pages where an array is large. Many arrays of some
megabytes would cost a page fault for every 4 KiB, which is what most of the
time of such a copy goes into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Growing:
    """Rows appended one piece after another; all pieces have the same type and width."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._rows = 0
        self._buffer: NDArray[np.generic] | None = None

    def append(self, piece: NDArray[np.generic]) -> None:
        """Add the rows of ``piece``."""
        import numpy as np

        stop = self._rows + len(piece)
        if self._buffer is None or stop > len(self._buffer):
            capacity = max(self._expected, stop) if self._buffer is None else 2 * stop
            larger = np.empty((capacity, *piece.shape[1:]), piece.dtype)
            if self._buffer is not None:
                larger[: self._rows] = self._buffer[: self._rows]
            self._buffer = larger
        self._buffer[self._rows : stop] = piece
        self._rows = stop

    def array(self) -> NDArray[np.generic]:
        """Return all rows, contiguous and not copied."""
        assert self._buffer is not None
        return self._buffer[: self._rows]
