"""Approval: a person reads a verification plan and says yes to exactly these bytes."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness.contract.steps import PlannedStep
from sciharness.descriptors import Operation
from sciharness.errors import UsageError
from sciharness.plugin import Input
from sciharness.runtime.records import Approval, ArtifactRef, to_plain
from sciharness.runtime.session import Session
from sciharness.runtime.state import RunState, fold
from sciharness.runtime.stopping import Stopped
from sciharness.store.events import EventLog
from sciharness.store.home import Home
from sciharness.store.runs import Runs

PLAN = "verification_plan"
RESULT = "verification_result"


def require_approval(
    session: Session, step: PlannedStep, operation: Operation, inputs: Mapping[str, Input]
) -> None:
    """Let a verification run only on a plan that a person has approved; else wait.

    Raises:
        Stopped: the run waits for a person; the record says for what.
    """
    if not any(output.type == RESULT for output in operation.outputs):
        return
    waiting = _unapproved(session.state, inputs)
    if not waiting:
        return
    run_id, plan = session.state.run_id, waiting[0]
    hint = (
        f"Read it (`harness show {run_id}`), then `harness approve {run_id} {plan.step}"
        f' --name "Your Name" --words "..."` and `harness resume {run_id}`.'
    )
    body = {
        "reason": f"step {step.id} waits for the approval of {plan.step}.{plan.name}",
        "usage": {"wall_time": session.meter.take()},
        "plan": plan.id,
        "error": {
            "kind": "waiting",
            "where": f"steps.{step.id}",
            "message": f"a person has to approve {plan.step}.{plan.name} ({plan.sha256[:12]})",
            "hint": hint,
        },
    }
    session.record(("RunWaiting", body))
    raise Stopped("wait")


def _unapproved(state: RunState, inputs: Mapping[str, Input]) -> list[ArtifactRef]:
    approved = {item.sha256 for item in state.approvals}
    bound = {name for given in inputs.values() for name in given.meta.get("artifacts", [])}
    plans = [item for item in state.artifacts if item.type == PLAN and item.id in bound]
    return [plan for plan in plans if plan.sha256 not in approved]


def approve(
    home: Home, prefix: str, plan: str, *, name: str, words: str, dry_run: bool = False
) -> Approval:
    """Record that a person approves a plan of a run, named by step or artifact ID.

    The approval is bound to the plan's digest: an edited plan needs a new one.

    Raises:
        UsageError: the run has no such plan, or several fit; the name is empty.
    """
    if not name.strip() or not words.strip():
        raise UsageError(
            "name and words are both needed",
            where="approve",
            hint='Write --name "Your Name" --words "what you have checked".',
        )
    log = EventLog(home)
    run_id = Runs(home).find(prefix).run_id
    with home.writing() as tx:
        state = fold(run_id, log.read(run_id))
        chosen = _plan(state, plan)
        approval = Approval(chosen.id, chosen.sha256, name.strip(), words.strip())
        if not dry_run and all(item.sha256 != chosen.sha256 for item in state.approvals):
            log.append(run_id, [("PlanApproved", {"approval": to_plain(approval)})], tx=tx)
    return approval


def _plan(state: RunState, wanted: str) -> ArtifactRef:
    plans = [item for item in state.artifacts if item.type == PLAN]
    by_step = [item for item in plans if item.step == wanted][-1:]
    fit = by_step or [item for item in plans if len(wanted) >= 6 and item.id.startswith(wanted)]
    if len(fit) == 1:
        return fit[0]
    known = ", ".join(f"{item.step} ({item.id[:12]})" for item in plans) or "none"
    raise UsageError(
        f"{len(fit)} verification plans fit `{wanted}`",
        where=state.run_id,
        hint=f"The run has: {known}.",
    )
