"""The reasoner of a plugin: asked for one action at a time, and its word has no authority."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import evolve

from sciharness.contract.proposals import free_name, plan_proposal
from sciharness.contract.records import Step
from sciharness.contract.steps import PlannedStep, sealed_from_others
from sciharness.plugins import Leasable
from sciharness.roles import Finish, Proposal
from sciharness.runtime.attempt import refuse
from sciharness.runtime.budget import Exhausted
from sciharness.runtime.completion import Ending
from sciharness.runtime.reasoner_view import reasoner_view
from sciharness.runtime.records import to_plain
from sciharness.runtime.redact import redact
from sciharness.runtime.session import NewEvent, Session, trusted_evaluators
from sciharness.runtime.state import RunState
from sciharness.runtime.stopping import pause_for, stop
from sciharness.workers.consulting import proposal_of
from sciharness.workers.pool import ActionFailed, Job

MAX_FAILURES = 3
MAX_REFUSALS = 10
CALL_SECONDS = 900.0

_ODD = re.compile(r"[^a-z0-9_]+")
_MAX_NAME = 60


def next_proposal(session: Session, reasoner: Leasable) -> PlannedStep | Finish | Ending | None:
    """Return the step to attempt, an end, or ``None`` after a proposal that was refused.

    A proposal that was made and not settled comes first, so that a resumed run
    asks nothing twice.

    Raises:
        Stopped: the reasoner failed again and again and the run is paused, or
            it was asked to stop.
    """
    state = session.state
    waiting = _waiting(state)
    if waiting is not None:
        return _planned(session, waiting)
    if state.concluded is not None:
        return Finish(state.concluded)
    if _refused_in_a_row(state) >= MAX_REFUSALS:
        return Ending(message=f"the reasoner proposed {MAX_REFUSALS} refused actions in a row")
    answer = _ask(session, reasoner)
    if isinstance(answer, Proposal):
        return _planned(session, _waiting(session.state) or _step(session, answer))
    return answer


def _waiting(state: RunState) -> Step | None:
    """Return the proposal that is neither settled nor refused, if there is one."""
    last = next(reversed(state.proposals.values()), None)
    return last if last is not None and state.step_record(last.id) is None else None


def _refused_in_a_row(state: RunState) -> int:
    count = 0
    for step_id in reversed(state.proposals):
        record = state.step_record(step_id)
        if record is None or record.status != "refused":
            break
        count += 1
    return count


def _planned(session: Session, step: Step) -> PlannedStep | None:
    bare = PlannedStep(step.id, step.use, params=step.params)
    if step.use not in session.leases:
        return bare  # the gate says why not
    state = session.state
    contract = state.contract
    if session.spend_holdout:  # the ledger counts and records that look
        contract = evolve(contract, holdout=evolve(contract.holdout, max_queries=2**31))
    planned, problems = plan_proposal(
        contract,
        {name: lease.operation for name, lease in session.leases.items()},
        state.carried,
        step,
        {name: staged.type for name, staged in state.inputs.items()},
    )
    if problems:
        refuse(session, bare, step.params, "request", "; ".join(map(str, problems)))
    if planned is None:
        return None
    return sealed_from_others((planned,), trusted_evaluators(session.leases))[0]


def _step(session: Session, proposal: Proposal) -> Step:
    state = session.state
    taken = {*state.inputs, *state.proposals, *(step.id for step in session.steps)}
    word = _ODD.sub("_", proposal.use.rpartition(".")[2])[:_MAX_NAME].strip("_")
    name = free_name(word or "action", taken)
    return Step(name, proposal.use, proposal.inputs, proposal.params)


def _ask(session: Session, reasoner: Leasable) -> Proposal | Finish | Ending:
    fault: ActionFailed | None = None
    for _ in range(MAX_FAILURES):
        exhausted = _lacking(session, reasoner)
        if exhausted is not None:
            return Ending(exhausted=exhausted)
        try:
            said = session.pool.consult(_job(session, reasoner), cancelled=session.cancelled)
            answer = proposal_of(said.answer)
        except ActionFailed as failure:
            fault = failure
            event = _failed(session, failure)
            if failure.reason == "cancelled":
                stop(session, session.wanted_stop() or "interrupt", event)
            session.tell(f"the reasoner failed: {failure}")
            session.record(event)
            continue
        usage = _usage(session, said.usage, said.cpu_seconds)
        session.record(_answered(session, answer, usage))
        return answer
    pause_for(session, "plugin", f"the reasoner failed {MAX_FAILURES} times in a row: {fault}")


def _lacking(session: Session, reasoner: Leasable) -> Exhausted | None:
    need = {"reasoner_calls": 1.0, **dict.fromkeys(reasoner.operation.charges, 1.0)}
    return session.state.budget.lacking(need, session.meter.running())


def _job(session: Session, reasoner: Leasable) -> Job:
    state = session.state
    left = state.budget.remaining("wall_time")
    return Job(
        pin=reasoner.pin,
        operation=reasoner.operation,
        package=reasoner.package(),
        request=state.contract.reasoner.options,
        inputs={},
        workspace=session.folder / "reasoner",
        seed=state.contract.seed,
        workers=session.workers,
        wall_limit=CALL_SECONDS if left is None else min(CALL_SECONDS, left),
        subject=reasoner_view(state, session.leases),
    )


def _answered(session: Session, answer: Proposal | Finish, usage: dict[str, float]) -> NewEvent:
    if isinstance(answer, Finish):
        session.tell(f"the reasoner is done: {answer.message}")
        return ("ReasonerFinished", {"message": redact(answer.message), "usage": usage})
    step = _step(session, answer)
    session.tell(f"proposed: {step.id}: {answer.why}" if answer.why else f"proposed: {step.id}")
    body = {"step": to_plain(step), "why": redact(answer.why), "usage": usage}
    return ("ActionProposed", body)


def _failed(session: Session, failure: ActionFailed) -> NewEvent:
    return (
        "ReasonerFailed",
        {
            "reason": failure.reason,
            "message": redact(failure.message),
            "detail": redact(failure.detail),
            "usage": _usage(session, failure.usage, failure.cpu_seconds),
        },
    )


def _usage(
    session: Session, charged: Mapping[str, float] | None, cpu_seconds: float
) -> dict[str, float]:
    usage = dict(charged or {})
    usage["reasoner_calls"] = usage.get("reasoner_calls", 0.0) + 1.0
    usage["wall_time"] = session.meter.take()
    if cpu_seconds:
        usage["cpu_hours"] = usage.get("cpu_hours", 0.0) + cpu_seconds / 3600.0
    return usage
