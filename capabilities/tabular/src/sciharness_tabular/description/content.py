"""All columns of a table, whatever their part: numbers as arrays, texts as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from sciharness import Input, Table, read_table
from sciharness.errors import DataError
from sciharness_tabular.description.texts import Texts, layout_of, read_texts
from sciharness_tabular.hashing import column_bits

if TYPE_CHECKING:
    from sciharness.tables import TableArrays

SAMPLE_ID = "sample_id"

Array = NDArray[np.float64]


@frozen(eq=False)
class Content:
    """All columns of a table but ``sample_id``, in the order of the file."""

    names: tuple[str, ...]
    rows: int
    numbers: Mapping[str, Array]
    texts: Mapping[str, Texts]
    units: Mapping[str, str]

    def bits(self, name: str) -> NDArray[np.uint64]:
        """Return a column as numbers that are equal for equal cells."""
        if name in self.numbers:
            return column_bits(self.numbers[name])
        return self.texts[name].codes.view(np.uint64)


def read_content(data: Input) -> Content:
    """Return all columns of a table, whatever their part; missing cells stay.

    Raises:
        DataError: the file is no table.
    """
    known = data.table
    plain = None if known is None else Table(units=known.units, dialect=known.dialect)
    arrays = read_table(evolve(data, role="table", table=plain))
    layout = layout_of(data.path, {} if known is None else known.dialect)
    names = tuple(name for name in layout.columns if name != SAMPLE_ID)
    numbers = {name: arrays.X[:, place] for place, name in enumerate(arrays.features)}
    texts = read_texts(data.path, layout, [name for name in names if name not in numbers])
    rows = _rows(arrays, texts)
    return Content(names, rows, numbers, texts, dict(arrays.units))


def _rows(arrays: TableArrays, texts: Mapping[str, Texts]) -> int:
    """Return the number of rows; every column has to agree."""
    found = {len(column.codes) for column in texts.values()}
    if arrays.features or not found:
        found.add(len(arrays.X))
    if len(found) != 1:
        raise DataError(f"columns of {sorted(found)} rows, expected equal numbers", where="data")
    return found.pop()


def part_of(name: str, table: Table | None) -> str:
    """Return what a column is to the table: target, feature, weights, ... or plainly a column."""
    if table is None or table.target is None:
        return "column"
    parts = {table.target: "target", table.weights: "weights", table.sigma: "sigma"}
    if name in parts:
        return parts[name]
    if name == table.group:
        return "group"
    return "feature" if name in table.features else "ignored"
