"""Raising a budget: one atomic step that lifts limits and, at a limit, goes on."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness.contract.durations import parse_duration
from sciharness.contract.records import BUDGET_KEYS, COUNTED_BUDGET_KEYS
from sciharness.errors import UsageError
from sciharness.problems import Problem
from sciharness.requests.check import nearest
from sciharness.runtime.budget import show_amount
from sciharness.runtime.session import NewEvent
from sciharness.runtime.state import RunState, fold
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

# A run in one of these has a budget that can still matter.
OPEN = frozenset(
    {"created", "running", "paused", "interrupted", "waiting_for_input", "budget_exhausted"}
)

Limits = Mapping[str, float | None]


def read_amount(key: str, text: str, *, place: str) -> float | None:
    """Return an amount as a budget has it; ``None`` for ``unlimited``.

    Raises:
        UsageError: no such key, or no such amount.
    """
    if key not in BUDGET_KEYS:
        raise UsageError(f"{key} is no budget key", where=place, hint=nearest(key, BUDGET_KEYS))
    if text == "unlimited":
        return None
    try:
        if key == "wall_time":
            return parse_duration(text)
        number = int(text) if key in COUNTED_BUDGET_KEYS else float(text)
    except ValueError:
        number = 0
    if not 0 < number < 2**53:
        raise UsageError(f"found {key}={text}", where=place, hint=_EXPECTED[_form(key)])
    return float(number)


def new_limits(state: RunState, added: Limits, put: Limits) -> dict[str, float | None]:
    """Return the limits that ``added`` and ``put`` lead to, each higher than the one of today.

    Raises:
        UsageError: a limit would not become higher, would be used up already,
            or the one that ended the run would stay; all problems at once.
    """
    wanted: dict[str, float | None] = {}
    for key, amount in added.items():
        known = state.budget.limits.get(key)
        wanted[key] = None if amount is None or known is None else known + amount
    wanted.update(put)
    problems = [*_not_raised(state, wanted), *_still_exhausted(state, wanted)]
    if problems:
        raise UsageError("the budget stays as it is", where=state.run_id, problems=problems)
    return wanted


def raised_event(state: RunState, limits: Limits) -> NewEvent:
    """Return the event that puts ``limits`` in the place of those of today."""
    known = state.budget.limits
    changes = {key: {"from": known.get(key), "to": limit} for key, limit in limits.items()}
    return ("BudgetRaised", {"changes": changes})


def raise_budget(home: Home, run_id: str, added: Limits, put: Limits) -> RunState:
    """Raise limits of a run that no limit has ended, and return its state.

    A run that is at work sees them before its next action.

    Raises:
        UsageError: see :func:`new_limits`.
    """
    with home.writing() as tx:
        state = fold(run_id, EventLog(home).read(run_id))
        event = raised_event(state, new_limits(state, added, put))
        written = EventLog(home).append(run_id, [event], tx=tx)
    for item in written:
        state.apply(item.kind, item.body, item.seq, item.time)
    return state


def check_open(home: Home, run_id: str) -> str:
    """Return the status of a run whose budget can still be raised.

    Raises:
        UsageError: it has ended, and not by its budget.
    """
    status = Runs(home).get(run_id).status
    if status not in OPEN:
        raise UsageError(
            f"the run is {status}: no limit ended it",
            where=run_id,
            hint="`harness run CONTRACT --fresh` starts anew.",
        )
    return status


def _not_raised(state: RunState, wanted: Limits) -> list[Problem]:
    problems = []
    for key, limit in wanted.items():
        known, used = state.budget.limits.get(key), state.budget.used.get(key, 0.0)
        if known is None:
            problems.append(_problem(key, "no limit that could be raised", "a key with a limit"))
        elif limit is not None and limit <= known:
            expected = f"more than the limit of today, {show_amount(key, known)}"
            problems.append(_problem(key, show_amount(key, limit), expected))
        elif limit is not None and limit <= used:
            expected = f"more than is used already, {show_amount(key, used)}"
            problems.append(_problem(key, show_amount(key, limit), expected))
    return problems


def _still_exhausted(state: RunState, wanted: Limits) -> list[Problem]:
    if state.status != "budget_exhausted" or state.exhausted in {"", *wanted}:
        return []
    key = state.exhausted
    known = show_amount(key, state.budget.limits.get(key))
    return [_problem(key, f"still {known}", "a higher limit: this one ended the run")]


def _problem(key: str, found: str, expected: str) -> Problem:
    return Problem("usage", "", None, None, f"budget.{key}", found, expected, "")


def _form(key: str) -> str:
    return key if key == "wall_time" else ("count" if key in COUNTED_BUDGET_KEYS else "hours")


_EXPECTED = {
    "wall_time": "Write a duration such as 90s, 10m or 1h30m.",
    "count": "Write a whole number above zero, or unlimited.",
    "hours": "Write a number of hours above zero, or unlimited.",
}
