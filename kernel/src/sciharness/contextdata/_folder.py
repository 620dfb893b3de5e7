"""The open directory: which NPY files it has, their headers, bytes and maps."""

from __future__ import annotations

import os
from io import FileIO
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sciharness.contextdata._maps import Maps
from sciharness.contextdata._npy import MOST, Header, Headers, NpyFault

Array = NDArray[Any]  # Any: the dtypes are those of the files
Wanted = Literal["headers", "copies", "maps"]

# Opening a pipe must not wait for its other end.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_HEADER = 4_096  # bytes that hold nearly every header, and many a small file
_SMALL = 16_384  # bytes of a file that is read at once; more than MOST


class Folder:
    """A context.data directory while it is read. Use as a context manager.

    ``wanted`` says what :meth:`start` gives beside headers: copies of small
    arrays, or maps. ``unread`` are the files that were not started yet.

    Raises:
        OSError: the path cannot be opened as a directory.
        ValueError: the path holds a NUL character.
    """

    def __init__(self, path: str | os.PathLike[str], wanted: Wanted = "headers") -> None:
        self.path = os.path.realpath(path)
        self.descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with os.scandir(self.descriptor) as entries:
                self.unread = {entry.name for entry in entries if entry.is_file()}
        except OSError:
            os.close(self.descriptor)
            raise
        self._first = _SMALL if wanted == "copies" else _HEADER
        self._copies = wanted == "copies"
        self._maps = Maps(len(self.unread)) if wanted == "maps" else None
        self._headers = Headers()
        self._last: Header | None = None

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)

    def start(self, file: str) -> tuple[Header, Array | None]:
        """Return the header of an array file that holds all that it claims.

        The array comes with it if it is wanted and cheap.

        Raises:
            NpyFault: there is no such array.
        """
        try:
            self.unread.remove(file)
        except KeyError:
            self._require_file(file)
        try:
            descriptor = os.open(file, _READ, dir_fd=self.descriptor)
            try:
                first = os.read(descriptor, self._first)
                header = self._last
                # Neighbouring files mostly have the same header.
                if header is None or not first.startswith(header.raw):
                    header = self._last = self._headers.parse(_more(descriptor, first))
                if header.end > len(first):
                    _check_size(header, os.lseek(descriptor, 0, os.SEEK_END))
                elif self._copies:
                    return header, _copied(header, first)
                return header, self._maps.map(descriptor, header) if self._maps else None
            finally:
                os.close(descriptor)
        except OSError as error:
            raise NpyFault("a readable file", str(error.strerror)) from None

    def _require_file(self, file: str) -> None:
        # It was read already, or the file system lists it in another spelling, or it is not there.
        if not os.path.isfile(os.path.join(self.path, file)):
            raise NpyFault("an array file in the directory", "none")

    def read(self, file: str, header: Header) -> Array:
        """Return the array of a file whose ``start`` was read, in memory of its own.

        Raises:
            NpyFault: the file is not the same any more, or cannot be read.
        """
        array: Array = np.empty(header.shape, header.dtype, header.order)
        with self.reopened(file, header) as stream:
            fill(stream, array.ravel("K").view(np.uint8))
        return array

    def reopened(self, file: str, header: Header) -> FileIO:
        """Return the file of :meth:`start` as a stream at the array's first byte.

        Raises:
            NpyFault: it is not the same any more.
        """
        try:
            stream = FileIO(os.open(file, _READ, dir_fd=self.descriptor))
        except OSError as error:
            raise NpyFault("a readable file", str(error.strerror)) from None
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if size < header.end or stream.read(len(header.raw)) != header.raw:
            stream.close()
            raise _changed()
        return stream


def fill(stream: FileIO, target: NDArray[np.uint8]) -> None:
    """Read from ``stream`` until ``target`` is full.

    Raises:
        NpyFault: the file ends early or cannot be read.
    """
    done = 0
    while done < len(target):
        try:
            count = stream.readinto(target[done:].data)
        except OSError as error:
            raise NpyFault("a readable file", str(error.strerror)) from None
        if not count:
            raise _changed()
        done += count


def _changed() -> NpyFault:
    return NpyFault("a file that stays as it is", "one that changed while it was read")


def _more(descriptor: int, first: bytes) -> bytes:
    """Return enough of a file to hold its whole header."""
    return first + os.read(descriptor, MOST) if len(first) == _HEADER else first


def _check_size(header: Header, size: int) -> None:
    if header.end > size:
        claimed = f"{header.end} bytes, as its header claims"
        raise NpyFault(claimed, f"{size} bytes", "The file is truncated.")


def _copied(header: Header, first: bytes) -> Array:
    """Return the array of a file that was read whole, in memory of its own."""
    offset = len(header.raw)
    if header.order == "C" and not offset % 16:  # else the items would not be aligned
        return np.ndarray(header.shape, header.dtype, bytearray(first), offset)
    stored: Array = np.ndarray(header.shape, header.dtype, first, offset, order=header.order)
    return stored.copy("K")
