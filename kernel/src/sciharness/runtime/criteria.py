"""The CriteriaEngine: the only judge of metrics against acceptance criteria."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from sciharness.contract.records import Criterion

TASK_COMPLETION = "task_completion"

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


@frozen
class MetricValue:
    """A metric with its source: ``trusted``, ``reported`` or ``runtime``."""

    name: str
    value: float
    source: str
    capability: str
    action: int = -1


@frozen
class Verdict:
    """One criterion judged: ``value`` is ``None`` where no admissible value exists."""

    metric: str
    op: str
    threshold: float
    trusted: bool
    value: float | None
    met: bool
    reason: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as it stands in ``--json`` output."""
        return {
            "metric": self.metric,
            "op": self.op,
            "threshold": self.threshold,
            "value": self.value,
            "trusted": self.trusted,
            "met": self.met,
            "reason": self.reason,
        }


def judge(
    criteria: Iterable[Criterion],
    metrics: Sequence[MetricValue],
    undefined: Mapping[str, str] | None = None,
) -> tuple[Verdict, ...]:
    """Judge every criterion by the newest value of an admissible source.

    ``undefined`` maps a metric to the reason why its evaluator could not
    define it; that reason is shown when no value is there. ``==`` is exact; a
    non-finite value satisfies no operator.
    """
    return tuple(_judge_one(item, metrics, undefined or {}) for item in criteria)


def _judge_one(
    criterion: Criterion, metrics: Sequence[MetricValue], undefined: Mapping[str, str]
) -> Verdict:
    named = [metric for metric in metrics if metric.name == criterion.metric]
    fit = [metric for metric in named if _admissible(criterion, metric)]
    value = fit[-1].value if fit else None
    met = (
        value is not None
        and math.isfinite(value)
        and _OPERATORS[criterion.op](value, criterion.value)
    )
    return Verdict(
        metric=criterion.metric,
        op=criterion.op,
        threshold=criterion.value,
        trusted=criterion.trusted,
        value=value if value is not None and math.isfinite(value) else None,
        met=met,
        reason=None if met else _reason(criterion, named, value, undefined),
    )


def _admissible(criterion: Criterion, metric: MetricValue) -> bool:
    if criterion.metric == TASK_COMPLETION:
        return metric.source == "runtime"
    return metric.source == "trusted" or not criterion.trusted


def _reason(
    criterion: Criterion,
    named: Sequence[MetricValue],
    value: float | None,
    undefined: Mapping[str, str],
) -> str:
    if value is not None and not math.isfinite(value):
        return "the value is not finite"
    if value is not None:
        return f"{value:.6g} is not {criterion.op} {criterion.value:.6g}"
    if criterion.metric in undefined:
        return f"undefined: {undefined[criterion.metric]}"
    if named:
        return "only reported values exist; a trusted one is required"
    return "no value was produced"
