"""The answer on top: criteria, and what the run came to."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness_reporting.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Inline,
    Line,
    Meter,
    Paragraph,
    Strong,
    Verdict,
    table,
)
from sciharness_reporting.record import Criterion, Run
from sciharness_reporting.sections.credibility import doubts
from sciharness_reporting.story import Story
from sciharness_reporting.text import count, number

_OPERATORS = {"<=": "≤", ">=": "≥", "==": "="}
_SOURCES = {
    "trusted": "computed from sealed labels by an admitted evaluator",
    "reported": "reported by the program that did the work",
    "runtime": "observed by the harness itself",
}


def verdict(story: Story) -> tuple[Block, ...]:
    """Return verdict, criteria and, where something went wrong, what did."""
    run = story.run
    blocks = [_answer(story), _criteria(run), _cautions(story), _faults(run)]
    return tuple(block for block in blocks if block is not None)


def is_pending(criterion: Criterion) -> bool:
    """Return whether a criterion can only be judged once this report is there."""
    return criterion.metric == "task_completion" and criterion.value is None


def _answer(story: Story) -> Verdict:
    run = story.run
    judged = [one for one in run.criteria if not is_pending(one)]
    unmet = [one for one in judged if not one.met]
    if run.status == "budget_exhausted":
        return Verdict("warn", "The budget ran out", _stopped(run, unmet))
    if run.status == "cancelled":
        return Verdict("warn", "The run was cancelled", _stopped(run, unmet))
    if run.failure and unmet:
        return Verdict("bad", "The run failed", _stopped(run, unmet))
    if not judged and not run.criteria:
        return Verdict("warn", "Nothing was judged", "The run record holds no criterion.")
    if unmet:
        return Verdict("bad", _headline(unmet, run.criteria, "not met"), _why_unmet(unmet))
    return Verdict("good", _headline(judged, judged, "met"), _why_met(story, judged))


def _headline(some: Sequence[Criterion], every: Sequence[Criterion], word: str) -> str:
    if len(every) == 1:
        return f"The criterion is {word}"
    if len(some) == len(every) and word == "met":
        return "All criteria are met"
    return f"{len(some)} of {len(every)} criteria {'is' if len(some) == 1 else 'are'} {word}"


def _stopped(run: Run, unmet: Sequence[Criterion]) -> Line:
    reason = f"{run.failure.rstrip('.')}. " if run.failure else ""
    every, met = len(run.criteria), len(run.criteria) - len(unmet)
    if not met:
        return f"{reason}No criterion was met before the end."
    return f"{reason}{met} of {every} criteria {'was' if met == 1 else 'were'} met before the end."


def _why_unmet(unmet: Sequence[Criterion]) -> Line:
    return _joined([_why_missed(one) for one in unmet])


def _why_missed(one: Criterion) -> tuple[Inline, ...]:
    if one.value is None:
        return (Code(one.metric), f": {one.reason or 'no value was produced'}.")
    return (Code(one.metric), f" is {number(one.value)} (required: {required(one)}).")


def _why_met(story: Story, judged: Sequence[Criterion]) -> Line:
    parts: list[tuple[Inline, ...]] = [
        (Code(one.metric), f" is {number(one.value)} (required: {required(one)}).")
        for one in judged
    ]
    if any(source_of(story.run, one) == "trusted" for one in judged):
        rows = sum(sealed.rows_final for sealed in story.run.sealed)
        sealed_rows = f"{count(rows, 'sealed row')}" if rows else "sealed rows"
        parts.append((f"Judged on {sealed_rows} whose labels nothing in the search could see.",))
    return _joined(parts) if parts else "The one criterion is decided after this report is written."


def _joined(parts: Sequence[tuple[Inline, ...]]) -> Line:
    joined: list[Inline] = []
    for part in parts:
        joined += [" ", *part] if joined else part
    return tuple(joined)


def required(criterion: Criterion) -> str:
    """Return what a criterion asks for, such as ``≤ 0.02``."""
    sign = _OPERATORS.get(criterion.op, criterion.op)
    return f"{sign} {number(criterion.threshold, 6)}"


def source_of(run: Run, criterion: Criterion) -> str:
    """Return the source of the value that a criterion was judged by, or nothing."""
    fit = [
        metric.source
        for metric in run.metrics
        if metric.name == criterion.metric and metric.value == criterion.value
    ]
    return ("trusted" if "trusted" in fit else fit[-1]) if fit else ""


def source_badge(source: str) -> Badge:
    """Return the badge of a metric's source."""
    kind = "trusted" if source == "trusted" else "quiet"
    return Badge(source or "no value", kind, _SOURCES.get(source, ""))


def _cautions(story: Story) -> Block | None:
    found = doubts(story.formulas)
    if not found:
        return None
    return Paragraph((Strong("Before you use the formula:"), " " + " ".join(found)), "warn")


def _criteria(run: Run) -> Block | None:
    return table(
        "Acceptance criteria",
        ("Result", "Metric", "Value", "Required", "Evidence", ""),
        [_row(run, one) for one in run.criteria],
        numeric=("Value", "Required"),
    )


def _row(run: Run, one: Criterion) -> tuple[Line, ...]:
    source = source_of(run, one)
    asked = (" ", Badge("trusted required")) if one.trusted and source != "trusted" else ()
    return (
        _result(one),
        Code(one.metric),
        number(one.value, 5),
        required(one),
        (source_badge(source), *asked),
        _remark(one),
    )


def _result(one: Criterion) -> Line:
    if is_pending(one):
        return Badge("decided later", "warn")
    return Badge("met", "good") if one.met else Badge("not met", "bad")


def _remark(one: Criterion) -> Line:
    if is_pending(one):
        return "judged after this report is written"
    if one.op in {"<=", "<"} and one.met and one.threshold and one.value is not None:
        share = one.value / one.threshold
        if 0 <= share <= 1:
            return (Meter(share, "good"), f" {100 * share:.0f} % of the limit")
    return one.reason if one.value is None else ""


def _faults(run: Run) -> Block | None:
    faulty = [one for one in run.actions if one.status in {"failed", "refused"}]
    lines: list[Line] = [
        ("Step ", Code(one.step), f" {one.status}: {one.message or 'no reason was recorded'}")
        for one in faulty
    ]
    return Bullets(tuple(lines)) if lines else None
