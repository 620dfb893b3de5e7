"""A table checked as it would be prepared, without writing anything."""

from __future__ import annotations

from pathlib import Path

from sciharness.contract.records import ContractInput, Holdout
from sciharness.errors import DataError
from sciharness.problems import Problem
from sciharness.tables.columns import LABELLED
from sciharness.tables.examine import MIN_ROWS, WITHOUT_SPLIT, examine
from sciharness.tables.findings import Findings
from sciharness.tables.grid import CONTEXT_DATA
from sciharness.tables.layout import facts_of, laid_out, sound_report
from sciharness.tables.records import CheckedTable
from sciharness.tables.source import Source, digest_of, open_source
from sciharness.tables.split import FINAL, VERIFICATION, VISIBLE


def check_table(path: Path, spec: ContractInput, holdout: Holdout | None = None) -> CheckedTable:
    """Return facts about a table and all problems that ``prepare_labelled`` would refuse it for.

    A context.data directory of another role is checked as such. Nothing is
    written and no row is set apart. ``holdout`` is the contract's rule for
    labelled tables; without one no split is tried. Never raises for what is in
    the file.
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
    if source.format == CONTEXT_DATA and not labelled:
        return _checked_directory(source, findings)
    source, spec, holdout = laid_out(source, spec, holdout, findings)
    examined = examine(
        source,
        spec,
        holdout if labelled else WITHOUT_SPLIT,
        findings,
        least=MIN_ROWS if labelled else 1,
    )
    problems = findings.problems()
    if examined is None or problems:
        sha256, size = digest_of(path, source.name)
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
        facts=facts_of(source, examined),
    )


def _checked_directory(source: Source, findings: Findings) -> CheckedTable:
    """Return what a check tells of a context.data directory that is shown as it is."""
    report = sound_report(source.path, findings)
    sha256, size = digest_of(source.path, source.name)
    if report is None:
        return CheckedTable(problems=findings.problems(), sha256=sha256, size=size)
    facts = {"format": source.format, "variables": len(report["variables"])}
    warnings = tuple(report["warnings"])
    return CheckedTable((), warnings, sha256=sha256, size=size, facts=facts)
