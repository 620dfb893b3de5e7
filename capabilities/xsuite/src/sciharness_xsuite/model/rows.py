"""The rows that a survival model is trained on."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from sciharness import Input, Table, read_table
from sciharness.errors import DataError
from sciharness_xsuite.datasets.space import UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_OF_A_CLASS = 10
EVEN = "uniform-"


@frozen(eq=False)
class Rows:
    """Labelled rows; ``even`` marks those that are spread evenly over the domain.

    ``features`` (rows, columns), ``survived`` (rows,) true for the second of ``classes``.
    """

    columns: tuple[str, ...]
    units: tuple[str | None, ...]
    target: str
    classes: tuple[str, str]
    features: NDArray[np.float64]
    survived: NDArray[np.bool_]
    even: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.survived)

    @property
    def centre(self) -> NDArray[np.float64]:
        """Middle of each column's range."""
        return np.asarray((self.features.min(axis=0) + self.features.max(axis=0)) / 2.0)

    @property
    def scale(self) -> NDArray[np.float64]:
        """Half of each column's range."""
        return np.asarray((self.features.max(axis=0) - self.features.min(axis=0)) / 2.0)

    def unit(self) -> NDArray[np.float64]:
        """Return the rows with each column running from -1 to 1."""
        return np.asarray((self.features - self.centre) / self.scale)


def read_rows(given: Input) -> Rows:
    """Return the rows of a labelled table with two classes.

    Raises:
        DataError: it has not two classes, too few rows of one, or a constant column.
    """
    table = given if given.table is not None else evolve(given, table=_record(given))
    read = read_table(table)
    if read.y is None or len(read.classes) != 2:
        raise DataError(
            f"expected a target of two classes, found {', '.join(read.classes) or 'none'}",
            where="data",
            hint="Name the target and say task: classification.",
        )
    survived = np.asarray(read.y, dtype=np.int64) == 1
    least = int(min(survived.sum(), (~survived).sum()))
    if least < LEAST_OF_A_CLASS:
        rare = read.classes[int(survived.sum() == least)]
        raise DataError(
            f"expected at least {LEAST_OF_A_CLASS} rows of each class, found {least} of {rare!r}",
            where="data",
            hint="Widen or narrow the domain, or track more particles.",
        )
    for place, name in enumerate(read.features):
        if read.X[:, place].min() == read.X[:, place].max():
            raise DataError("has the same value in all rows", where=f"data: column {name!r}")
    names = [] if read.sample_id is None else read.sample_id.tolist()
    even = np.array([name.startswith(EVEN) for name in names] or [True] * len(survived))
    if not even.any():  # named by someone else
        even[:] = True
    return Rows(
        columns=tuple(read.features),
        units=tuple(read.units.get(name, UNITS.get(name)) for name in read.features),
        target=read.target or "survived",
        classes=(read.classes[0], read.classes[1]),
        features=read.X,
        survived=survived,
        even=even,
    )


def _record(given: Input) -> Table:
    """Return how a data set of this plugin is to be read: the label stands last."""
    with given.path.open(encoding="utf-8", newline="") as stream:
        header = next(csv.reader(stream), [])
    features = tuple(name for name in header[:-1] if name != "sample_id")
    return Table(
        target=header[-1] if header else None,
        features=features,
        task="classification",
        classes=("lost", "survived") if header[-1:] == ["survived"] else (),
        sample_id="sample_id" if "sample_id" in header else None,
    )
