"""Criteria: whether anything in the plan can produce each metric, trusted where required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from sciharness.contract._matching import LABELLED, is_evaluator, is_split
from sciharness.contract.findings import Findings, suggest
from sciharness.contract.leases import Lease
from sciharness.contract.paths import DocumentPath
from sciharness.contract.records import Contract, Criterion
from sciharness.contract.steps import FINAL_EVALUATION, Plan, PlannedStep

TASK_COMPLETION = "task_completion"
ANY_METRIC = "*"


@frozen
class CriteriaCheck:
    """Looks at each criterion with the leases and the plan in view.

    ``known`` says whether all leased capabilities are available: if not, one
    of the missing might produce what the others do not.
    """

    contract: Contract
    leases: Mapping[str, Lease]
    plan: Plan
    findings: Findings
    known: bool

    def run(self) -> None:
        """Note every criterion that nothing in the plan could meet."""
        for index, criterion in enumerate(self.contract.acceptance):
            if criterion.metric != TASK_COMPLETION:
                path = self.findings.spot("acceptance", index, criterion.metric, "metric")
                self._check(criterion, path)

    def _check(self, criterion: Criterion, path: DocumentPath) -> None:
        producers = [name for name, lease in self.leases.items() if _reports(lease, criterion)]
        if not producers:
            self._refuse_unknown(criterion, path)
        elif criterion.trusted:
            self._check_trusted(criterion, producers, path)
        elif self.plan.complete and not self._steps_of(producers):
            found = f"{criterion.metric}, which no step produces"
            hint = f"Add a step that uses {' or '.join(sorted(producers))}."
            self.findings.problem(path, found=found, expected="a step that does", hint=hint)

    def _refuse_unknown(self, criterion: Criterion, path: DocumentPath) -> None:
        if not self.known:
            return
        metrics = {name for lease in self.leases.values() for name in lease.operation.metrics}
        self.findings.problem(
            (*path, "metric"),
            found=criterion.metric,
            expected="a metric that a leased capability reports",
            hint=suggest(criterion.metric, metrics - {ANY_METRIC}, "Reported are"),
        )

    def _check_trusted(
        self, criterion: Criterion, producers: Sequence[str], path: DocumentPath
    ) -> None:
        judges = [name for name in producers if is_evaluator(self.leases[name].operation)]
        granted = [n for n in judges if criterion.metric in self.leases[n].trusted_metrics]
        if granted:
            self._check_final(criterion, granted, path)
        elif judges:
            plugins = sorted({self.leases[name].operation.plugin_id for name in judges})
            found = f"{criterion.metric} of {', '.join(judges)}, not trusted by this installation"
            hint = f"A person may grant it: `harness plugin admit {plugins[0]} --trust-metrics`."
            self._refuse(path, found, hint)
        elif self.known:
            found = f"{criterion.metric} of {', '.join(producers)}, which is no evaluator"
            self._refuse(path, found, "Lease an evaluator, or set trusted: false.")

    def _check_final(self, criterion: Criterion, judges: Sequence[str], path: DocumentPath) -> None:
        if not self._has_labels():
            self._refuse(path, *self._why_no_labels(criterion))
            return
        steps = [step for step in self._steps_of(judges) if step.kind == FINAL_EVALUATION]
        if self.plan.complete and not steps:
            found = f"{criterion.metric}, but no step judges it on the final rows"
            hint = "Bind `data` of the evaluator to the labelled table itself, not to `.train`."
            self._refuse(path, found, hint)

    def _has_labels(self) -> bool:
        split = any(is_split(item, self.contract.holdout) for item in self.contract.inputs)
        return split or self.contract.holdout.generated_by is not None

    def _why_no_labels(self, criterion: Criterion) -> tuple[str, str]:
        if self.contract.holdout.mode == "none":
            found = f"{criterion.metric} with holdout none, which seals no labels"
            return found, "Set a holdout, or trusted: false."
        found = f"{criterion.metric} without an input of role {LABELLED}"
        return found, f"Give the table role {LABELLED}, or set trusted: false."

    def _refuse(self, path: DocumentPath, found: str, hint: str) -> None:
        expected = "a trusted producer: an admitted evaluator on sealed labels"
        self.findings.problem(path, found=found, expected=expected, hint=hint)

    def _steps_of(self, names: Sequence[str]) -> list[PlannedStep]:
        return [step for step in self.plan.steps if step.operation in names]


def _reports(lease: Lease, criterion: Criterion) -> bool:
    metrics = lease.operation.metrics
    return criterion.metric in metrics or ANY_METRIC in metrics
