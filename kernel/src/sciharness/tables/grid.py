"""The cells of a variable of a context.data directory as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sciharness.errors import DataError
from sciharness.tables.records import Dialect
from sciharness.tables.strict import header_line, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]  # Any: of whatever dtype a variable is

CONTEXT_DATA = "context_data"
ROWS_AT_ONCE = 20_000
REPEATED = 4


@frozen
class Grid:
    """Which columns the cells of a target have, and how the cells lie.

    ``axes`` and ``shape`` are those of the target. ``columns`` maps the name of
    each column, in order, to the axes along which it lies; they are among
    those of the target. Rows are in C order. ``block`` is the number of cells
    of one entry of the first axis; 0 where the directory is a plain table.
    """

    target: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    columns: Mapping[str, tuple[str, ...]]
    block: int = 0
    reason: str = ""

    @property
    def rows(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def dialect(self) -> Dialect:
        """How the text of the rows is written."""
        return Dialect(tuple(self.columns), len(header_line(self.columns)), format=CONTEXT_DATA)

    def place_of(self, row: int) -> str:
        """Return the cell of the target that is row ``row``, counted from 1."""
        rest, places = row - 1, list[int]()
        for length in reversed(self.shape):
            rest, place = divmod(rest, length)
            places.insert(0, place)
        return f"cell {self.target}[{', '.join(map(str, places))}]"


class GridStream:
    """The rows of a directory as a stream of strict CSV text.

    Floats are written with the fewest digits that give the same float64, NaN
    and NaT as blank fields, true and false as 1 and 0, times as in ISO 8601.
    """

    def __init__(self, path: Path, name: str, grid: Grid) -> None:
        self._pieces = _pieces(path, name, grid)
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end.

        Raises:
            DataError: the directory is not what it was, or a text has a line break.
        """
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = memoryview(piece)
        taken, self._rest = self._rest[:size], self._rest[size:]
        return bytes(taken)


def _pieces(path: Path, name: str, grid: Grid) -> Iterator[bytes]:
    import numpy as np

    yield header_line(grid.columns)
    cells = {
        column: _Cells(array, grid, column, name)
        for column, array in _load(path, name, grid).items()
    }
    for first in range(0, grid.rows, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, grid.rows))
        places = dict(zip(grid.axes, np.unravel_index(rows, grid.shape), strict=True))
        columns = [cells[column].texts(places, len(rows)) for column in grid.columns]
        yield b"".join(b",".join(row) + b"\n" for row in zip(*columns, strict=True))


class _Cells:
    """The values of one column; where they are repeated often, they are written only once."""

    def __init__(self, array: Array, grid: Grid, column: str, name: str) -> None:
        import numpy as np

        self._array = array
        self._axes = grid.columns[column]
        self._column = column
        self._name = name
        self._written = array.size * REPEATED <= grid.rows
        if self._written:
            texts = np.empty(array.size, object)
            texts[:] = self._text(array.ravel())
            self._array = texts.reshape(array.shape)

    def texts(self, places: Mapping[str, NDArray[np.intp]], rows: int) -> list[bytes]:
        """Return the fields of some rows, whose cells lie at ``places`` of the target's axes."""
        import numpy as np

        values = self._array[tuple(places[axis] for axis in self._axes)]
        if not self._axes:
            values = np.full(rows, values)
        found: list[bytes] = values.tolist() if self._written else self._text(values)
        return found

    def _text(self, values: Array) -> list[bytes]:
        return _texts(values, self._column, self._name)


def _load(path: Path, name: str, grid: Grid) -> dict[str, Array]:
    """Return the arrays of all columns, read from the directory anew."""
    import numpy as np

    from sciharness.contextdata import ContextManifestError, load_context_data

    try:
        found = load_context_data(path, mmap=True)["data"]
        # A map would break under a file that is cut meanwhile, so what is used is read.
        arrays = {
            column: np.load(path / f"{column}.npy", allow_pickle=False)
            if isinstance(found[column], np.memmap)
            else found[column]
            for column in grid.columns
        }
    except (ContextManifestError, OSError, ValueError, EOFError, KeyError) as error:
        raise _changed(name) from error
    lengths = dict(zip(grid.axes, grid.shape, strict=True))
    for column, axes in grid.columns.items():
        if arrays[column].shape != tuple(lengths[axis] for axis in axes):
            raise _changed(name)
    return arrays


def _texts(values: Array, column: str, name: str) -> list[bytes]:
    kind = values.dtype.kind
    if kind == "f":
        return [repr(x).encode() if x == x else b"" for x in values.astype("f8").tolist()]
    if kind in "iu":
        return [b"%d" % value for value in values.tolist()]
    if kind == "b":
        return [b"1" if value else b"0" for value in values.tolist()]
    if kind in "mM":
        return [b"" if text == "NaT" else text.encode() for text in values.astype(str).tolist()]
    return [_text(value, column, name) for value in values.tolist()]


def _text(value: object, column: str, name: str) -> bytes:
    text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    if b"\n" in text or b"\r" in text:
        raise DataError(
            f"a line break in a text of {column!r}",
            where=name,
            hint="Leave the variable out with `ignore`, or write its texts in one line.",
        )
    return quoted(text)


def _changed(name: str) -> DataError:
    return DataError(
        "the directory changed while it was being read",
        where=name,
        hint="Wait until nothing writes to it, then run again.",
    )
