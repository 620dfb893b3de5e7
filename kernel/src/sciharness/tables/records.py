"""What the table reader hands over: dialects, arrays, checked and prepared tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from sciharness.plugin import Table
from sciharness.problems import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen
class Dialect:
    """How the bytes of a table are written; ``columns`` are all names in file order.

    ``format`` is ``text`` or ``parquet``. ``header`` is the byte length of
    everything before the first data row. Names are in Unicode form NFC with
    each run of white space made one blank.
    """

    columns: tuple[str, ...]
    header: int
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    format: str = "text"

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the dialect as it stands in ``Table.dialect``."""
        return {**asdict(self), "columns": list(self.columns), "header_lines": 1, "quote": '"'}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Dialect:  # Any: JSON values
        """Return the dialect that ``to_dict`` wrote."""
        return cls(
            columns=tuple(values["columns"]),
            header=int(values["header"]),
            delimiter=str(values["delimiter"]),
            decimal=str(values["decimal"]),
            encoding=str(values["encoding"]),
            format=str(values["format"]),
        )


@frozen(eq=False)
class TableArrays:
    """The columns of a table as arrays of equal length n, in the order of the rows.

    ``X`` (n, k) float64 holds the features in the order of ``features``; NaN
    marks a missing value and occurs only in tables without a target. ``y``
    (n,) is float64 for regression and int64 for classification, where it
    counts into ``classes``; ``None`` without a target. ``weights`` and
    ``sigma`` (n,) float64, ``group`` (n,) int64 numbers the groups by first
    occurrence, ``sample_id`` (n,) holds texts. ``units`` maps column names to
    unit texts.
    """

    X: NDArray[np.float64]  # capital as everywhere in the field
    y: NDArray[np.float64] | NDArray[np.int64] | None
    features: tuple[str, ...]
    target: str | None = None
    classes: tuple[str, ...] = ()
    weights: NDArray[np.float64] | None = None
    sigma: NDArray[np.float64] | None = None
    group: NDArray[np.int64] | None = None
    sample_id: NDArray[np.str_] | None = None
    units: Mapping[str, str] = field(factory=dict)


@frozen
class CheckedTable:
    """What a check found: how the table is read, facts about it, and all problems.

    ``table`` is ``None`` when the columns could not be told. Row counts are
    those of the split that ``prepare_labelled`` would make.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
    table: Table | None = None
    rows: int = 0
    rows_train: int = 0
    rows_verification: int = 0
    rows_final: int = 0
    sha256: str = ""
    size: int = 0
    facts: Mapping[str, Any] = field(factory=dict)  # Any: JSON values


@frozen
class Prepared:
    """A labelled table split into files; ``None`` where a part is empty.

    ``train`` and ``verification`` hold byte slices of the source's rows under
    its header; ``final_inputs`` and ``labels`` are strict CSV. ``sha256`` and
    ``size`` are those of the exact source bytes that were split. ``facts``
    (JSON values) describe visible rows and counts, never final labels.
    """

    table: Table
    target: str
    reason: str
    split: str
    sha256: str
    size: int
    train: Path | None = None
    verification: Path | None = None
    final_inputs: Path | None = None
    labels: Path | None = None
    rows_train: int = 0
    rows_verification: int = 0
    rows_final: int = 0
    rows_dropped: int = 0
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(factory=dict)  # Any: JSON values
