"""The work: actions and budget."""

from __future__ import annotations

from sciharness_reporting.document import Badge, Block, Code, Line, Meter, Section, section, table
from sciharness_reporting.record import Action, Run, mapping
from sciharness_reporting.story import Story
from sciharness_reporting.text import DASH, duration, label, number, real

_KINDS = {"finished": "good", "failed": "bad", "refused": "warn"}
_TIMES = {"wall_time": 1.0, "cpu_hours": 3600.0, "gpu_hours": 3600.0}


def work(story: Story) -> Section | None:
    """Return what was done and what it used."""
    return section("work", "Work and budget", _actions(story.run), _budget(story.run))


def _actions(run: Run) -> Block | None:
    return table(
        "Actions, in their order",
        ("No.", "Step", "Capability", "Outcome", "Time", "Notes"),
        [_action(place, one) for place, one in enumerate(run.actions, start=1)],
        numeric=("No.", "Time"),
    )


def _action(place: int, one: Action) -> tuple[Line, ...]:
    said = [one.message] if one.message else []
    outcome = Badge(one.status or "unknown", _KINDS.get(one.status, "quiet"))
    time = duration(one.seconds) if one.seconds else DASH
    notes = "\n".join([*said, *one.notes])
    return (str(place), Code(one.step), Code(one.capability), outcome, time, notes)


def _budget(run: Run) -> Block | None:
    rows: list[tuple[Line, ...]] = []
    for key, plain in mapping(run.value("budget")).items():
        one = mapping(plain)
        used, limit = real(one.get("used")) or 0.0, real(one.get("limit"))
        if used or limit is not None:
            rows.append(_budget_row(label(key), used, limit))
    return table("Budget", ("What", "Used", "Limit", ""), rows, numeric=("Used", "Limit"))


def _budget_row(key: str, used: float, limit: float | None) -> tuple[Line, ...]:
    name = label(key).replace("_hours", " time").replace("_", " ")
    if limit is None:
        return (name, _amount(key, used), "not limited", "")
    share = used / limit if limit else 1.0
    meter = Meter(share, "bad" if share >= 1 else "quiet")
    return (name, _amount(key, used), _amount(key, limit), (meter, f" {100 * share:.0f} %"))


def _amount(key: str, amount: float) -> str:
    return duration(amount * _TIMES[key]) if key in _TIMES else number(amount)
