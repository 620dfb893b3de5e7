"""The second pass: rows copied byte for byte to their side, final rows made strict CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attrs import frozen

from sciharness.tables.again import rows_again
from sciharness.tables.blocks import Block, block_of_rows, changed_while_read
from sciharness.tables.examine import Examined
from sciharness.tables.source import Source
from sciharness.tables.split import FINAL, VERIFICATION, VISIBLE
from sciharness.tables.strict import StrictWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DROPPED = 255


@frozen
class SplitFiles:
    """The files of a split; ``None`` where there are no rows for one."""

    train: Path | None
    verification: Path | None
    final_inputs: Path | None
    labels: Path | None


def write_split(source: Source, examined: Examined, out: Path) -> SplitFiles:
    """Write the rows of each side to its file in ``out``, which has to exist.

    The source is read a second time and has to be what it was. Nothing stays
    in ``out`` if that fails.

    Raises:
        DataError: the source changed since it was examined.
    """
    suffix = ".tsv" if examined.dialect.delimiter == "\t" else ".csv"
    final = examined.count(FINAL) > 0
    labelled = examined.columns.target is not None
    paths = SplitFiles(
        out / f"train{suffix}" if examined.count(VISIBLE) else None,
        out / f"verification{suffix}" if examined.count(VERIFICATION) else None,
        out / "final_inputs.csv" if final else None,
        out / "labels.csv" if final and labelled else None,
    )
    with ExitStack() as files:
        train = _opened(files, paths.train)
        verification = _opened(files, paths.verification)
        inputs, labels = _opened(files, paths.final_inputs), _opened(files, paths.labels)
        strict = None
        if inputs is not None:
            strict = StrictWriter(examined.dialect, examined.columns, inputs, labels)
        _copy(source, examined, {VISIBLE: train, VERIFICATION: verification}, strict)
    return paths


def _opened(files: ExitStack, path: Path | None) -> BinaryIO | None:
    return None if path is None else files.enter_context(_new_file(path))


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for its owner only; it is removed again if anything fails."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _copy(
    source: Source,
    examined: Examined,
    copies: dict[int, BinaryIO | None],
    strict: StrictWriter | None,
) -> None:
    import numpy as np

    scan = examined.scan
    sides = np.full(len(scan.kept), _DROPPED, np.uint8)
    sides[scan.kept] = examined.sides
    for file in copies.values():
        if file is not None:
            file.write(scan.header)
    for first, stop, data in rows_again(source, scan):
        starts = scan.starts[first : stop + 1] - scan.starts[first]
        pieces = _pieces(data, starts, sides[first:stop])
        for side, file in copies.items():
            if file is not None:
                file.write(pieces[side])
        if strict is not None and pieces[FINAL]:
            strict.take(_block(pieces[FINAL], examined))
    if source.identity(scan.sha256, scan.size)[0] != examined.sha256:
        raise changed_while_read(source.name)


def _pieces(data: bytes, starts: NDArray[np.int64], sides: NDArray[np.uint8]) -> dict[int, bytes]:
    """Return the rows of each side, in the order of the rows."""
    import numpy as np

    turns = np.flatnonzero(np.diff(sides)) + 1
    edges = np.concatenate(([0], turns, [len(sides)]))
    of_stretch = sides[edges[:-1]]
    begins, ends = starts[edges[:-1]], starts[edges[1:]]
    pieces = {}
    for side in (VISIBLE, VERIFICATION, FINAL):
        mine = of_stretch == side
        spans = zip(begins[mine].tolist(), ends[mine].tolist(), strict=True)
        pieces[side] = b"".join([data[begin:end] for begin, end in spans])
    return pieces


def _block(data: bytes, examined: Examined) -> Block:
    return block_of_rows(data if data.endswith(b"\n") else data + b"\n", examined.dialect)
