"""Rows handed from one process to another: a line of JSON, then the arrays as they are."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sciharness_symbolic_regression.samples.rows import Visible
from sciharness_symbolic_regression.samples.sample import Sample

Column = NDArray[Any]  # Any: of float64, or int64 for groups


def hand_over(rows: Visible, stream: BinaryIO) -> None:
    """Write rows for :func:`take_over`."""
    sample = rows.sample
    parts = [*sample.columns.values(), sample.target, sample.weights, rows.group, rows.sigma]
    arrays = [None if part is None else np.ascontiguousarray(part) for part in parts]
    head = {
        "names": rows.names,
        "weighted": rows.weighted,
        "noise": sample.noise,
        "arrays": [None if one is None else [one.dtype.str, len(one)] for one in arrays],
    }
    stream.write(json.dumps(head).encode() + b"\n")
    for one in arrays:
        if one is not None:
            stream.write(one.data)


def take_over(stream: BinaryIO) -> Visible:
    """Return the rows that another process has written.

    Raises:
        EOFError: they are not all there.
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    head = json.loads(line)
    arrays = [None if one is None else _array(stream, *one) for one in head["arrays"]]
    *columns, target, weights, group, sigma = arrays
    assert target is not None and weights is not None
    named = {name: one for name, one in zip(head["names"], columns, strict=True) if one is not None}
    sample = Sample(named, target, weights, head["noise"])
    return Visible(sample, head["names"], group, head["weighted"], sigma)


def _array(stream: BinaryIO, kind: str, rows: int) -> Column:
    found = np.empty(rows, np.dtype(kind))
    block = found.data.cast("B")
    while len(block):
        count = stream.readinto(block)  # type: ignore[attr-defined]  # typeshed leaves it out
        if not count:
            raise EOFError
        block = block[count:]
    return found
