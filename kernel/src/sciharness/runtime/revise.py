"""Revising acceptance criteria: an event of its own, and the evidence judged anew at once."""

from __future__ import annotations

from collections.abc import Sequence

from sciharness.contract.criteria import check_criteria
from sciharness.contract.records import Criterion
from sciharness.contract.steps import plan_steps
from sciharness.errors import HarnessError, UsageError
from sciharness.plugins import Leasable, Plugins
from sciharness.runtime.criteria import judge
from sciharness.runtime.records import to_plain
from sciharness.runtime.session import NewEvent
from sciharness.runtime.state import RunState, fold
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs


def revise_criteria(
    home: Home, run_id: str, criteria: Sequence[Criterion], why: str = ""
) -> RunState:
    """Put other criteria in the place of those of a run that nobody works on.

    The evidence at hand is judged by them in the same step. A run that has
    ended keeps its status.

    Raises:
        UsageError: the run is at work, or nothing would change.
        ContractError: nothing that the contract leases could meet one of them.
    """
    check_revision(home, fold(run_id, EventLog(home).read(run_id)), criteria)
    with home.writing() as tx:
        run = Runs(home).get(run_id, tx)
        if run.is_owned:
            raise UsageError(
                "criteria cannot change while the run is at work",
                where=run_id,
                hint=f"Pause it first: `harness pause {run_id}`.",
            )
        log = EventLog(home)
        state = fold(run_id, log.read(run_id))
        written = log.append(run_id, _events(state, criteria, why), tx=tx)
    for event in written:
        state.apply(event.kind, event.body, event.seq, event.time)
    if run.status == "interrupted":
        state.status = "interrupted"
    return state


def check_revision(home: Home, state: RunState, criteria: Sequence[Criterion]) -> None:
    """Refuse criteria that could not have stood in the contract.

    Raises:
        UsageError: they are those of today.
        ContractError: nothing that the contract leases could meet one of them.
    """
    if tuple(criteria) == state.criteria:
        raise UsageError("these are the criteria of today", where=state.run_id)
    leases = _leases(home, state)
    operations = {name: lease.operation for name, lease in leases.items()}
    types = {name: staged.type for name, staged in state.inputs.items()}
    plan = plan_steps(state.contract, operations, types=types)
    check_criteria(state.contract, criteria, leases, plan)


def _leases(home: Home, state: RunState) -> dict[str, Leasable]:
    """Return what can be leased today; what is missing draws no conclusion."""
    plugins, leases = Plugins(home), {}
    for name in state.contract.capabilities:
        try:
            leases[name] = plugins.lease(name)
        except HarnessError:
            continue
    return leases


def _events(state: RunState, criteria: Sequence[Criterion], why: str) -> list[NewEvent]:
    revised = {
        "acceptance": to_plain(tuple(criteria)),
        "replaced": to_plain(state.criteria),
        "why": why,
    }
    verdicts = judge(criteria, state.metrics, state.undefined)
    return [("CriteriaRevised", revised), ("CriteriaJudged", {"verdicts": to_plain(verdicts)})]
