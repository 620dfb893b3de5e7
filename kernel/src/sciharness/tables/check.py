"""A table checked as it would be prepared, without writing anything."""

from __future__ import annotations

from pathlib import Path

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.problems import Problem
from sciharness.tables.columns import LABELLED
from sciharness.tables.examine import MIN_ROWS, WITHOUT_SPLIT, examine
from sciharness.tables.findings import Findings
from sciharness.tables.records import CheckedTable
from sciharness.tables.source import file_digest, open_source
from sciharness.tables.split import FINAL, VERIFICATION, VISIBLE


def check_table(path: Path, spec: ContractInput, holdout: Holdout | None = None) -> CheckedTable:
    """Return facts about a table and all problems that ``prepare_labelled`` would refuse it for.

    Nothing is written and no row is set apart. ``holdout`` is the contract's
    rule for labelled tables; without one no split is tried. Never raises for
    what is in the file.
    """
    try:
        return _checked(path, spec, holdout or WITHOUT_SPLIT)
    except DataError as error:
        single = Problem("data", error.where, found=error.message, hint=error.hint)
        return CheckedTable(problems=error.problems or (single,))


def _checked(path: Path, spec: ContractInput, holdout: Holdout) -> CheckedTable:
    source = open_source(path, spec.path)
    findings = Findings(source.name)
    labelled = spec.role == LABELLED
    examined = examine(
        source,
        spec,
        holdout if labelled else WITHOUT_SPLIT,
        findings,
        least=MIN_ROWS if labelled else 1,
    )
    problems = findings.problems()
    if examined is None or problems:
        sha256, size = file_digest(path, source.name)
        return CheckedTable(problems=problems, sha256=sha256, size=size)
    return CheckedTable(
        problems=(),
        warnings=examined.warnings(),
        table=examined.table,
        rows=examined.scan.rows,
        rows_train=examined.count(VISIBLE),
        rows_verification=examined.count(VERIFICATION),
        rows_final=examined.count(FINAL),
        sha256=examined.sha256,
        size=examined.size,
        facts=examined.facts(),
    )
