"""Labelled tables split and sealed: visible rows, verification rows, final inputs, labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.plugin import Input, Table
from sciharness.tables.columns import LABELLED
from sciharness.tables.examine import MIN_FINAL_ROWS, MIN_ROWS, WITHOUT_SPLIT, Examined, examine
from sciharness.tables.findings import Findings
from sciharness.tables.grid import Grid
from sciharness.tables.layout import facts_of, laid_out
from sciharness.tables.read import spec_of
from sciharness.tables.records import Dialect, Prepared
from sciharness.tables.slices import write_split
from sciharness.tables.source import Source, open_source
from sciharness.tables.split import FINAL, VERIFICATION, VISIBLE


def prepare_labelled(source: Path, spec: ContractInput, holdout: Holdout, out: Path) -> Prepared:
    """Check a labelled table, split its rows and write each side's file into ``out``.

    ``train`` and ``verification`` are byte slices of the source's rows under
    its header; a Parquet source comes as strict CSV, and so do the cells of the
    target of a context.data directory, see :mod:`sciharness.tables.layout`.
    ``final_inputs`` has
    ``sample_id`` and the feature columns, ``labels`` has ``sample_id`` and the
    target, both strict CSV. The rules of the split are those of
    :mod:`sciharness.tables.split`; ``holdout: none`` and generated final data
    leave all rows visible.

    Raises:
        DataError: the table is refused, with all problems; nothing is left in
            ``out``. Also when the source changes meanwhile.
    """
    opened = open_source(source, spec.path)
    findings = Findings(opened.name)
    spec = evolve(spec, role=LABELLED)
    opened, spec, holdout = laid_out(opened, spec, holdout, findings)
    examined = _examined(opened, spec, holdout, findings, MIN_ROWS)
    files = write_split(opened, examined, out)
    return Prepared(
        table=_written(examined),
        target=examined.columns.names[examined.columns.target or 0],
        reason=examined.columns.reason if opened.grid is None else opened.grid.reason,
        split=describe_split(holdout, opened.grid),
        sha256=examined.sha256,
        size=examined.size,
        train=files.train,
        verification=files.verification,
        final_inputs=files.final_inputs,
        labels=files.labels,
        rows_train=examined.count(VISIBLE),
        rows_verification=examined.count(VERIFICATION),
        rows_final=examined.count(FINAL),
        rows_dropped=examined.rows_dropped,
        warnings=examined.warnings(),
        facts=facts_of(opened, examined),
    )


def prepare_final(source: Path, spec: ContractInput, out: Path) -> Prepared:
    """Make all rows of a table final: the data of ``holdout.generated_by``.

    Messages never quote a field, and ``facts`` tell nothing of the target.

    Raises:
        DataError: as for ``prepare_labelled``; fewer than five rows; one class only.
    """
    opened = open_source(source, spec.path)
    findings = Findings(opened.name, secret=True)
    spec = evolve(spec, role=LABELLED)
    examined = _examined(opened, spec, WITHOUT_SPLIT, findings, MIN_FINAL_ROWS)
    files = write_split(opened, _all_final(examined), out)
    return Prepared(
        table=_written(examined),
        target=examined.columns.names[examined.columns.target or 0],
        reason=examined.columns.reason,
        split="generated",
        sha256=examined.sha256,
        size=examined.size,
        final_inputs=files.final_inputs,
        labels=files.labels,
        rows_final=examined.scan.rows,
        rows_dropped=examined.rows_dropped,
        facts={"rows": len(examined.scan.kept), "rows_dropped": examined.rows_dropped},
    )


def split_labels(table_input: Input, out: Path) -> tuple[Path, Path]:
    """Write all rows of a visible table as strict inputs and labels into ``out``.

    Returns the paths of ``final_inputs.csv`` and ``labels.csv``.

    Raises:
        DataError: the file is no labelled table that fits its record.
    """
    source = open_source(table_input.path, table_input.name)
    spec, known = spec_of(table_input)
    examined = _examined(source, spec, WITHOUT_SPLIT, Findings(source.name), 1, known)
    if examined.columns.target is None:
        raise DataError("there is no target column", where=source.name, hint="Name the target.")
    files = write_split(source, _all_final(examined), out)
    assert files.final_inputs is not None
    assert files.labels is not None
    return files.final_inputs, files.labels


def prepare_inputs(source: Path, features: Sequence[str], out: Path, name: str = "") -> Path:
    """Write a table in any dialect as the strict INPUT of a predictor into ``out``.

    ``features`` are the predictor's columns in its order; ``sample_id`` is
    kept where there is one. Returns the path of ``final_inputs.csv``.

    Raises:
        DataError: a column is missing or holds anything but numbers.
    """
    opened = open_source(source, name)
    spec = ContractInput("data", opened.name, role="table", features=tuple(features))
    examined = _examined(opened, spec, WITHOUT_SPLIT, Findings(opened.name), 1)
    files = write_split(opened, _all_final(examined), out)
    assert files.final_inputs is not None
    return files.final_inputs


def describe_split(holdout: Holdout, grid: Grid | None = None) -> str:
    """Return the rule of a split in a few words."""
    if holdout.mode in ("none", "generated"):
        rule = holdout.mode
    elif grid is not None and grid.block and holdout.mode != "group":
        rule = f"the last {holdout.fraction:g} of the entries of axis {grid.axes[0]!r}"
    elif holdout.mode == "order":
        rule = f"the last {holdout.fraction:g} of the rows"
    else:
        groups = f" of the groups of {holdout.group!r}" if holdout.mode == "group" else ""
        rule = f"fraction {holdout.fraction:g}{groups}, seed {holdout.seed}"
    if holdout.verification:
        rule += f", verification {holdout.verification:g}"
    return rule


def _examined(
    source: Source,
    spec: ContractInput,
    holdout: Holdout,
    findings: Findings,
    least: int,
    known: Dialect | None = None,
) -> Examined:
    examined = examine(source, spec, holdout, findings, known=known, least=least)
    findings.raise_any()
    assert examined is not None  # without a table there is at least one finding
    return examined


def _all_final(examined: Examined) -> Examined:
    import numpy as np

    return evolve(examined, sides=np.full_like(examined.sides, FINAL))


def _written(examined: Examined) -> Table:
    """Return how the written files are to be read; a Parquet source became text."""
    return evolve(examined, dialect=evolve(examined.dialect, format="text")).table
