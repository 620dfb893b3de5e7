"""The research loop: propose, attempt, and at the end report and close."""

from __future__ import annotations

from sciharness.contract.steps import PlannedStep
from sciharness.failpoints import reach
from sciharness.roles import Finish
from sciharness.runtime.attempt import attempt
from sciharness.runtime.completion import Ending, close_run
from sciharness.runtime.reasoning import next_proposal
from sciharness.runtime.recipe import next_step
from sciharness.runtime.reporting import kept_actions, write_reports
from sciharness.runtime.session import Session
from sciharness.runtime.stopping import stop_if_asked


def carry_on(session: Session) -> None:
    """Take a run from where its record stands to its terminal event.

    Raises:
        Stopped: the run was asked to stop; the record says so.
        StorageError: the disk failed; what was acknowledged stands.
    """
    ending = _research(session)
    reach("report.due")
    write_reports(session, ending)
    stop_if_asked(session)
    reach("run.ending")
    close_run(session, ending)
    reach("run.ended")


def _research(session: Session) -> Ending:
    while True:
        stop_if_asked(session)
        proposal = _next(session)
        if proposal is None:  # refused, and told so
            continue
        if isinstance(proposal, Ending):
            return proposal
        if isinstance(proposal, Finish):
            return Ending(message=proposal.message)
        ending = attempt(session, proposal, kept_actions=kept_actions(session))
        if ending is not None:
            return ending


def _next(session: Session) -> PlannedStep | Finish | Ending | None:
    if session.reasoner is not None:
        return next_proposal(session, session.reasoner)
    steps = [step for step in session.steps if step.kind != "report"]
    return next_step(steps, session.state)
