"""Large tables of terms, filled bit by bit: nothing large is made twice or thrown away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from sciharness_symbolic_regression.laws.terms import (
    Terms,
    Tree,
    blocks,
    chained,
    marks,
    products,
    usable,
)

Array = NDArray[np.float64]

FEW = 512  # terms that are made at a time


@define
class Gathering:
    """A table that takes usable terms, the first of all that agree but for a factor and an offset.

    Its memory is not touched before it is filled, and is not moved while there is ``room``.
    """

    table: Array
    filled: int = 0
    trees: list[Tree] = field(factory=list)
    counts: list[int] = field(factory=list)
    seen: set[complex] = field(factory=set)

    @classmethod
    def of(cls, rows: int, room: int) -> Gathering:
        """Return an empty table for about ``room`` terms."""
        return cls(np.empty((room, rows)))

    def terms(self, most: int | None = None) -> Terms:
        """Return the first terms so far; the table may go on growing."""
        return Terms(self.table[: self.filled][:most], chained(self.trees, self.counts))

    def take(
        self, parts: Iterable[Terms], most: int | None = None, looked: int | None = None
    ) -> Gathering:
        """Take terms of some tables until there are ``most``, or ``looked`` usable ones are seen.

        Tables beyond that are never made.
        """
        for part in _bits(parts):
            if most is not None and self.filled >= most:
                break
            good = usable(part)
            if looked is not None:
                good = good.first(looked)
                looked -= good.count
            self.append(good.take(self._new(good, most)))
            if looked == 0:
                break
        return self

    def append(self, new: Terms) -> None:
        """Take terms as they are."""
        end = self.filled + new.count
        if end > len(self.table):
            larger = np.empty((2 * end, self.table.shape[1]))
            larger[: self.filled] = self.table[: self.filled]
            self.table = larger
        self.table[self.filled : end] = new.values
        self.filled = end
        self.trees.append(new.tree)
        self.counts.append(new.count)

    def _new(self, terms: Terms, most: int | None) -> NDArray[np.intp]:
        """Return the places of terms that agree with none before."""
        found: list[int] = []
        for place, mark in enumerate(marks(terms.values).tolist()):
            if most is not None and self.filled + len(found) >= most:
                break
            if mark not in self.seen:
                self.seen.add(mark)
                found.append(place)
        return np.array(found, dtype=np.intp)


def product_parts(left: Terms, right: Terms, most: int | None = None) -> Iterator[Terms]:
    """Yield every term of one table times every term of another in order, at most ``most``."""
    step = max(1, FEW // max(right.count, 1))
    left_over = left.count * right.count if most is None else most
    for start in range(0, left.count, step):
        if left_over <= 0:
            return
        part = products(left.part(slice(start, start + step)), right).first(left_over)
        left_over -= part.count
        yield part


def _bits(parts: Iterable[Terms]) -> Iterator[Terms]:
    for part in parts:
        for bit in blocks(part.count):
            yield part.part(bit)
