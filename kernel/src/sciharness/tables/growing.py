"""Large arrays without the cost of fresh memory, which is a page fault for every 4 KiB."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_KEPT_BYTES = 31 << 20  # glibc adapts to blocks of less than 32 MiB


def reuse_memory() -> None:
    """Let freed memory of some megabytes be used again instead of going back to the system.

    glibc learns from the largest block that was freed: with it, the many
    arrays of one size that follow cost no page faults. The block itself is
    never touched. Other allocators ignore it.
    """
    import numpy as np

    block = np.empty(_KEPT_BYTES, np.uint8)
    del block


class Growing:
    """Rows appended one piece after another; all pieces have the same type and width.

    They lie in few large arrays, for which numpy asks for huge pages.
    """

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
