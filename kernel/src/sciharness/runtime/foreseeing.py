"""Foreseeing: what the steps of a contract will meet, told before a run exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from sciharness.contract.document import Document
from sciharness.contract.findings import Findings
from sciharness.contract.paths import DocumentPath
from sciharness.contract.preflight import Preflight
from sciharness.contract.records import Contract, ContractInput, Holdout
from sciharness.contract.steps import FINAL_EVALUATION, PlannedStep
from sciharness.descriptors import PREDICTOR_KIND
from sciharness.errors import HarnessError
from sciharness.plugins import Leasable
from sciharness.store.home import Home
from sciharness.store.ledger import Ledger, LedgerKey
from sciharness.tables import CheckedTable, check_table

_TABLE_ROLES = ("labelled_table", "table", "other")


@frozen
class Foresight:
    """Looks at tables as preflight does, and remembers what it saw of each."""

    home: Home
    contract: Contract
    folder: Path
    document: Document | None
    seen: dict[str, CheckedTable]

    @classmethod
    def of(
        cls, home: Home, contract: Contract, folder: Path, document: Document | None
    ) -> Foresight:
        """Return one that has seen nothing yet."""
        return cls(home, contract, folder, document, {})

    def check_table(self, path: Path, spec: ContractInput, holdout: Holdout) -> CheckedTable:
        """Check a table and keep what was found."""
        self.seen[spec.name] = check_table(path, spec, holdout)
        return self.seen[spec.name]

    def completed(self, found: Preflight, leases: Mapping[str, Leasable]) -> Preflight:
        """Return a preflight with what its steps will meet: spent looks, columns of predictors."""
        findings = Findings(self.document)
        for step in found.steps:
            lease = leases.get(step.operation)
            if step.kind == FINAL_EVALUATION:
                self._warn_spent(step, findings)
            if lease is not None and lease.operation.kind == PREDICTOR_KIND:
                self._check_columns(step, lease, findings)
        return evolve(
            found,
            problems=(*found.problems, *findings.sorted_problems()),
            warnings=(*found.warnings, *findings.warnings),
        )

    def _inputs(self, step: PlannedStep) -> Iterator[tuple[ContractInput, DocumentPath]]:
        names = {one.name for one in step.bindings.values() if one.source == "input"}
        for index, item in enumerate(self.contract.inputs):
            if item.name in names:
                place = Findings(self.document).spot("inputs", index, item.name, "name")
                yield item, place

    def _warn_spent(self, step: PlannedStep, findings: Findings) -> None:
        allowed = self.contract.holdout.max_queries
        for item, place in self._inputs(step):
            checked = self.seen.get(item.name)
            if checked is None or checked.table is None or not checked.table.target:
                continue
            key = LedgerKey(checked.sha256, checked.table.target)
            looks = Ledger(self.home).looks(key)
            if len(looks) < allowed:
                continue
            runs = ", ".join(dict.fromkeys(look.run_id for look in looks))
            findings.warn(
                place,
                found=f"the final labels of {key.target} were looked at already"
                f" ({len(looks)} of {allowed} look{'s' if allowed > 1 else ''}, run {runs})",
                hint="The same predictor replays its result; another one will be refused,"
                " unless --spend-holdout grants one more look.",
            )

    def _check_columns(self, step: PlannedStep, lease: Leasable, findings: Findings) -> None:
        card = _card(lease)
        named = f"{lease.pin.plugin_id} {lease.pin.version}"
        for item, place in self._inputs(step):
            if card is None or item.role not in _TABLE_ROLES or item.directory:
                continue
            columns = tuple(column["name"] for column in card["columns"])
            spec = ContractInput(item.name, item.path, role="table", features=columns)
            checked = check_table(self.folder / item.path, spec)
            for problem in checked.problems[:10]:
                findings.problem(
                    (*place, "path"),
                    kind="data",
                    found=problem.found or str(problem),
                    expected=f"the columns of {named}: {', '.join(columns)}",
                    hint=f"See `harness plugin show {lease.pin.plugin_id}`.",
                )
            if checked.table is not None:
                _warn_units(checked.table.units, card["columns"], named, place, findings)


def _card(lease: Leasable) -> dict[str, Any] | None:  # Any: JSON values
    from sciharness.generated.packages import card_of, predictor_files  # few steps are predictors

    try:
        package = lease.package().package
        files = predictor_files(package.files, str(package.entry_point))
        return card_of(files, lease.pin.plugin_id)
    except HarnessError:
        return None  # leasing it has said why


def _warn_units(
    units: Mapping[str, str],
    columns: Sequence[Mapping[str, Any]],  # Any: JSON values
    named: str,
    place: DocumentPath,
    findings: Findings,
) -> None:
    for column in columns:
        given, wanted = units.get(column["name"], ""), column.get("unit") or ""
        if given and wanted and given != wanted:
            findings.warn(
                place,
                found=f"`{column['name']}` is in {given}, {named} was made for {wanted}",
                hint="Values are passed on as they are; convert them first.",
            )
