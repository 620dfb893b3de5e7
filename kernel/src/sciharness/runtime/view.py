"""The view of a run: what `show`, reports and exports print of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciharness.runtime.criteria import judge
from sciharness.runtime.records import ArtifactRef, to_plain
from sciharness.runtime.state import RunState

View = dict[str, Any]  # Any: JSON values


def run_view(state: RunState, paths: Mapping[str, str] | None = None) -> View:
    """Return the object that `run`, `resume`, `show` and `status` print.

    ``paths`` maps artifact IDs to where their bytes lie.
    """
    verdicts = state.verdicts or judge(state.criteria, state.metrics, state.undefined)
    view: View = {
        "run_id": state.run_id,
        "title": state.contract.title,
        "status": state.status,
        "delivery": state.delivery,
        "criteria": [verdict.to_dict() for verdict in verdicts],
        "metrics": [
            {
                "name": metric.name,
                "value": metric.value,
                "source": metric.source,
                "capability": metric.capability,
            }
            for metric in state.metrics
        ],
        "budget": state.budget.to_dict(),
        "artifacts": [_artifact(item, paths or {}) for item in state.artifacts],
        "sealed_holdout_targets": {
            name: staged.sealed.to_dict()
            for name, staged in state.inputs.items()
            if staged.sealed is not None and staged.sealed.rows_final
        },
        "holdout_queries": [to_plain(look) for look in state.looks],
        "approvals": [to_plain(item) for item in state.approvals],
        "label_isolation": state.isolation,
        "export": state.export,
    }
    if state.revisions:
        view["criteria_revisions"] = to_plain(state.revisions)
        view["conditions"] = _conditions(state, all(verdict.met for verdict in verdicts))
    if state.packages:
        view["packages"] = [dict(package) for package in state.packages]
    if state.documents:
        view["documents"] = [dict(made) for made in state.documents]
    if state.reason:
        view["reason"] = state.reason
    # Why the research failed says more than that a failed run could not be exported either.
    error = state.error or state.delivery_error
    if error is not None:
        view["error"] = error
    return view


def _conditions(state: RunState, met: bool) -> str:
    """Return under which criteria a run has ended, where others hold today and that matters."""
    if not state.revised_after_end:
        return "the criteria were revised; they hold for the whole run"
    if state.status == "succeeded" and not met:
        return "completed under the old conditions"
    if state.status != "succeeded" and met:
        return "ended under the old conditions; the evidence meets the new ones"
    return "the criteria were revised after the end; the outcome would be the same"


def report_view(state: RunState) -> View:
    """Return the run record for reporting operations: the view and what explains it."""
    contract = state.contract
    return {
        **run_view(state),
        "goal": contract.goal,
        "questions": list(contract.questions),
        "contract": to_plain(contract),
        "contract_digest": state.contract_digest,
        "seed": contract.seed,
        "pins": dict(state.pins),
        "parts": dict(state.parts),
        "versions": dict(state.versions),
        "created": state.created,
        "inputs": [_input(staged) for staged in state.inputs.values()],
        "actions": [to_plain(action) for action in (*state.actions, *state.refusals)],
        "frozen": state.frozen,
        "undefined": dict(state.undefined),
    }


def artifact_paths(state: RunState, objects: Path) -> dict[str, str]:
    """Return where the bytes of each artifact lie: in the store's objects."""
    return {item.id: str(objects / item.sha256[:2] / item.sha256) for item in state.artifacts}


def _artifact(item: ArtifactRef, paths: Mapping[str, str]) -> View:
    return {
        "id": item.id,
        "name": item.name,
        "type": item.type,
        "sha256": item.sha256,
        "size": item.size,
        "step": item.step,
        "path": paths.get(item.id, ""),
    }


def _input(staged: Any) -> View:  # Any: a StagedInput
    view = {
        "name": staged.name,
        "role": staged.role,
        "type": staged.type,
        "sha256": staged.sha256,
        "bytes": staged.size,
    }
    if staged.table is not None:
        view["table"] = to_plain(staged.table)
    if staged.sealed is not None:
        view["sealed"] = {**staged.sealed.to_dict(), "facts": dict(staged.sealed.facts)}
    return view
