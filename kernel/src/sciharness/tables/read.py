"""Tables as arrays, for operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from sciharness.contract.records import ContractInput
from sciharness.errors import DataError
from sciharness.plugin import Input, Table
from sciharness.tables.columns import LABELLED
from sciharness.tables.examine import WITHOUT_SPLIT, Examined, examine
from sciharness.tables.findings import Findings
from sciharness.tables.records import Dialect, TableArrays
from sciharness.tables.source import open_source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_table(table_input: Input) -> TableArrays:
    """Return the columns of an input's table as arrays.

    Reads CSV, TSV and, with pyarrow, Parquet; every field is checked again.
    An input of role ``table`` has no target unless its record names one; its
    features are then all columns of numbers, and a missing value is NaN. Of
    any other input without a record the last column that is not ``sample_id``
    is the target.

    Raises:
        DataError: the file is no table that fits its record; all problems are
            in ``problems``.
    """
    source = open_source(table_input.path, table_input.name)
    findings = Findings(source.name)
    spec, known = spec_of(table_input)
    table = table_input.table
    holdout = evolve(WITHOUT_SPLIT, group=None if table is None else table.group)
    examined = examine(source, spec, holdout, findings, known=known, arrays=True, least=0)
    findings.raise_any()
    if examined is None:
        raise DataError("no table", where=source.name)
    return _arrays(examined, table)


def spec_of(table_input: Input) -> tuple[ContractInput, Dialect | None]:
    """Return the contract's words for an input's table, and its dialect if that is known."""
    table = table_input.table
    if table is None:
        role = "table" if table_input.role == "table" else LABELLED
        return ContractInput(table_input.name, table_input.path.name, role), None
    spec = ContractInput(
        table_input.name,
        table_input.path.name,
        role="table" if table.target is None else LABELLED,
        task=table.task,
        target=table.target,
        features=table.features or None,
        ignore=table.ignore,
        weights=table.weights,
        sigma=table.sigma,
        units=table.units,
        missing=table.missing,
    )
    known = table.dialect.get("format") == "text"
    return spec, Dialect.from_dict(table.dialect) if known else None


def _arrays(examined: Examined, table: Table | None) -> TableArrays:
    import numpy as np

    scan, record = examined.scan, examined.table
    target, classes = _target(examined, table)
    return TableArrays(
        X=_features(examined),
        y=target,
        features=record.features,
        target=record.target,
        classes=classes,
        weights=scan.weights,
        sigma=scan.sigma,
        group=scan.group,
        sample_id=None if scan.sample_id is None else np.array(scan.sample_id, dtype=np.str_),
        units=record.units,
    )


def _features(examined: Examined) -> NDArray[np.float64]:
    import numpy as np

    candidates, chosen = examined.columns.features, examined.scan.features
    if examined.scan.X is None:
        return np.empty((0, len(chosen)))
    if chosen == candidates:
        return examined.scan.X
    places = [candidates.index(column) for column in chosen]
    return np.ascontiguousarray(examined.scan.X[:, places])


def _target(
    examined: Examined, table: Table | None
) -> tuple[NDArray[np.float64] | NDArray[np.int64] | None, tuple[str, ...]]:
    """Return the target; classes of the record come first, others of the file after them."""
    import numpy as np

    found, target = examined.scan.classes, examined.scan.target
    if target is None or not found:
        return target, ()
    known = table.classes if table is not None else ()
    classes = (*known, *(name for name in found if name not in known))
    renumbered = np.array([classes.index(name) for name in found], np.int64)
    return renumbered[target.astype(np.int64)], classes
