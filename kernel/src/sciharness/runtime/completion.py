"""The end of a run: completion conditions, the terminal event, the delivery."""

from __future__ import annotations

from attrs import frozen

from sciharness.errors import HarnessError
from sciharness.runtime.budget import Exhausted
from sciharness.runtime.criteria import TASK_COMPLETION, MetricValue, judge
from sciharness.runtime.inputs import predictor_artifacts
from sciharness.runtime.records import to_plain
from sciharness.runtime.redact import redact
from sciharness.runtime.session import NewEvent, Session
from sciharness.runtime.state import RunState


@frozen
class Ending:
    """How the research part of a run ended, before report and terminal event."""

    exhausted: Exhausted | None = None
    fault: HarnessError | None = None
    message: str = ""


def close_run(session: Session, ending: Ending) -> None:
    """Judge for the last time and write the terminal event."""
    state, exhausted, fault = session.state, ending.exhausted, ending.fault
    lacking = missing_conditions(state)
    if not lacking and exhausted is None and fault is None:
        _complete(session)
    verdicts = judge(state.criteria, state.metrics, state.undefined)
    met = all(item.met for item in verdicts)
    status, reason = _status(state, exhausted, fault, lacking, met)
    if status == "failed" and not reason:
        reason = ending.message
    body: dict[str, object] = {"status": status, "reason": redact(reason)}
    body["usage"] = {"wall_time": session.meter.take()}
    events: list[NewEvent] = []
    if exhausted is not None:
        told = {"key": exhausted.key, "used": exhausted.used, "limit": exhausted.limit}
        events.append(("BudgetExhausted", told))
        body["error"] = _error("budget", str(exhausted), _raise_hint(state, exhausted))
    if fault is not None:
        body["error"] = _error(fault.kind, str(fault), fault.hint)
    if verdicts != state.verdicts:
        events.append(("CriteriaJudged", {"verdicts": to_plain(verdicts)}))
    session.record(*events, ("RunFinished", body))


def foreseen_status(
    state: RunState, exhausted: Exhausted | None, fault: HarnessError | None
) -> str:
    """Return the status that the run would end with now, as its report shows it."""
    report = [kind for kind in missing_conditions(state) if "scientific_report" not in kind]
    pending = [item for item in state.criteria if item.metric != TASK_COMPLETION]
    met = all(item.met for item in judge(pending, state.metrics, state.undefined))
    return _status(state, exhausted, fault, report, met)[0]


def missing_conditions(state: RunState) -> list[str]:
    """Return what the workflow still asks for: artifact kinds and the final predictor."""
    kinds = {artifact.type for artifact in state.artifacts if artifact.action >= 0}
    wanted = state.contract.workflow.required_artifacts
    lacking = [f"no {kind} was produced" for kind in wanted if kind not in kinds]
    if state.contract.workflow.final_predictor and not _has_final_predictor(state):
        lacking.append("no evaluated predictor was produced")
    return lacking


def _has_final_predictor(state: RunState) -> bool:
    if state.frozen is None:
        return False
    try:
        predictor_artifacts("", state.artifacts_of(state.frozen["step"]))
    except HarnessError:
        return False
    return any(
        record.index == state.frozen["index"] and record.status == "finished"
        for record in state.actions
    )


def _complete(session: Session) -> None:
    if not any(item.metric == TASK_COMPLETION for item in session.state.criteria):
        return
    metric = MetricValue(TASK_COMPLETION, 1.0, "runtime", "runtime.completion")
    session.record(("TaskCompleted", {"metric": to_plain(metric)}))


def _status(
    state: RunState,
    exhausted: Exhausted | None,
    fault: HarnessError | None,
    lacking: list[str],
    met: bool,
) -> tuple[str, str]:
    if exhausted is not None:
        return "budget_exhausted", str(exhausted)
    if fault is not None:
        return "failed", str(fault)
    if met and not lacking:
        return "succeeded", ""
    failures = [f"{item.step}: {item.message}" for item in state.setbacks]
    unmet = [] if met else ["acceptance criteria are not met"]
    return "failed", "; ".join([*failures, *lacking, *unmet])


def _raise_hint(state: RunState, exhausted: Exhausted) -> str:
    more = "10m" if exhausted.key == "wall_time" else "1"
    return f"`harness budget {state.run_id} --add {exhausted.key}={more}` raises it and goes on."


def _error(kind: str, message: str, hint: str) -> dict[str, str]:
    return {"kind": kind, "where": "", "message": message, "hint": hint}
